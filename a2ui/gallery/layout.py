"""JSON as lines to read: what fits on one line stands on one, and every line knows the place that it shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from a2ui.data.values import JSON

WIDTH = 84
DEPTH = 60
"""Levels that get lines of their own."""


@dataclass(frozen=True, slots=True)
class Line:
    """`key` is the name of the member, quoted, or "". `whole`: the value ends on this line. `opens`: it begins here.

    A line of a long list of plain values shows several of them: `items`, from `pointer` on.
    """

    pointer: str
    indent: int
    key: str
    text: str
    whole: bool = True
    opens: bool = True
    items: int = 1

    def pointers(self) -> list[str]:
        """The places that it shows."""
        if self.items == 1:
            return [self.pointer]
        above, _, first = self.pointer.rpartition("/")
        return [f"{above}/{at}" for at in range(int(first), int(first) + self.items)]


def lines(value: JSON, *, width: int = WIDTH) -> Iterator[Line]:
    """The lines of a value, first to last."""
    return _lines(value, "", 0, "", "", width)


def written(value: JSON, *, width: int = WIDTH) -> str:
    """The value as text that reads back as the same value."""
    found = lines(value, width=width)
    return "\n".join("  " * line.indent + (f"{line.key}: " if line.key else "") + line.text for line in found)


def token(key: str) -> str:
    """A name as a part of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def _lines(value: JSON, pointer: str, indent: int, key: str, comma: str, width: int) -> Iterator[Line]:
    room = width - 2 * indent - len(key) - 2
    if not isinstance(value, dict | list) or not value or indent >= DEPTH or _fits(value, room):
        yield Line(pointer, indent, key, _compact(value) + comma)
        return
    yield Line(pointer, indent, key, "{" if isinstance(value, dict) else "[", whole=False)
    last = len(value) - 1
    if isinstance(value, dict):
        for at, (name, item) in enumerate(value.items()):
            below = f"{pointer}/{token(name)}"
            yield from _lines(item, below, indent + 1, _compact(name), "," if at < last else "", width)
    elif not any(isinstance(item, dict | list) for item in value):
        yield from _filled(value, pointer, indent + 1, width)
    else:
        for at, item in enumerate(value):
            yield from _lines(item, f"{pointer}/{at}", indent + 1, "", "," if at < last else "", width)
    yield Line(
        pointer, indent, "", ("}" if isinstance(value, dict) else "]") + comma, whole=False, opens=False
    )


def _filled(values: list[Any], pointer: str, indent: int, width: int) -> Iterator[Line]:
    """Plain values, as many on a line as there is room for."""
    texts: list[str] = []
    room = width - 2 * indent
    for at, value in enumerate(values):
        text = _compact(value) + ("," if at < len(values) - 1 else "")
        if texts and sum(map(len, texts)) + len(texts) + len(text) > room:
            yield Line(f"{pointer}/{at - len(texts)}", indent, "", " ".join(texts), items=len(texts))
            texts = []
        texts.append(text)
    yield Line(f"{pointer}/{len(values) - len(texts)}", indent, "", " ".join(texts), items=len(texts))


def _fits(value: JSON, room: int) -> bool:
    """Whether the compact form has at most that many characters; looks at no more than it has to."""
    waiting: list[Any] = [value]
    while waiting and room >= 0:
        item = waiting.pop()
        room -= 2
        if isinstance(item, dict):
            for key, below in item.items():
                room -= len(key) + 4
                waiting.append(below)
                if room < 0:
                    break
        elif isinstance(item, list):
            waiting += item[: max(room, 0)]
            room -= 2 * len(item)
        else:
            room -= len(item) if isinstance(item, str) else len(str(item)) - 2
    return room >= 0


def _compact(value: JSON) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):
        return '"nested too deeply to be shown"'
    if text.isprintable():
        return text
    # What cannot be seen, and what turns around what can, shows as its code: the same JSON, in the open.
    return "".join([char if char.isprintable() else json.dumps(char)[1:-1] for char in text])
