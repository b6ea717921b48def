"""What is wrong with a contract, or with a value that does not fit one, in the words of the live channel (6.1, 7.2)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from envelopes.errors import BeachError
from envelopes.types import Json, JsonObject

CONTRACT_VIOLATION_NUMBER: Final = -32020
"""The number of the seed for ``CONTRACT_VIOLATION``; the frame's own code is the word (0.1)."""

MOST_VIOLATIONS: Final = 100
"""So many are listed; whoever reads the list is told where there are more."""

SHOWN_CHARACTERS: Final = 120
"""Of a value that a violation quotes."""

ViolatingTool = Literal["ggui_render", "ggui_update", "ggui_amend", "ggui_emit", "ggui_event"]

_HINTS: dict[str, str] = {
    "ggui_event": "The action does not fit the actionSpec of this session. Check what the client sends, or have "
    "the agent declare an action of this shape.",
}
_HINT = "Change the data so that it fits the contract, or declare a contract that this data fits."


@dataclass(frozen=True, slots=True)
class Violation:
    """One of them: where, in words, and for schemas what was expected and found and the keyword that failed.

    ``code`` stands where section 7.2 names one, ``reason`` for schemas that do not cover each other.
    """

    field: str
    message: str
    expected: str | None = None
    received: str | None = None
    keyword: str | None = None
    code: str | None = None
    reason: str | None = None

    def as_json(self) -> JsonObject:
        """``{field, message, expected?, received?, keyword?, code?, reason?}``, without what is not there."""
        names = ("field", "message", "expected", "received", "keyword", "code", "reason")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class ContractViolation(BeachError):
    """This does not fit the contract of the session."""

    code = "CONTRACT_VIOLATION"
    fault = "client"

    def __init__(self, tool: ViolatingTool, violations: Sequence[Violation]) -> None:
        self.violations = tuple(violations[:MOST_VIOLATIONS])
        self.tool = tool
        more: JsonObject = {} if len(violations) <= MOST_VIOLATIONS else {"truncated": True}
        lines = [f"- {violation.field}: {violation.message}" for violation in self.violations]
        if more:
            lines.append(f"- There are more than these {MOST_VIOLATIONS}.")
        super().__init__(
            "\n".join([f"Contract violation in {tool}:", *lines]),
            error="contract_violation",
            tool=tool,
            violations=[violation.as_json() for violation in self.violations],
            hint=_HINTS.get(tool, _HINT),
            jsonRpcCode=CONTRACT_VIOLATION_NUMBER,
            **more,
        )

    @property
    def details(self) -> JsonObject:
        """``details`` of the error frame: ``{error, tool, violations, hint, jsonRpcCode, truncated?}``."""
        return dict(self.facts)


class ContractRefused(BeachError):
    """This contract cannot be declared."""

    code = "contract_validation_failed"
    fault = "agent"

    def __init__(self, violations: Sequence[Violation]) -> None:
        self.violations = tuple(violations[:MOST_VIOLATIONS])
        more: JsonObject = {} if len(violations) <= MOST_VIOLATIONS else {"truncated": True}
        lines = [f"- {violation.field}: {violation.message}" for violation in self.violations]
        if more:
            lines.append(f"- There are more than these {MOST_VIOLATIONS}.")
        super().__init__(
            "\n".join(["This contract cannot be declared:", *lines]),
            violations=[violation.as_json() for violation in self.violations],
            **more,
        )


def at(prefix: str, path: Iterable[str | int]) -> str:
    """The field of what lies at ``path`` below ``prefix``, as programs write it: ``toggle.data.todos[0].done``."""
    field = prefix
    for token in path:
        field += f"[{token}]" if isinstance(token, int) else f".{token}" if field else token
    return field


def json_type(value: Json) -> str:
    """``null``, ``boolean``, ``number``, ``string``, ``array`` or ``object``."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def same(one: Json, other: Json) -> bool:
    """Equal as JSON: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def shown(value: Json) -> str:
    """A value as a violation quotes it: scalars as JSON, cut; of lists and objects only what they are."""
    if isinstance(value, list | dict):
        return json_type(value)
    text: Any = value[: SHOWN_CHARACTERS + 1] if isinstance(value, str) else value
    return cut(json.dumps(text, ensure_ascii=False))


def cut(text: str) -> str:
    """At most ``SHOWN_CHARACTERS`` of a text, and a mark where there was more."""
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def listed(names: Iterable[str]) -> str:
    """Names as a violation lists them; ``(none)`` where there are none."""
    return cut(", ".join(names)) or "(none)"
