"""All that a model is told of A2UI, within a budget: what has no room is named, and said to have had none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.registry import Catalog
from a2ui.teaching.catalogs import described, extends_basic
from a2ui.teaching.rules import EXAMPLES, RULES

MOST_BYTES: Final = 12_000
"""Bytes of UTF-8 of the whole text."""


class Taught(NamedTuple):
    """`left_out` are the components, and groups of functions, for which there was no room: `catalog id: name`."""

    text: str
    left_out: list[str]


def taught(catalogs: Sequence[Catalog], *, most: int = MOST_BYTES) -> Taught:
    """What a model is told of A2UI 1.0 and of these catalogs, the first ones first: those that matter most to it. The
    Basic Catalog is told of once, behind those that extend it.

    Rules and examples always stand there. Of what exceeds `most` bytes of UTF-8 the names are told, as many as fit.
    """
    listed = [*dict.fromkeys(catalogs)]
    if any(map(extends_basic, listed)) and BASIC_CATALOG_1_0 not in listed:
        listed.append(BASIC_CATALOG_1_0)
    examples = "\n".join(f"Example, {what}:\n{_written(messages)}" for what, messages in EXAMPLES)
    budget = _Budget(most - _size(RULES) - _size(examples) - _NOTICE_BYTES * len(listed))
    lines = [line for catalog in listed for line in budget.lines(catalog)]
    return Taught("\n".join([RULES.rstrip(), *lines, examples]), budget.left_out)


class _Budget:
    """`left`: bytes, beside those that are kept for a notice on each catalog."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.left_out: list[str] = []

    def lines(self, catalog: Catalog) -> list[str]:
        """As many lines of a catalog as there is room for, in their order."""
        found = described(catalog)
        if not self._takes(found.head):
            self.left_out.append(catalog.id)
            return [_notice([catalog.id])]
        said, missing = [found.head], []
        for name, line in found.components.items():
            if self._takes(line := f"- {line}"):
                said.append(line)
            else:
                missing.append(name)
        for line in found.functions:
            if self._takes(line):
                said.append(line)
            else:
                missing.append(line.partition(":")[0].lower())
        if missing:
            self.left_out += [f"{catalog.id}: {name}" for name in missing]
            said.append(_notice(missing))
        return said

    def _takes(self, line: str) -> bool:
        size = _size(line) + 1
        if size > self.left:
            return False
        self.left -= size
        return True


_NOTICE_BYTES: Final = 400
_NOTICE: Final = "There is no room to describe all of it. Left out: {}."


def _notice(missing: Sequence[str]) -> str:
    names = ", ".join(missing)
    room = _NOTICE_BYTES - _size(_NOTICE) - 20
    if _size(names) > room:
        names = f"{names.encode()[:room].decode(errors='ignore').rpartition(',')[0] or '...'} and others"
    return _NOTICE.format(names)


def _written(messages: list[dict[str, Any]]) -> str:
    return json.dumps({"messages": messages}, ensure_ascii=False, separators=(",", ":"))


def _size(text: str) -> int:
    return len(text.encode())
