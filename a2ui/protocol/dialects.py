"""Dialects: how each version of the protocol writes what the engine means.

The engine has one form of everything, that of 1.0 (docs/architecture.md, "Versions"). A dialect is a table: which
messages there are, which members they have, and in which notation components and values stand. Messages are read by it
straight into that form; nothing is rewritten on the way. What is said of each version is in sections 1, 3 and 4 of the
reading of 1.0; v0.8 has an adapter (`protocol.adapters`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Notation:
    """How components and dynamic values are written."""

    name: str
    """What snapshots call it."""
    path: str
    """The key of a binding."""
    call: str
    """The key of a function call."""
    marked: bool
    """Whether keys that begin with @ are the standard's: the envelope of components, system functions, `@@x` for a key
    `@x`. Objects that are no binding and no call are data then, read to their depth."""
    loose: bool
    """Whether a binding or a call may have further members where nothing but these can stand."""
    loose_data: bool
    """The same where an object may be data as well: in a context, and in arguments that take any value."""
    tells_bare: bool = False
    """Whether keys without their @ are taken where they cannot be data, and reported."""


PLAIN: Final = Notation("0.9", "path", "call", marked=False, loose=True, loose_data=True)
"""0.9 and 0.9.1: `{"path": P}`, `{"call": F}`, whatever else is in the object."""

BARE: Final = Notation("1.0 bare", "path", "call", marked=True, loose=True, loose_data=False)
"""The candidate of 1.0: keys without @; where data can stand only the exact shape of a binding or call is one (4.2)."""

LATE: Final = Notation("1.0 late", "@path", "@call", marked=True, loose=False, loose_data=False)
"""The late candidate: as 1.0, keys without @ are taken in silence where they cannot be data."""

MARKED: Final = Notation("1.0", "@path", "@call", marked=True, loose=False, loose_data=False, tells_bare=True)
"""1.0: `{"@path": P}` and `{"@call": F}`, closed; every other object is data."""

NOTATIONS: Final[Mapping[str, Notation]] = {one.name: one for one in (PLAIN, BARE, LATE, MARKED)}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One version of the protocol."""

    version: str
    messages: Mapping[str, frozenset[str]]
    """The members of each message's body."""
    notation: Notation | None
    """None where each message shows its own: see `notation_of`."""
    needs_catalog: bool
    """Whether a surface has to name its catalog."""
    null_deletes: bool
    """Whether null deletes what is at a path and a missing value is a fault; else a missing value deletes and null is
    a value."""
    themed: bool
    """Whether surfaces have a theme."""

    def notation_of(self, rows: Iterable[Any]) -> Notation:
        """The notation of the components of one message."""
        return self.notation or (LATE if _has_marks(rows) else BARE)


_DELETE: Final = frozenset({"surfaceId"})
_UPDATE: Final = frozenset({"surfaceId", "components"})
_DATA: Final = frozenset({"surfaceId", "path", "value"})

_MESSAGES_0_9: Final = {
    "createSurface": frozenset({"surfaceId", "catalogId", "theme", "sendDataModel"}),
    "updateComponents": _UPDATE,
    "updateDataModel": _DATA,
    "deleteSurface": _DELETE,
}
# The theme is read where the schema has none, so that it can be dropped with a report (3.1).
_MESSAGES_1_0: Final = {
    "createSurface": frozenset(
        {"surfaceId", "catalogId", "sendDataModel", "components", "dataModel", "metadata", "theme"}
    ),
    "updateComponents": _UPDATE,
    "updateDataModel": _DATA,
    "deleteSurface": _DELETE,
    "callRendererFunction": frozenset({"functionCallId", "callFunction", "surfaceId"}),
    "agentFunctionResponse": frozenset({"functionCallId", "value", "error"}),
}


def _dialect_0_9(version: str) -> Dialect:
    return Dialect(version, _MESSAGES_0_9, PLAIN, needs_catalog=True, null_deletes=False, themed=True)


def _dialect_1_0(version: str, notation: Notation | None) -> Dialect:
    return Dialect(version, _MESSAGES_1_0, notation, needs_catalog=False, null_deletes=True, themed=False)


V0_9: Final = _dialect_0_9("v0.9")
V0_9_1: Final = _dialect_0_9("v0.9.1")
CANDIDATE: Final = _dialect_1_0("v1.0", None)
V1_0: Final = _dialect_1_0("1.0", MARKED)

DIALECTS: Final[Mapping[object, Dialect]] = {one.version: one for one in (V0_9, V0_9_1, CANDIDATE, V1_0)}

V08: Final = "v0.8"
V08_VERBS: Final = ("beginRendering", "surfaceUpdate", "dataModelUpdate")
"""Messages of v0.8, which has no version key; `deleteSurface` is its fourth."""

KNOWN: Final = (V08, *(one.version for one in DIALECTS.values()))
"""All versions that are taken."""


def dialect_of(version: object) -> Dialect | None:
    """The dialect of the value of `version`; None for v0.8, and for what nobody knows."""
    return DIALECTS.get(version) if type(version) is str else None


def speaks_1_0(version: str) -> bool:
    """Whether answers to a surface of this version have the form of 1.0."""
    return version in {V1_0.version, CANDIDATE.version}


_ENVELOPE: Final = frozenset({"@catalogId", "@accessibility", "@metadata", "@checks"})
_DIRECTIVES: Final = frozenset({"@path", "@call"})


def _has_marks(rows: Iterable[Any]) -> bool:
    """Whether a component has an envelope key, or anything in one a directive, that begins with @ (4.2)."""
    waiting: list[Any] = []
    for row in rows:
        if type(row) is dict:
            if not _ENVELOPE.isdisjoint(row):
                return True
            waiting += row.values()
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            if not _DIRECTIVES.isdisjoint(value):
                return True
            waiting += value.values()
        elif type(value) is list:
            waiting += value
    return False
