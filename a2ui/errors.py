"""The one family of errors and the reports made of them (rulebook section 5).

Every error carries a stable `code`, a sentence for a person, a JSON Pointer `path`, whose `fault` it is and
further `facts`. Code that gets bad input raises; code that processes many things turns errors into
`Diagnostic`s and goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import cleandoc
from types import MappingProxyType
from typing import Any, ClassVar, Literal

Fault = Literal["agent", "client", "configuration", "us"]

NO_FACTS: Mapping[str, Any] = MappingProxyType({})

VALIDATION_FAILED = "VALIDATION_FAILED"
BUDGET_EXCEEDED = "budget_exceeded"

UNUSABLE = "unusable"
"""The fact of a problem with which what it is about counts as absent, whatever comes later. For `surface.faults`."""


RAISED = "raised"
"""The fact of a problem with the type and the line of what was raised: for staff, never for people or agents."""

_UNTOLD = frozenset({UNUSABLE, RAISED})
_SHOWN = 40
_LARGE = 1e15
_LOOKED_FOR = 100


def must_be(name: str, expected: str, got: object = ..., *, quoted: bool = False) -> str:
    """The sentence for a value of the wrong kind: "`weight` must be a number; got text."

    `got` left out: there was nothing. `quoted`: a text is shown, where any text but some is wrong.
    """
    return f"`{name}` must be {expected}; got {_described(got, quoted=quoted)}."


def _described(value: object, *, quoted: bool) -> str:
    if value is ...:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value) if abs(value) < _LARGE else "no such number"
    if isinstance(value, str):
        if quoted and value:
            more = "\N{HORIZONTAL ELLIPSIS}" if len(value) > _SHOWN else ""
            return f'"{value[:_SHOWN]}{more}"'
        return "text" if value else "empty text"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return "an object" if isinstance(value, dict) else type(value).__name__


class A2uiError(Exception):
    """Something in the A2UI core went wrong."""

    default_code: ClassVar[str] = "INTERNAL_ERROR"
    default_fault: ClassVar[Fault] = "us"

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        path: str = "",
        fault: Fault | None = None,
        **facts: Any,
    ) -> None:
        """`message` defaults to the first paragraph of the class docstring; `facts` are kept as given."""
        self.message = message or cleandoc(type(self).__doc__ or "").split("\n\n")[0]
        self.code = code or self.default_code
        self.path = path
        self.fault: Fault = fault or self.default_fault
        self.facts: dict[str, Any] = facts
        super().__init__(self.message)

    def __repr__(self) -> str:
        where = f" at {self.path!r}" if self.path else ""
        return f"<{type(self).__name__} {self.code}{where}: {self.message}>"


class DefinitionError(A2uiError):
    """A component, function or catalog cannot be defined so."""

    default_code = "DEFINITION_INVALID"
    default_fault: ClassVar[Fault] = "configuration"


class PointerError(A2uiError):
    """The path is not a valid JSON Pointer."""

    default_code = VALIDATION_FAILED
    default_fault: ClassVar[Fault] = "agent"


class PatchError(A2uiError):
    """The JSON Patch could not be applied; nothing was changed.

    `index` is the position of the failing operation (-1: the patch as a whole), `path` its pointer. Codes:
    `invalid_patch` (malformed), `conflict` (the place does not exist or cannot hold this), `test_failed`,
    `budget_exceeded`.
    """

    default_code = "invalid_patch"
    default_fault: ClassVar[Fault] = "agent"

    def __init__(
        self, message: str = "", *, code: str | None = None, index: int = -1, path: str = "", **facts: Any
    ) -> None:
        super().__init__(message, code=code, path=path, index=index, **facts)
        self.index = index


class DataError(A2uiError):
    """The data model cannot hold this value at this path; nothing was changed."""

    default_code = "DATA_ERROR"
    default_fault: ClassVar[Fault] = "agent"


class ExpressionError(A2uiError):
    """The expression or function call has no value.

    `expression` is the function name, or the text that could not be parsed. The code is `EXPRESSION_ERROR`, or
    `budget_exceeded` where a limit was crossed.
    """

    default_code = "EXPRESSION_ERROR"
    default_fault: ClassVar[Fault] = "agent"

    def __init__(
        self, message: str = "", *, expression: str = "", code: str | None = None, **facts: Any
    ) -> None:
        super().__init__(message, code=code, expression=expression, **facts)
        self.expression = expression


class InputError(A2uiError):
    """The value that was entered cannot be taken."""

    default_code = VALIDATION_FAILED
    default_fault: ClassVar[Fault] = "client"


class ActionError(A2uiError):
    """The action cannot be run.

    Codes: `not_found` (no such control here), `disabled` (its checks fail), `invalid` (a field of its form is wrong),
    `VALIDATION_FAILED`, `EXPRESSION_ERROR`.
    """

    default_code = "not_found"
    default_fault: ClassVar[Fault] = "client"


class LimitError(A2uiError):
    """A limit was crossed.

    `facts` has `limit` (name of the field of `Limits`), `allowed` and, where it is known, `got`.
    """

    default_code = BUDGET_EXCEEDED
    default_fault: ClassVar[Fault] = "agent"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem, reported to the agent and the log instead of being raised.

    `path` is a JSON Pointer into the message body or the data model. `refused` says that the message (or the
    patch) it belongs to changed nothing.
    """

    code: str
    message: str
    path: str = ""
    surface_id: str = ""
    refused: bool = False
    facts: Mapping[str, Any] = field(default_factory=lambda: NO_FACTS)

    @classmethod
    def from_error(
        cls, error: A2uiError, *, surface_id: str = "", path: str = "", refused: bool = False
    ) -> Diagnostic:
        """The report of an error; `path` overrides the error's own."""
        return cls(error.code, error.message, path or error.path, surface_id, refused, dict(error.facts))

    def as_message(self, version: str = "v0.9") -> dict[str, Any]:
        """The client-to-server `error` message (rulebook 5.2).

        `VALIDATION_FAILED` has exactly code, surfaceId, path and message; any other code also carries `path`
        where there is one, and the facts that do not clash with those names.
        """
        error: dict[str, Any] = {"code": self.code, "surfaceId": self.surface_id}
        if self.code == VALIDATION_FAILED:
            error |= {"path": self.path, "message": self.message}
        else:
            error |= {"message": self.message}
            if self.path:
                error["path"] = self.path
            error = {**{key: fact for key, fact in self.facts.items() if key not in _UNTOLD}, **error}
        return {"version": version, "error": error}


def capped(problems: list[Diagnostic], allowed: int) -> list[Diagnostic]:
    """The problems of one message, of many only so many as are allowed and how many more there are."""
    if len(problems) <= allowed:
        return problems
    # A refusal must not be cut off: it is what the host looks for.
    problems = sorted(problems, key=lambda problem: not problem.refused)
    # Whoever finds a hundred stops looking.
    least = "At least " if len(problems) >= _LOOKED_FOR else ""
    more = f"{least}{len(problems) - allowed} more problems of this message are not listed."
    first = problems[0]
    return [*problems[:allowed], Diagnostic(VALIDATION_FAILED, more, "", first.surface_id, first.refused)]
