"""The versions of A2UI that readers of the live channel may have surfaces in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from a2ui.compose import is_ours
from envelopes.types import JsonObject

Version = Literal["0.9", "0.9.1", "1.0"]


@dataclass(frozen=True, slots=True)
class Words:
    """How a version says what surfaces are made of."""

    name: str
    """The value of ``version`` in its messages."""
    form: Literal["0.9.1", "1.0"]
    """The form of its components and bindings: 0.9 and 0.9.1 share one."""
    together: bool
    """Whether ``createSurface`` brings components and data along."""
    null_deletes: bool
    """Whether null deletes what is at a path; else a missing value does, and null is a value."""


VERSIONS: Final[dict[Version, Words]] = {
    "0.9": Words("v0.9", "0.9.1", together=False, null_deletes=False),
    "0.9.1": Words("v0.9.1", "0.9.1", together=False, null_deletes=False),
    "1.0": Words("1.0", "1.0", together=True, null_deletes=True),
}


def version_for(offered: Iterable[object]) -> Version:
    """The newest version of those that a reader knows, with or without a ``v``; 1.0 where it names none of ours."""
    names = {one.removeprefix("v") for one in offered if isinstance(one, str)}
    for version in ("1.0", "0.9.1", "0.9"):
        if version in names:
            return version
    return "1.0"


class Dialect(NamedTuple):
    """What a reader reads: a version, and whether it knows no catalog but the Basic one (``basic``)."""

    version: Version
    basic: bool = False


def dialect_for(versions: Iterable[object], catalogs: Iterable[object] | None) -> Dialect:
    """Of a reader that knows these versions and catalogs; None where it does not say which catalogs: then surfaces come
    as they are."""
    basic = catalogs is not None and not any(map(is_ours, catalogs))
    return Dialect(version_for(versions), basic)


def as_said_in(messages: Iterable[JsonObject], version: Version) -> list[JsonObject]:
    """Messages that are the same in both, under the name of ``version``."""
    return [{**message, "version": VERSIONS[version].name} for message in messages]
