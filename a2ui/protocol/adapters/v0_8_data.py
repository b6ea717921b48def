"""Data of v0.8 as a data model (rulebook 22): typed entries, and lists where v0.8 has none.

v0.8 writes maps. A map that a template runs over is held as the list of its items, in their order, and each item
that is an object carries the name of its entry as `key`: so later messages find it again by that name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from a2ui.data.pointer import Tokens, parse, to_index
from a2ui.errors import PointerError, must_be
from a2ui.protocol.adapters.port import refusal

_KEY: Final = "key"
_COUNTED: Final = re.compile(r"([A-Za-z_-]*)([0-9]{1,6})")
_BRACKETS: Final = re.compile(r"\[([0-9]{1,6})\]\.?")
_DEEPEST: Final = 100
"""Levels of maps in maps: what a data model may have."""
_SCALARS: Final = ("valueString", "valueNumber", "valueBoolean")


def spelled(path: str) -> str:
    """A path with its brackets as steps: `/rows[0].name` is `/rows/0/name`."""
    return _BRACKETS.sub(r"/\1/", path).removesuffix("/") if "[" in path else path


class Lists:
    """Where the templates of a surface find what they run over."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self.absolute: set[Tokens] = set()
        self._relative: set[Tokens] = set()
        for row in rows:
            children = row.get("children")
            path = children.get("path") if isinstance(children, dict) else None
            if isinstance(path, str):
                try:
                    tokens = parse("" if path == "." else path)
                except PointerError:
                    # Reported where the component is read.
                    continue
                (self.absolute if path.startswith("/") else self._relative).add(tokens)
        # At the top of a surface a relative path starts at the root as well.
        self.absolute |= self._relative
        self._lengths = {len(tokens) for tokens in self._relative}
        self._known: dict[Tokens, bool] = {}

    def at(self, tokens: Tokens) -> bool:
        """Whether a template runs over what is there."""
        if tokens in self.absolute:
            return True
        known = self._known.get(tokens)
        if known is None:
            # In an item of another list.
            known = self._known[tokens] = any(
                tokens[len(tokens) - length :] in self._relative and self.at(tokens[: -length - 1])
                for length in self._lengths
                if length < len(tokens)
            )
        return known

    def held(self, value: Any, tokens: Tokens) -> Any:
        """The value at the tokens as it is held; the same object where nothing has to change."""
        if not self.absolute or len(tokens) > _DEEPEST:
            return value
        if isinstance(value, dict) and self.at(tokens):
            value = [_named(item, key) for key, item in value.items()]
        if isinstance(value, dict):
            inner = {key: self.held(item, (*tokens, key)) for key, item in value.items()}
            return inner if any(inner[key] is not item for key, item in value.items()) else value
        if isinstance(value, list):
            items = [self.held(item, (*tokens, str(index))) for index, item in enumerate(value)]
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        return value


def _named(item: Any, key: str) -> Any:
    return {_KEY: key, **item} if isinstance(item, dict) else item


class Draft:
    """A value that changes, while the value it was made from does not."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._own: dict[int, Any] = {}
        """Containers of the draft itself, by their `id`."""
        self._indices: dict[int, dict[str, int]] = {}

    def put(self, steps: tuple[str | int, ...], new: Any) -> None:
        """Sets what is at the steps; a number stands in brackets and makes a list where there is nothing."""
        self.value = self._put(self.value, steps, new)

    def _put(self, held: Any, steps: tuple[str | int, ...], new: Any) -> Any:
        if not steps:
            return new
        step, rest = steps[0], steps[1:]
        if not isinstance(held, dict | list):
            held = [] if isinstance(step, int) else {}
        held = self._owned(held)
        if isinstance(held, dict):
            held[str(step)] = self._put(held.get(str(step)), rest, new)
            return held
        index = self._index(held, step)
        if index < len(held):
            item = self._put(held[index], rest, new)
        else:
            item = self._put(None, rest, new)
            held.append(None)
        held[index] = item if isinstance(step, int) else _named(item, step)
        return held

    def _owned(self, held: Any) -> Any:
        if id(held) in self._own:
            return held
        own = held.copy()
        self._own[id(own)] = own
        return own

    def _index(self, held: list[Any], step: str | int) -> int:
        """The index of an item, by its number or the name of its entry; of a new one at the end."""
        if isinstance(step, int):
            if step > len(held):
                raise refusal(
                    f"There is no item {step}; the next one has the index {len(held)}.", "/contents"
                )
            return step
        names = self._indices.get(id(held))
        if names is None:
            names = self._indices[id(held)] = _names(held)
        return names.setdefault(step, len(held)) if not _counts(step, held) else int(step)


def _counts(step: str, held: list[Any]) -> bool:
    index = to_index(step)
    return index is not None and index < len(held)


def _names(items: list[Any]) -> dict[str, int]:
    return {
        item[_KEY]: index
        for index, item in enumerate(items)
        if isinstance(item, dict) and isinstance(item.get(_KEY), str)
    }


def located(tokens: Tokens, model: Any) -> Tokens:
    """The tokens with the index of an item where they have the name of its entry."""
    found = []
    for token in tokens:
        name = token
        if isinstance(model, list):
            if not _counts(name, model):
                name = str(_names(model).get(name, len(model)))
            index = int(name)
            model = model[index] if index < len(model) else None
        else:
            model = model.get(name) if isinstance(model, dict) else None
        found.append(name)
    return tuple(found)


def written(contents: Any, held: Any) -> Any:
    """What a data model holds at a path after the entries are set beside what is `held` there. Raises A2uiError."""
    draft = Draft(held if isinstance(held, dict | list) else {})
    for key, value in _entries(contents, "/contents", 0):
        draft.put(() if key in ("", ".") else _steps(key), value)
    return draft.value


def _steps(key: str) -> tuple[str | int, ...]:
    if not _BRACKETS.search(key):
        return (key,)
    steps = [step for step in spelled(key).split("/") if step]
    return tuple([int(step) if step.isdecimal() else step for step in steps])


def _entries(contents: Any, path: str, depth: int) -> list[tuple[str, Any]]:
    if not isinstance(contents, list):
        raise refusal(must_be(path[1:], "a list of entries", contents), path)
    if depth > _DEEPEST:
        raise refusal(f"Maps are nested more than {_DEEPEST} levels deep.", path)
    found = []
    for index, entry in enumerate(contents):
        where = f"{path}/{index}"
        if not isinstance(entry, dict):
            raise refusal(must_be(where[1:], "an object", entry), where)
        if not isinstance(entry.get("key"), str):
            raise refusal(must_be(f"{where[1:]}/key", "text", entry.get("key", ...)), f"{where}/key")
        if isinstance(entry.get("valueMap"), list):
            found.append((entry["key"], _map(entry["valueMap"], f"{where}/valueMap", depth + 1)))
            continue
        name = next((name for name in _SCALARS if name in entry), None)
        if name is None:
            kinds = ", ".join([*_SCALARS, "valueMap"])
            raise refusal(f"`{where[1:]}` must have one of {kinds}; got none.", where)
        found.append((entry["key"], _parsed(entry[name])))
    return found


def _map(contents: Any, path: str, depth: int) -> Any:
    """A list where the map stands for one: agents write maps of `item1`, `item2`, ... or `0`, `1`, .... Keys that count
    up over entries that are maps themselves say so."""
    entries = _entries(contents, path, depth)
    counts = [_COUNTED.fullmatch(key) for key, _ in entries]
    numbers = [int(found[2]) for found in counts if found]
    first = numbers[0] if numbers else 0
    if (
        len(numbers) == len(entries) > 0
        and len({found[1] for found in counts if found}) == 1
        and first in (0, 1)
        and numbers == list(range(first, first + len(numbers)))
        and all(isinstance(value, dict) for _, value in entries)
    ):
        return [value for _, value in entries]
    draft = Draft({})
    for key, value in entries:
        draft.put(_steps(key), value)
    return draft.value


def _parsed(value: Any) -> Any:
    """What a text holds that is JSON of a list or an object; any other value as it is."""
    text = value.strip() if isinstance(value, str) else ""
    if (text[:1], text[-1:]) not in {("[", "]"), ("{", "}")}:
        return value
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return value


def _no_number(name: str) -> None:
    raise ValueError(name)
