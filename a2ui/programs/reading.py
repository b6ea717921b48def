"""Reads programs from text: JSON lists, the batches of 2.1, example files, JSON lines, named cases."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from a2ui.errors import A2uiError, must_be

INVALID_JSON = "INVALID_JSON"

_HOLDERS = ("messages", "program")
"""Keys under which an object holds a program."""


def parse_json(text: str) -> Any:
    """The value of one JSON text. Raises A2uiError `INVALID_JSON`: malformed, too deep, with NaN or infinity, or with a
    key twice in one object, which parsers read differently."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
    except RecursionError:
        raise A2uiError("The JSON is nested too deeply.", code=INVALID_JSON, fault="agent") from None
    except ValueError as error:
        raise A2uiError(f"This is not JSON: {error}.", code=INVALID_JSON, fault="agent") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in members:
        if name in found:
            message = f"The key {name[:40]!r} stands twice in one object."
            raise A2uiError(message, code=INVALID_JSON, fault="agent")
        found[name] = value
    return found


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:40]} is too large")
    return value


def read_program(text: str) -> list[Any]:
    """The messages of a program. Raises A2uiError `INVALID_JSON`, for JSON lines with the line in `facts`."""
    try:
        return messages_of(parse_json(text))
    except A2uiError as whole:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) < 2:
            raise
        return _lines(lines, whole)


def _lines(lines: list[tuple[int, str]], whole: A2uiError) -> list[Any]:
    messages: list[Any] = []
    for number, line in lines:
        try:
            messages += messages_of(parse_json(line))
        except A2uiError as error:
            if number == lines[0][0]:
                # Not even the first line is JSON, so this was meant as one text.
                raise whole from None
            message = f"Line {number}: {error.message}"
            raise A2uiError(message, code=INVALID_JSON, fault="agent", line=number) from None
    return messages


def messages_of(value: Any) -> list[Any]:
    """The messages of a parsed program: a list, an object that holds one, or one message."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        for key in _HOLDERS:
            if isinstance(value.get(key), list):
                return list(value[key])
    return [value]


def read_cases(text: str) -> dict[str, list[Any]]:
    """Named programs: an object `{name: program}`. Raises A2uiError `INVALID_JSON`."""
    value = parse_json(text)
    if not isinstance(value, dict):
        message = must_be("cases", "an object {name: program}", value)
        raise A2uiError(message, code=INVALID_JSON, fault="agent")
    return {name: messages_of(program) for name, program in value.items()}
