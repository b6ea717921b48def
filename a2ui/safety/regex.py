"""Patterns of agents, in the ECMAScript dialect and in bounded time (rulebook 9.2).

google-re2 runs in linear time and takes nearly everything. What it refuses (look-around, back-references, large
counts) runs in the module `regex` under a time limit. The standard `re` is never used on an agent's pattern.

Linear is not quick: the work is the length of the text times the size of the compiled pattern. So one search has a
limit of steps, and `price` lets a drawing count what all of its searches cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import re2
import regex  # type: ignore[import-untyped]

from a2ui.errors import ExpressionError
from a2ui.safety.dialect import PatternError, translate
from a2ui.safety.limits import Limits
from a2ui.state.values import clean_string

# (text, limits) -> found
Match: TypeAlias = Callable[[str, Limits], bool]

_MAX_MEMORY = 1 << 20
_CACHED_PATTERNS = 256
_STAYING = 64

_TEXT_CHARS = 100
_STEPS = 1_000
_COMPILING = 20
_CLASS = 300
"""So many characters of the text and so many steps count like one call; a character of a new pattern like so many
calls, and one of Unicode's classes in it like so many more."""


def search(pattern: str, text: str, limits: Limits) -> bool:
    """Whether the ECMAScript pattern matches anywhere in the text.

    Raises ExpressionError: for an invalid pattern, and with the code `budget_exceeded` where pattern, text or
    time go beyond the limits.
    """
    if len(pattern) > limits.regex_pattern_chars:
        raise _limit_error(pattern, "regex_pattern_chars", limits.regex_pattern_chars)
    if len(text) > limits.regex_input_chars:
        raise _limit_error(pattern, "regex_input_chars", limits.regex_input_chars)
    if not text.isascii():
        text = clean_string(text)
    return _compile(pattern).match(text, limits)


def price(pattern: str, text: str, limits: Limits, paid: set[str]) -> int:
    """What a search costs in usual function calls: looking through the text, steps, compiling a new pattern.

    `paid` are the patterns that the drawing has paid for: what a surface shows must not depend on what other drawings
    have left in the cache. With many of them each search pays, since few can be counted on to stay there.
    A pattern that needs backtracking counts by its length: its own limit is one of time.
    """
    if len(pattern) > limits.regex_pattern_chars or len(text) > limits.regex_input_chars:
        return 0  # refused without a look
    try:
        searching = max(len(text) // _TEXT_CHARS, len(text) * _compile(pattern).size // _STEPS)
    except ExpressionError:
        # Nothing is kept of what does not compile: it costs the same again.
        return _compiling(pattern)
    if pattern in paid and len(paid) <= _STAYING:
        return searching
    paid.add(pattern)
    return searching + _compiling(pattern)


def _compiling(pattern: str) -> int:
    return _COMPILING * len(pattern) + _CLASS * (pattern.count("\\p") + pattern.count("\\P"))


@dataclass(frozen=True, slots=True)
class _Compiled:
    match: Match
    size: int
    """Instructions."""


@lru_cache(maxsize=_CACHED_PATTERNS)
def _compile(pattern: str) -> _Compiled:
    try:
        linear, backtracking = translate(clean_string(pattern))
    except PatternError as error:
        raise _invalid(pattern, str(error)) from error
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return _linear(pattern, re2.compile(linear, options))
    except re2.error:
        return _backtracking(pattern, backtracking)


def _linear(pattern: str, compiled: re2._Regexp[str]) -> _Compiled:
    size: int = compiled.programsize

    def match(text: str, limits: Limits) -> bool:
        if len(text) * size > limits.regex_steps:
            raise _limit_error(pattern, "regex_steps", limits.regex_steps)
        return compiled.search(text) is not None

    return _Compiled(match, size)


def _backtracking(pattern: str, translated: str) -> _Compiled:
    try:
        compiled = regex.compile(translated, regex.VERSION0 | regex.ASCII)
    except (regex.error, OverflowError, RecursionError) as error:
        raise _invalid(pattern, str(error)) from error

    def match(text: str, limits: Limits) -> bool:
        try:
            return compiled.search(text, timeout=limits.regex_ms / 1000, concurrent=True) is not None
        except TimeoutError as error:
            raise ExpressionError(
                "The pattern takes too long.",
                expression="regex",
                code="budget_exceeded",
                limit="regex_ms",
                pattern=pattern[:100],
            ) from error

    return _Compiled(match, len(pattern))


def _invalid(pattern: str, reason: str) -> ExpressionError:
    return ExpressionError(f"Invalid pattern: {reason:.200}.", expression="regex", pattern=pattern[:100])


def _limit_error(pattern: str, limit: str, allowed: int) -> ExpressionError:
    return ExpressionError(
        f"The pattern or the text goes beyond the limit {limit} of {allowed}.",
        expression="regex",
        code="budget_exceeded",
        limit=limit,
        allowed=allowed,
        pattern=pattern[:100],
    )
