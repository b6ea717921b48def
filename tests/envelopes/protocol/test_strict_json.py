"""The strict parse: what it accepts, and that it says what is wrong and where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envelopes.errors import ValidationFailed
from envelopes.protocol.strict_json import INPUT_DEPTH, join_surrogates, parse_strict, pointer


def refusal(text: str, **options: Any) -> dict[str, Any]:
    with pytest.raises(ValidationFailed) as caught:
        parse_strict(text, **options)
    return caught.value.facts


@settings(deadline=None)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_is_accepted(value: Any) -> None:
    assert parse_strict(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "reason", "path"),
    [
        ("", "truncated", ""),
        ('{"parts": [{"text": "Hal', "truncated", "/parts/0/text"),
        ('{"parts": [{}], "x": tr}', "malformed", "/x"),
        ('{"a": {"b/c~d": NaN}}', "not_a_number", "/a/b~1c~0d"),
        ('{"a": 1e400}', "not_a_number", "/a"),
        ('{"a": 1, "a": 1}', "duplicate_key", "/a"),
        ("[" * 100_000, "too_deep", "/0" * INPUT_DEPTH),
        ('{"a": ' + "9" * 5000 + "}", "malformed", "/a"),
        ("\ufeff{}", "malformed", ""),
    ],
)
def test_refusals_say_where(text: str, reason: str, path: str) -> None:
    facts = refusal(text)

    assert (facts["reason"], facts["path"]) == (reason, path)


def test_an_integer_that_only_python_refuses_is_refused() -> None:
    assert refusal("[" + "9" * 4090 + ", 1" + "0" * 4400 + "]")["reason"] == "malformed"


def test_depth_is_counted_in_containers() -> None:
    deep = "[" * INPUT_DEPTH + "]" * INPUT_DEPTH

    assert parse_strict(deep)
    assert refusal(f"[{deep}]")["reason"] == "too_deep"
    assert refusal('{"a": [{}]}', depth=2) == {"path": "/a/0", "reason": "too_deep"}


def test_size_is_counted_in_bytes() -> None:
    assert parse_strict('"éé"', limit=6) == "éé"
    assert refusal('"éé"', limit=5) == {"path": "", "reason": "too_large", "limit": 5}
    assert refusal('"' + "a" * 1024 * 1024 + '"')["limit"] == 1024 * 1024


def test_lone_surrogates_pass_and_pairs_are_joined() -> None:
    assert parse_strict('"\\ud83d"') == "\ud83d"
    assert parse_strict('"\ud83d\ude00 \ud83d"') == "\U0001f600 \ud83d"


@settings(deadline=None)
@given(st.text(st.sampled_from("a\ud83d\ude00\U0001f600")))
def test_joining_surrogates_is_stable(text: str) -> None:
    once = join_surrogates(text)

    assert join_surrogates(once) == once
    assert "\ud83d\ude00" not in once
    assert once.encode("utf-16-le", "surrogatepass") == text.encode("utf-16-le", "surrogatepass")


def test_pointer() -> None:
    assert pointer(["a/b", 0, "~"]) == "/a~1b/0/~0"
    assert pointer([]) == ""
