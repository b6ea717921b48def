from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2ui.safety.ids import index_token, item_keys, key_token, number

SAFE = re.compile(r"[A-Za-z0-9_-]+")
VALUES = st.text() | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()


class TestKeyToken:
    @pytest.mark.parametrize(
        ("value", "token"),
        [
            ("sku_1", "ksku_1"),
            ("A", "kA"),
            (7, "n7"),
            (0, "n0"),
            (-7, "m7"),
            (7.0, "n7"),
            ("x" * 20, "k" + "x" * 20),
        ],
    )
    def test_short_ones_stay_readable(self, value, token):
        assert key_token(value) == token

    @pytest.mark.parametrize(
        "value", ["", "a-b", "a b", "x" * 21, "\u0661", 1.5, True, None, 10**20, "\ud800"]
    )
    def test_others_become_a_digest(self, value):
        assert re.fullmatch(r"h[A-Za-z0-9_-]{11}", key_token(value))

    @given(VALUES)
    def test_every_token_is_safe_in_an_id_and_a_selector(self, value):
        assert SAFE.fullmatch(key_token(value))

    @given(VALUES, VALUES)
    def test_different_values_have_different_tokens(self, a, b):
        same = a == b and isinstance(a, bool) == isinstance(b, bool)

        assert (key_token(a) == key_token(b)) == same

    def test_true_and_one_are_cached_apart(self):
        assert len({key_token(1), key_token(True), key_token("1"), key_token("true")}) == 4


class TestNumber:
    @given(st.integers(0, 10**12))
    def test_is_base_36(self, value):
        assert int(number(value), 36) == value
        assert index_token(value) == "i" + number(value)


class TestItemKeys:
    @pytest.mark.parametrize(
        ("items", "keys"),
        [
            ([{"id": "a"}, {"id": 2}], ["ka", "n2"]),
            ([{"key": "a", "id": 1}, {"key": "b", "id": 1}], ["ka", "kb"]),
            ([{"key": "a", "id": 1}, {"key": "a", "id": 2}], ["n1", "n2"]),
            ([{"id": 1}, {"id": 1.0}], None),
            ([{"id": 1}, {"id": "1"}], ["n1", "k1"]),
            ([{"id": 1}, {}], None),
            ([{"id": 1}, None], None),
            ([{"id": None}], None),
            ([{"id": True}], None),
            ([{"id": [1]}], None),
            (["a"], None),
            ([], None),
        ],
    )
    def test_identity(self, items, keys):
        assert item_keys(items) == keys
