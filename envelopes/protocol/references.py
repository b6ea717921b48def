"""``{"fromCall": ID, "path": "/flights"}`` in the data of a part: what a tool gave, so that no model retypes it.

``ID`` is the id of a call of this turn, or the name of a tool: then its last call that has a result is meant. ``path``
is a JSON Pointer (RFC 6901) into the result; without one it is all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from envelopes.errors import RespondRefused
from envelopes.protocol.pointers import Nothing, at, tokens
from envelopes.protocol.strict_json import pointer
from envelopes.protocol.text import clean_text
from envelopes.types import Json, JsonObject

FROM_CALL: Final = "fromCall"
MOST: Final = 64
"""References in one call."""
_LISTED: Final = 20


@dataclass
class Results:
    """What the calls of a turn gave, by id and by the name of the tool. ``open``: ids and names of those that have no
    result, with how far they are."""

    given: dict[str, Json] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    open: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, result: Json, call_id: str = "") -> None:
        """A call that has ended well, later than those before."""
        for key in filter(None, (call_id, name)):
            self.given[key] = result
            self.open.pop(key, None)
        self.names[name] = None

    def miss(self, name: str, call_id: str, state: str) -> None:
        """A call without a result. Its tool may have given one before."""
        self.open[call_id] = state
        if name not in self.given:
            self.open[name] = state


def resolved(call: Json, results: Callable[[], Results], *, limit: int) -> Json:
    """The input of a respond() call with what its references lead to in their places. The input stays as it is; without
    references it is what is returned, and ``results`` is not asked.

    Raises ``RespondRefused`` with ``path``, the JSON Pointer of the reference, and ``reason``: ``unknown_call``,
    ``no_result``, ``unknown_path``, ``not_a_reference``, ``too_many`` (``MOST``), ``too_large`` (``limit``: bytes of
    JSON that all of them bring); where there is a list to choose from, ``allowed``.
    """
    parts = call.get("parts") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(parts, list):
        return call
    resolving = _Resolving(results, limit)
    made = [
        {**part, "data": resolving.value(part["data"], ("parts", number, "data"))}
        if isinstance(part, dict) and isinstance(part.get("data"), dict)
        else part
        for number, part in enumerate(parts)
    ]
    return {**call, "parts": made} if resolving.count else call


class _Resolving:
    def __init__(self, results: Callable[[], Results], limit: int) -> None:
        self.count = 0
        self._size = 0
        self._limit = limit
        self._ask = results
        self._results: Results | None = None

    def value(self, value: Json, path: tuple[str | int, ...]) -> Json:
        if isinstance(value, list):
            return [self.value(item, (*path, number)) for number, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get(FROM_CALL), str):
            return self._resolved(value, path)
        return {key: self.value(item, (*path, key)) for key, item in value.items()}

    def _resolved(self, reference: JsonObject, path: tuple[str | int, ...]) -> Json:
        name, steps = reference[FROM_CALL], reference.get("path", "")
        if reference.keys() - {FROM_CALL, "path"} or not isinstance(steps, str):
            text = f"A reference has {FROM_CALL} and perhaps path, which are texts, and nothing else."
            raise _refused(text, path, "not_a_reference")
        self.count += 1
        if self.count > MOST:
            raise _refused(f"A call has at most {MOST} references.", path, "too_many", limit=MOST)
        found = self._at(self._given(name, (*path, FROM_CALL)), name, steps, (*path, "path"))
        self._size += len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode())
        if self._size > self._limit:
            text = f"What the references bring is larger than {self._limit:,} bytes. Refer to less by path."
            raise _refused(text, path, "too_large", limit=self._limit)
        return found

    def _given(self, name: str, path: tuple[str | int, ...]) -> Json:
        if self._results is None:
            self._results = self._ask()
        results = self._results
        if name in results.given:
            return results.given[name]
        if name in results.open:
            text = f"The call {name[:64]!r} has no result: it is {results.open[name]}."
            raise _refused(text, path, "no_result")
        text = f"No tool {name[:64]!r} was called in this turn, and no call has that id."
        raise _refused(text, path, "unknown_call", allowed=[*results.names][:_LISTED])

    @staticmethod
    def _at(result: Json, name: str, steps: str, path: tuple[str | int, ...]) -> Json:
        found = tokens(steps)
        if found is None:
            text = f"{steps[:64]!r} is no JSON Pointer: one begins with a slash, as in /flights/0."
            raise _refused(text, path, "unknown_path")
        value = result
        for step in found:
            inner = at(value, (step,))
            if isinstance(inner, Nothing):
                keys = [*value][:_LISTED] if isinstance(value, dict) else []
                text = f"The result of {name[:64]!r} has nothing at {steps[:64]!r}."
                raise _refused(text, path, "unknown_path", allowed=keys)
            value = inner
        return value


def _refused(text: str, path: tuple[str | int, ...], reason: str, **facts: object) -> RespondRefused:
    return RespondRefused(clean_text(text), path=clean_text(pointer(path)), reason=reason, **facts)
