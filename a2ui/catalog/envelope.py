"""The envelope of a component of 1.0: what may stand beside the properties of its type (sections 1 and 5).

Its keys begin with @. Older drafts, and texts that official SDKs have stored, have them without; then they count as
long as the component's own schema declares no property of that name.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from a2ui.catalog import kinds
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.component_type import ComponentType
from a2ui.data.pointer import ABSENT
from a2ui.errors import BUDGET_EXCEEDED, VALIDATION_FAILED, Diagnostic
from a2ui.safety.limits import Limits
from a2ui.schema import shapes
from a2ui.schema.shapes import Check, Shape, below

NAMES: Final = frozenset({"catalogId", "accessibility", "metadata", "checks"})
"""The keys without their @."""

SURFACE: Final = "Surface"
"""The type of the surface itself, which no message may use: the parent of `root`."""


def catalog_of(row: Mapping[str, Any]) -> Any:
    """The id of the catalog that a component names, "" for none."""
    return row.get("@catalogId", row.get("catalogId", ""))


def property_of(key: str, row: Mapping[str, Any], kind: ComponentType) -> str | None:
    """Where a member of a row belongs: the name of a property, an envelope key, or None for what is not known."""
    name = key.removeprefix("@")
    if key != name:
        return key if name in NAMES and (name != "checks" or _is_checkable(kind)) else None
    if name not in NAMES or _declares(kind, name):
        return key if key in kind.kinds else None
    if f"@{name}" in row or (name == "checks" and not _is_checkable(kind)):
        return None
    return f"@{name}"


def _declares(kind: ComponentType, name: str) -> bool:
    """Whether the component has a property of this name that is its own."""
    how = kind.kinds.get(name)
    return how is not None and how is not kinds.checks and how is not kinds.accessibility


def _is_checkable(kind: ComponentType) -> bool:
    return kind.kinds.get("checks") is kinds.checks


def catalog_id(raw: Any, where: AcceptContext) -> Any:
    """Which catalog it is has been found out before; here only whether it is an id."""
    return raw if isinstance(raw, str) else where.wrong("the id of a catalog", raw)


def metadata(raw: Any, where: AcceptContext) -> Any:
    """Carried as it is; what is wrong with it is reported (12.9), and too much of it refused."""
    for problem in metadata_problems(raw, where.limits):
        if problem.code == BUDGET_EXCEEDED:
            where.refuse(problem.message, code=BUDGET_EXCEEDED, **problem.facts)
        else:
            where.add(problem.message, sub=problem.path)
    return raw if isinstance(raw, dict) else ABSENT


def metadata_problems(raw: Any, limits: Limits) -> list[Diagnostic]:
    """What is wrong with the metadata of a surface or component, with paths inside of it. The keys of extensions are
    identifiers (2); whose they are is none of the renderer's business, so no other is refused."""
    allowed = limits.metadata_size
    size, waiting = 0, [raw]
    while waiting and size <= allowed:
        value = waiting.pop()
        size += 1
        if type(value) is str:
            size += len(value)
        elif type(value) is list:
            waiting += value
        elif type(value) is dict:
            waiting += value.values()
            waiting += value
    if size > allowed:
        message = f"The metadata is too large: at most {allowed} values and characters. Send less."
        facts = {"limit": "metadata_size", "allowed": allowed}
        return [Diagnostic(BUDGET_EXCEEDED, message, refused=True, facts=facts)]
    check = Check(lambda name, catalog_id: None)
    metadata_shape(raw, "", check)
    return [Diagnostic(VALIDATION_FAILED, message, path) for path, message in check.problems]


kinds.USUAL[catalog_id] = kinds.ANY_TEXT

KINDS: Final[Mapping[str, kinds.Kind]] = {"@catalogId": catalog_id, "@metadata": metadata}
"""How the keys are read that are no property of a type."""


def is_identifier(text: str) -> bool:
    """Whether a name is an identifier as UAX #31 has it (section 2)."""
    return unicodedata.normalize("NFC", text).isidentifier()


def _extensions(value: Any, path: str, check: Check) -> None:
    if type(value) is not dict:
        check.wrong(path, "an object", value)
        return
    for key in value:
        if not is_identifier(key):
            check.bad(below(path, key), f"{key[:40]!r} is not an identifier.")


metadata_shape: Final = shapes.record({}, {"extensions": _extensions})
"""`{extensions}`, whose keys are identifiers."""


def shape_of(
    key: str, row: Mapping[str, Any], kind: ComponentType, known: Mapping[str, Shape]
) -> Shape | None:
    """What the schemas ask of a member of a row; None for what they do not know."""
    found = property_of(key, row, kind)
    if found is None:
        return None
    if found == "@catalogId":
        return shapes.string
    return metadata_shape if found == "@metadata" else known.get(found.removeprefix("@"))
