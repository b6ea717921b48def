from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2ui.errors import ExpressionError
from a2ui.functions.basic import BASIC
from a2ui.functions.convert import to_boolean, to_decimal, to_number, truthy
from a2ui.functions.registry import Env
from tests.a2ui.strategies import JSON


def call(name, **args):
    return BASIC.get(name).evaluate(args, Env())


class TestRequired:
    @pytest.mark.parametrize("value", [None, "", []])
    def test_missing(self, value):
        assert call("required", value=value) is False

    @pytest.mark.parametrize("value", [" ", 0, False, {}, [None], 0.0, "false"])
    def test_present(self, value):
        assert call("required", value=value) is True


class TestRegex:
    @pytest.mark.parametrize(
        ("value", "text"),
        [(12, "^12$"), (True, "^true$"), (None, "^$"), ([1], "^$"), ({"a": 1}, "^$"), (2.0, "^2$")],
    )
    def test_values_are_tested_as_their_text(self, value, text):
        assert call("regex", value=value, pattern=text) is True

    @pytest.mark.parametrize("pattern", [None, 5, ["a"]])
    def test_the_pattern_is_text(self, pattern):
        with pytest.raises(ExpressionError):
            call("regex", value="a", pattern=pattern)


class TestLength:
    def test_counts_code_points_and_elements(self):
        assert call("length", value="\U0001f600é", min=2, max=2)
        assert call("length", value=[1, 2], min=2, max=2)

    @pytest.mark.parametrize("value", [None, 12345, True, {"a": 1}])
    def test_everything_else_has_length_zero(self, value):
        assert call("length", value=value, max=0)

    def test_bounds_may_be_missing_or_numeric_text_but_not_words(self):
        assert call("length", value="abc")
        assert call("length", value="abc", min="2", max=None)
        with pytest.raises(ExpressionError):
            call("length", value="abc", min="two")


class TestNumeric:
    @pytest.mark.parametrize("value", [0, 4.5, "42.5", " 42 ", "+1", "-.5", "1e3", "1.", True])
    def test_numbers(self, value):
        assert call("numeric", value=value) is True

    @pytest.mark.parametrize(
        "value",
        [
            "",
            " ",
            "2abc",
            "0x10",
            "1_000",
            "1,000",
            "NaN",
            "Infinity",
            "1e999",
            "\uff11",
            None,
            [],
            {},
            float("nan"),
            "1" * 500,
        ],
    )
    def test_no_numbers(self, value):
        assert call("numeric", value=value) is False

    def test_true_counts_as_one(self):
        assert call("numeric", value=True, min=1, max=1)
        assert not call("numeric", value=True, min=2)


class TestEmail:
    @pytest.mark.parametrize("value", ["user@example.com", "a.b_c%d+e-f@sub.example.co", "1@2.io"])
    def test_valid(self, value):
        assert call("email", value=value) is True

    @pytest.mark.parametrize(
        "value",
        [
            "",
            None,
            "a",
            "a@b",
            "a@b.c",
            "a@b.com\n",
            " a@b.com",
            "a@@b.com",
            "a b@c.com",
            "é@b.com",
            "a@b.c0m",
            5,
            ["a@b.com"],
            "a@" + "b" * 2000 + ".com",
        ],
    )
    def test_invalid(self, value):
        assert call("email", value=value) is False


class TestLogic:
    @pytest.mark.parametrize("value", [None, False, 0, 0.0, -0.0, float("nan"), ""])
    def test_false(self, value):
        assert truthy(value) is False
        assert call("not", value=value) is True
        assert call("or", values=[value, value]) is False

    @pytest.mark.parametrize("value", [True, 1, -1, "false", " ", [], {}])
    def test_true(self, value):
        assert truthy(value) is True
        assert call("not", value=value) is False
        assert call("and", values=[value, value]) is True

    @pytest.mark.parametrize("values", [None, [], [True], "ab", {"a": 1, "b": 2}])
    def test_needs_two_values(self, values):
        for name in ("and", "or"):
            with pytest.raises(ExpressionError):
                call(name, values=values)

    @given(st.lists(JSON, min_size=2, max_size=4))
    def test_de_morgan(self, values):
        negated = [call("not", value=value) for value in values]

        assert call("not", value=call("and", values=values)) == call("or", values=negated)


class TestOpenUrl:
    def test_checks_only(self):
        assert call("openUrl", url="https://example.com") is None

    @pytest.mark.parametrize("url", [None, "", "javascript:alert(1)", "mailto:a@b.example", "/relative", 5])
    def test_refuses(self, url):
        with pytest.raises(ExpressionError) as caught:
            call("openUrl", url=url)

        assert caught.value.expression == "openUrl"


class TestConvert:
    @pytest.mark.parametrize(
        ("value", "boolean"),
        [
            ("TRUE", True),
            ("yes", False),
            ("false", False),
            (2, True),
            (0, False),
            (None, False),
            (True, True),
            ([], True),
        ],
    )
    def test_to_boolean(self, value, boolean):
        assert to_boolean(value) is boolean

    @pytest.mark.parametrize(
        ("value", "number"),
        [("007", 7), ("1.0", 1.0), ("9" * 30, int("9" * 30)), (False, 0), (10**400, 10**400)],
    )
    def test_to_number(self, value, number):
        assert to_number(value) == number

    @given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
    def test_text_of_a_number_is_that_number(self, value):
        assert to_number(repr(value)) == value

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_decimals_are_as_written(self, value):
        assert float(to_decimal(value)) == value
        assert to_decimal(value) == to_decimal(repr(value))
