"""Targets of links by label, and which blocks of a text that is being written still wait for one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from markdown_it.common.utils import normalizeReference

_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){1,999})\]", re.DOTALL)


class Targets:
    """`known`: normalised label -> target, as the parser takes them."""

    __slots__ = ("_wanting", "known")

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}
        self._wanting: dict[str, set[int]] = {}

    def want(self, text: str, at: int) -> None:
        """Block number `at` has this text, in which links may be without their targets."""
        for label in _LABEL.findall(text) if "[" in text else ():
            name = normalizeReference(label)
            if name not in self.known:
                self._wanting.setdefault(name, set()).add(at)

    def learn(self, found: Mapping[str, Any], stands: int) -> list[int]:
        """Keep those that stand above line `stands`, so that nothing can take them back any more. Returns the numbers
        of the blocks that waited for one, in order."""
        sure = {label: target for label, target in found.items() if target["map"][1] <= stands}
        self.known.update(sure)
        return sorted({at for label in sure for at in self._wanting.pop(label, ())})
