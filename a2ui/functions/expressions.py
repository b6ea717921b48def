"""The formatString grammar (rulebook section 10): text with `${...}` to a plain syntax tree.

A `Template` is a tuple of parts that are evaluated, converted to text (7.3) and concatenated:

* `PlainText(text)`: shown as it is; neighbours are never both PlainText.
* `Literal(value)`: a string, number, boolean or null written inside `${...}`.
* `Path(tokens, absolute)`: a read of the data model from the root or from the scope of the caller.
* `Call(name, args)`: a function call, of one of the protocol's own where the name begins with @; the arguments are
  `(name, Literal | Path | Call)` with unique names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

import regex  # type: ignore[import-untyped]  # has \p{...}, which re lacks; only fixed patterns of ours here

from a2ui.data.pointer import ABSENT, Tokens, parse_scoped
from a2ui.errors import ExpressionError, PointerError
from a2ui.safety.limits import DEFAULT_LIMITS, Limits
from a2ui.safety.text import to_text


@dataclass(frozen=True, slots=True)
class PlainText:
    """Text outside of `${...}`, escapes resolved."""

    text: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant inside `${...}`."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Path:
    """A data-model path; `absolute` ones start at the root, others at the scope."""

    tokens: Tokens
    absolute: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A function call with named arguments, in the order of their first mention."""

    name: str
    args: tuple[tuple[str, Expression], ...]


Expression: TypeAlias = Literal | Path | Call
Part: TypeAlias = PlainText | Literal | Path | Call


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed text. `constant` is its text where it has no path and no call, else None.

    Where there are only texts and paths, as nearly always, `pattern % values` is the text, with the values at `paths`.
    """

    parts: tuple[Part, ...]
    constant: str | None
    pattern: str = ""
    paths: tuple[Tokens, ...] = ()


_KEYWORDS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "null": None}
_ESCAPES: Final[Mapping[str, str]] = {"n": "\n", "t": "\t", "r": "\r"}

# Fixed patterns of ours, linear in the text.
_BLANKS = regex.compile(r"\s*")
_PATH = regex.compile(r"[\p{L}\p{M}\p{N}/._\-]+")
_NAME = regex.compile(r"[\p{L}_][\p{L}\p{M}\p{N}_]*")
_SYSTEM_NAME = regex.compile(r"@[\p{L}_][\p{L}\p{M}\p{N}_]*")
_KEYWORD = regex.compile(r"(true|false|null)(?![\p{L}\p{M}\p{N}_])")
_NUMBER = regex.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_STRING_STOP = regex.compile(r"""['"\\]""")

_EXACT_DIGITS = 300
# A syntax tree is far larger than its text; agents must not fill the memory through the cache.
_CACHED_CHARS = 500


def parse_template(text: str, limits: Limits = DEFAULT_LIMITS, *, system: bool = False) -> Template:
    """The template of a text; `system`: it may call functions of the protocol, `${@index()}` (1.0).

    Raises ExpressionError: code `EXPRESSION_ERROR` for a syntax error anywhere in the text, `budget_exceeded`
    where it is longer, deeper or has more parts than the limits allow.
    """
    if len(text) > limits.expression_chars:
        raise _limit_error(text, "expression_chars", limits.expression_chars)
    if "${" not in text:
        return Template((PlainText(text),) if text else (), text)
    parse = _parse_cached if len(text) <= _CACHED_CHARS else _parse
    return parse(text, limits.expression_parts, limits.expression_depth, limits.call_arguments, system)


def evaluate(
    template: Template,
    read: Callable[[Path], Any],
    call: Callable[[str, Mapping[str, Any]], Any],
) -> str:
    """The text of a template: `read` gives the value of a path (None or ABSENT for nothing), `call` the result
    of a function with resolved arguments. What they raise comes through."""

    def value(expression: Expression) -> Any:
        if isinstance(expression, Literal):
            return expression.value
        if isinstance(expression, Path):
            found = read(expression)
            return None if found is ABSENT else found
        return call(expression.name, {name: value(argument) for name, argument in expression.args})

    if template.constant is not None:
        return template.constant
    return "".join(
        [part.text if isinstance(part, PlainText) else to_text(value(part)) for part in template.parts]
    )


def _parse(text: str, max_parts: int, max_depth: int, max_arguments: int, system: bool) -> Template:
    parts = tuple(_Parser(text, max_parts, max_depth, max_arguments, system=system).template())
    if any(isinstance(part, Path | Call) for part in parts):
        if not all(isinstance(part, Path | PlainText) for part in parts):
            return Template(parts, None)
        pattern = "".join(
            [part.text.replace("%", "%%") if isinstance(part, PlainText) else "%s" for part in parts]
        )
        return Template(
            parts, None, pattern, tuple([part.tokens for part in parts if isinstance(part, Path)])
        )
    constant = "".join([part.text if isinstance(part, PlainText) else to_text(part.value) for part in parts])  # type: ignore[union-attr]
    return Template(parts, constant)


_parse_cached = lru_cache(maxsize=2048)(_parse)


def _limit_error(text: str, limit: str, allowed: int) -> ExpressionError:
    return ExpressionError(
        f"The text goes beyond the limit {limit} of {allowed}.",
        expression=text[:100],
        code="budget_exceeded",
        limit=limit,
        allowed=allowed,
    )


class _Parser:
    """Recursive descent over one text; `position` is the next character."""

    def __init__(
        self, text: str, max_parts: int, max_depth: int, max_arguments: int, *, system: bool
    ) -> None:
        self.system = system
        self.text = text
        self.position = 0
        self.depth = 0
        self.max_parts = max_parts
        self.max_depth = max_depth
        self.max_arguments = max_arguments

    # ------------------------------------------------------------------ outside

    def template(self) -> list[Part]:
        parts: list[Part] = []
        pending = ""
        text, end = self.text, len(self.text)
        while self.position < end:
            start = text.find("${", self.position)
            if start < 0:
                pending += text[self.position :]
                break
            if start > self.position and text[start - 1] == "\\":
                pending += text[self.position : start - 1] + "${"
                self.position = start + 2
                continue
            pending += text[self.position : start]
            if pending:
                parts.append(PlainText(pending))
                pending = ""
            self.position = start + 2
            parts.append(self.interpolation())
            if len(parts) > self.max_parts:
                raise _limit_error(text, "expression_parts", self.max_parts)
        if pending:
            parts.append(PlainText(pending))
        return parts

    # ------------------------------------------------------------------ inside

    def interpolation(self) -> Expression:
        """After `${`: an expression and its closing brace, or nothing."""
        self.enter()
        self.blanks()
        if self.peek() == "}":
            expression: Expression = Literal("")
        else:
            expression = self.expression()
            self.blanks()
        if self.peek() != "}":
            raise self.error(
                "Unexpected characters" if self.position < len(self.text) else "Unclosed interpolation"
            )
        self.position += 1
        self.depth -= 1
        return expression

    def expression(self) -> Expression:
        text, position = self.text, self.position
        if text.startswith("${", position):
            self.position += 2
            return self.interpolation()
        if self.peek() in {"'", '"'}:
            return Literal(self.string())
        if keyword := _KEYWORD.match(text, position):
            self.position = keyword.end()
            return Literal(_KEYWORDS[keyword.group(1)])
        if number := _NUMBER.match(text, position):
            return self.number(number.group())
        if path := _PATH.match(text, position):
            return self.path_or_call(path.group())
        if self.system and (name := _SYSTEM_NAME.match(text, position)):
            self.position = name.end()
            self.blanks()
            if self.peek() != "(":
                raise self.error("Expected '(' after the name of a function")
            return self.call(name.group())
        raise self.error("Unexpected characters" if position < len(text) else "Unclosed interpolation")

    def string(self) -> str:
        quote = self.peek()
        self.position += 1
        pieces: list[str] = []
        while stop := _STRING_STOP.search(self.text, self.position):
            pieces.append(self.text[self.position : stop.start()])
            self.position = stop.end()
            if stop.group() == quote:
                return "".join(pieces)
            if stop.group() == "\\":
                escaped = self.peek()
                pieces.append(_ESCAPES.get(escaped, escaped))
                self.position += 1
            else:
                pieces.append(stop.group())
        raise self.error("Unclosed string")

    def number(self, digits: str) -> Literal:
        self.position += len(digits)
        if self.peek() == ".":
            raise self.error("Invalid number literal")
        if len(digits) <= _EXACT_DIGITS and digits.lstrip("+-").isdigit():
            return Literal(int(digits))
        value = float(digits)
        if value in {float("inf"), float("-inf")}:
            raise self.error("Invalid number literal")
        return Literal(int(value) if value.is_integer() and abs(value) < 2**53 else value)

    def path_or_call(self, path: str) -> Expression:
        start = self.position
        self.position += len(path)
        end = self.position
        self.blanks()
        if self.peek() == "(" and _NAME.fullmatch(path):
            return self.call(path)
        self.position = end
        try:
            tokens, absolute = parse_scoped(path)
        except PointerError as error:
            self.position = start
            raise self.error(error.message.rstrip(".")) from error
        return Path(tokens, absolute)

    def call(self, name: str) -> Call:
        self.enter()
        self.position += 1
        args: dict[str, Expression] = {}
        self.blanks()
        while argument := _NAME.match(self.text, self.position):
            self.position = argument.end()
            self.blanks()
            if self.peek() != ":":
                raise self.error("Expected ':' after argument name")
            self.position += 1
            self.blanks()
            args[argument.group()] = self.expression()
            if len(args) > self.max_arguments:
                raise _limit_error(self.text, "call_arguments", self.max_arguments)
            self.blanks()
            if self.peek() == ",":
                self.position += 1
                self.blanks()
        if self.peek() != ")":
            closing = self.peek() in {"", "}"}
            raise self.error(
                "Expected ')' after function arguments" if closing else "Expected ':' after argument name"
            )
        self.position += 1
        self.depth -= 1
        return Call(name, tuple(args.items()))

    # ------------------------------------------------------------------ helpers

    def enter(self) -> None:
        self.depth += 1
        if self.depth > self.max_depth:
            raise _limit_error(self.text, "expression_depth", self.max_depth)

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def blanks(self) -> None:
        found = _BLANKS.match(self.text, self.position)
        self.position = found.end() if found else self.position

    def error(self, problem: str) -> ExpressionError:
        return ExpressionError(
            f"{problem} at character {self.position} of the text.",
            expression=self.text[:100],
            at=self.position,
            unusable=True,
        )
