"""The smallest ``updateDataModel`` messages that make one data model another (D31).

Messages set and remove members, replace list items in place and append them; what they cannot do, removing and moving
items, is said by replacing what holds them. For each place that changed, writing below it and replacing it are weighed
by the bytes of their messages. Models share what did not change, so the cost is that of the changed places.
"""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Final, NamedTuple

import orjson

from envelopes.transports.live.surfaces.versions import VERSIONS, Version, as_said_in
from envelopes.types import Json, JsonObject

_ABSENT: Final = object()

MOST_WRITES: Final = 200
"""Messages for one change; where it would take more, what holds them is replaced."""


class _Plan(NamedTuple):
    """Writes by path, the value or its absence, and their size in bytes as messages."""

    writes: list[tuple[str, Json]]
    size: int


def writes(surface_id: str, before: Json, after: Json, version: Version) -> list[JsonObject]:
    """Messages of ``version`` after which a reader that has ``before`` has ``after``; none where they are equal.

    1.0 cannot say that a whole model is null: its reader gets an empty one.
    """
    return _Writer(surface_id, version).messages(before, after)


class Written(NamedTuple):
    """The messages of 1.0, and those of the versions before it, where they are others: something goes, or becomes
    null."""

    newer: list[JsonObject]
    older: list[JsonObject]


def written(surface_id: str, before: Json, after: Json) -> Written:
    """What ``writes`` gives, for all versions."""
    writer = _Writer(surface_id, "1.0")
    newer = writer.messages(before, after)
    return Written(newer, writes(surface_id, before, after, "0.9.1") if writer.met_null else newer)


def said_in(found: Written, version: Version) -> list[JsonObject]:
    """As ``writes`` says it in ``version``."""
    return as_said_in(found.newer if version == "1.0" else found.older, version)


class _Writer:
    def __init__(self, surface_id: str, version: Version) -> None:
        self.met_null = False
        """Whether something has gone or become null: versions say that in different ways."""
        self._surface_id = surface_id
        self._words = VERSIONS[version]
        self._frame = len(orjson.dumps(self._message("", 0))) - 1
        self._removing = len(orjson.dumps(self._message("", _ABSENT)))

    def messages(self, before: Json, after: Json) -> list[JsonObject]:
        plan = self._plan("", before, after)
        if plan is None:
            # Nothing but null at the top gets here.
            return [self._message("/", {})]
        return [self._message(path or "/", value) for path, value in plan.writes]

    def _message(self, path: str, value: Json) -> JsonObject:
        body: JsonObject = {"surfaceId": self._surface_id, "path": path}
        if value is _ABSENT:
            if self._words.null_deletes:
                body["value"] = None
        else:
            body["value"] = value
        return {"version": self._words.name, "updateDataModel": body}

    def _plan(self, path: str, before: Json, after: Json, *, in_list: bool = False) -> _Plan | None:
        """The smallest writes; None where nothing at this path or below can say it."""
        if before is after or (not _is_container(after) and _same(before, after)):
            return _Plan([], 0)
        if after is None:
            self.met_null = True
        inner = self._inner(path, before, after)
        if inner is not None and not inner.writes:
            return inner
        if after is None and self._words.null_deletes and not in_list:
            return None
        if inner is not None and len(inner.writes) <= MOST_WRITES:
            # Only as much of the value is looked at as the writes are long.
            room = inner.size - self._frame - _length(path)
            whole = _size(after, room)
            if whole >= room:
                return inner
            return _Plan([(path, after)], self._frame + _length(path) + whole)
        return _Plan([(path, after)], self._frame + _length(path) + _size(after))

    def _inner(self, path: str, before: Json, after: Json) -> _Plan | None:
        """By writes below this path; None where that cannot be."""
        if isinstance(before, dict) and isinstance(after, dict):
            return self._members(path, before, after)
        if isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
            return self._items(path, before, after)
        return None

    def _members(self, path: str, before: JsonObject, after: JsonObject) -> _Plan | None:
        made: list[tuple[str, Json]] = []
        size = 0
        for name in (*after, *(name for name in before if name not in after)):
            old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
            if old is new:
                continue
            where = f"{path}/{_escaped(name)}"
            if new is _ABSENT:
                self.met_null = True
                plan: _Plan | None = _Plan([(where, _ABSENT)], self._removing + _length(where))
            else:
                plan = self._plan(where, old, new)
            # An empty name is no segment of a path.
            if plan is None or (plan.writes and not name):
                return None
            made += plan.writes
            size += plan.size
        return _Plan(made, size)

    def _items(self, path: str, before: list[Json], after: list[Json]) -> _Plan | None:
        made: list[tuple[str, Json]] = []
        size = 0
        for index, (old, new) in enumerate(zip_longest(before, after, fillvalue=_ABSENT)):
            if old is new:
                continue
            # Null takes the place of an item in 1.0 too, but appends nothing.
            plan = self._plan(f"{path}/{index}", old, new, in_list=old is not _ABSENT)
            if plan is None or len(made) > MOST_WRITES:
                return None
            made += plan.writes
            size += plan.size
        return _Plan(made, size)


def _length(path: str) -> int:
    """Bytes of a path within a message."""
    return len(orjson.dumps(path or "/")) - 2


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _is_container(value: Json) -> bool:
    return isinstance(value, dict | list)


def _same(one: Json, other: Json) -> bool:
    """Of scalars: true is not 1."""
    return (
        type(one) is not dict
        and type(one) is not list
        and (one is other or (one == other and isinstance(one, bool) == isinstance(other, bool)))
    )


def _size(value: Json, upto: float = math.inf) -> int:
    """Bytes of a value as JSON, or some number from ``upto`` up where there are more."""
    size, waiting = 0, [value]
    while waiting and size < upto:
        one = waiting.pop()
        if isinstance(one, dict):
            # Each member takes four bytes at the least: most of what is asked about is far beyond.
            if size + 4 * len(one) >= upto:
                return size + 4 * len(one)
            size += 1 + max(1, len(one)) + sum(len(orjson.dumps(name)) + 1 for name in one)
            waiting += one.values()
        elif isinstance(one, list):
            size += 1 + max(1, len(one))
            waiting += one
        elif isinstance(one, int) and not isinstance(one, bool):
            # Of any length, which orjson does not take.
            size += len(str(one))
        else:
            size += len(orjson.dumps(one))
    return size
