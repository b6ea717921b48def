"""The two engines of patterns answer alike, and as the definitions of their constructs say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2ui.safety import regex
from a2ui.safety.dialect import parse
from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.safety.linear import write
from a2ui.safety.pattern_tree import PatternError
from a2ui.safety.positions import Matcher

TREES = st.recursive(
    st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "^", "$", r"\b", r"\w", "\u00e9", ""]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        ),
    ),
    max_leaves=8,
)
FEW = settings(max_examples=75, deadline=None)


@FEW
@given(TREES, st.text("ab\u00e9 \n", max_size=8))
def test_both_engines_answer_alike(pattern: str, text: str) -> None:
    tree = parse(pattern)
    assert write(tree) is not None

    assert Matcher(tree).found(text, 10**6) is regex.search(pattern, text, DEFAULT_LIMITS)


@FEW
@given(TREES, TREES, TREES, st.booleans(), st.text("ab \n", max_size=8))
def test_look_ahead_is_both_at_once(before: str, look: str, after: str, negative: bool, text: str) -> None:
    """The law by which it is defined: somewhere `before` ends, from where `look` matches (or not) and `after` does."""
    pattern = f"(?:{before})(?{'!' if negative else '='}{look})(?:{after})"
    wanted = any(
        part(before, text, start, end)
        and begins(look, text, end) is not negative
        and begins(after, text, end)
        for start in range(len(text) + 1)
        for end in range(start, len(text) + 1)
    )

    assert regex.search(pattern, text, DEFAULT_LIMITS) is wanted


def _python(pattern: str) -> re.Pattern[str]:
    """The few constructs of TREES for Python."""
    for ours, theirs in (("$", r"\Z"), (".", "[^\n\r\u2028\u2029]"), (r"\w", "[a-zA-Z0-9_]")):
        pattern = pattern.replace(ours, theirs)
    return re.compile(pattern, re.ASCII)


def part(pattern: str, text: str, start: int, end: int) -> bool:
    """Whether exactly this part of the text matches, seen where it stands."""
    rest = re.escape(text[end:])
    return re.compile(f"(?:{_python(pattern).pattern})(?={rest}\\Z)", re.ASCII).match(text, start) is not None


def begins(pattern: str, text: str, start: int) -> bool:
    return any(part(pattern, text, start, end) for end in range(start, len(text) + 1))


def test_pattern_errors_say_why() -> None:
    with pytest.raises(PatternError, match="nothing to repeat"):
        parse("*a")
