from __future__ import annotations

import html
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2ui.safety.text import clean_text, clip, escape, number_text, to_text
from tests.a2ui.strategies import JSON
from tests.shared import caselib, needs_shared


class TestToText:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, ""),
            ("x", "x"),
            (True, "true"),
            (False, "false"),
            (3, "3"),
            (2.0, "2"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (100.0, "100"),
            (1e-7, "1e-7"),
            (1.5e-7, "1.5e-7"),
            (0.000001, "0.000001"),
            (0.00001234, "0.00001234"),
            (-0.00001, "-0.00001"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (123456789012345680000.0, "123456789012345680000"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (-1e16, "-10000000000000000"),
            (9007199254740993, "9007199254740993"),
            (10**21, "1e+21"),
            (10**400, "Infinity"),
            (-(10**400), "-Infinity"),
            (float("nan"), "NaN"),
            (float("-inf"), "-Infinity"),
            ({"b": 1, "a": [True, None]}, '{"b":1,"a":[true,null]}'),
            ([1, "x", 2.0, {}, []], '[1,"x",2,{},[]]'),
            (["é☃", 'say "hi"', "\n"], '["é☃","say \\"hi\\"","\\n"]'),
            ([float("nan")], "[null]"),
        ],
    )
    def test_reads_like_javascript(self, value, text):
        assert to_text(value) == text

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_a_number_reads_back_as_itself(self, value):
        assert float(number_text(value)) == value

    @given(JSON)
    def test_containers_are_compact_json(self, value):
        assert json.loads(to_text([value])) == [value]

    def test_deep_nesting_is_no_recursion(self):
        value: list = []
        for _ in range(50_000):
            value = [value]

        assert len(to_text(value, 200_000)) == 100_002
        assert to_text(value) == "[" * 9_999 + "…"


class TestCleanText:
    def test_keeps_tab_and_line_ends(self):
        assert clean_text("a\tb\r\nc") == "a\tb\r\nc"

    @pytest.mark.parametrize(
        ("text", "clean"),
        [
            ("a\0b\x1b[31m\x07", "ab[31m"),
            ("Pay \u202e001\u202c EUR", "Pay 001 EUR"),
            ("a\u200bb\ufeffc\u2066d", "abcd"),
            ("a\u2028b", "a\nb"),
            ("half \ud83d", "half \ufffd"),
            ("tag\U000e0041", "tag"),
            (
                "na\u00efve caf\u00e9 \u4e2d\u6587 \U0001f600 a\u00a0b",
                "na\u00efve caf\u00e9 \u4e2d\u6587 \U0001f600 a\u00a0b",
            ),
        ],
    )
    def test_removes_what_hides_or_reorders(self, text, clean):
        assert clean_text(text) == clean

    @pytest.mark.parametrize(
        "text",
        [
            "\U0001f468\u200d\U0001f469\u200d\U0001f467",
            "\u2764\ufe0f\u200d\U0001f525",
            "\U0001f3f3\ufe0f\u200d\U0001f308",
            "\U0001f469\U0001f3fd\u200d\U0001f680",
            "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            "\U0001f1f5\U0001f1f9",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0915\u094d\u200d\u0937",
            "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
        ],
    )
    def test_p10_joiners_within_words_and_emoji_stay(self, text):
        assert clean_text(text) == text
        assert clean_text(f"a{text} b") == f"a{text} b"

    @pytest.mark.parametrize(
        ("text", "clean"),
        [
            ("pay\u200dpal \u200c", "paypal "),
            ("\u0645\u200c\u200c\u200d\u06cc", "\u0645\u200c\u06cc"),
            ("\U0001f600\u200d ok", "\U0001f600 ok"),
            ("\u202e\u0645\u200c\u06cc", "\u0645\u200c\u06cc"),
            ("\U0001f3f4" + "\U000e0061" * 40 + "\U000e007f", "\U0001f3f4"),
            ("x\U000e0067\U000e0062\U000e007f", "x"),
        ],
    )
    def test_p10_joiners_that_join_nothing_go(self, text, clean):
        assert clean_text(text) == clean

    @needs_shared
    @given(st.text())
    def test_the_oracle_finds_nothing_hidden(self, text):
        assert not caselib().HIDDEN.search(clean_text(text))

    @needs_shared
    def test_no_character_of_the_first_plane_escapes(self):
        every = "".join(map(chr, range(0x10000)))

        assert not caselib().HIDDEN.search(clean_text(every))
        assert not any(caselib().HIDDEN.search(clean_text(char)) for char in every)

    @given(st.text())
    def test_cleaning_twice_is_cleaning_once_and_encodes(self, text):
        clean = clean_text(text)

        assert clean_text(clean) == clean
        clean.encode()


class TestEscape:
    @given(st.text())
    def test_is_the_inverse_of_unescape_and_leaves_no_markup(self, text):
        escaped = escape(text)

        assert not set('<>"') & set(escaped)
        assert html.unescape(escaped) == html.unescape(html.escape(text, quote=False))

    def test_does_not_decode(self):
        assert escape("&lt;") == "&amp;lt;"


class TestClip:
    def test_tells_whether_it_cut(self):
        assert clip("abc", 3) == ("abc", False)
        assert clip("abcd", 3) == ("abc", True)
