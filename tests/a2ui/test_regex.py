from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2ui import Engine
from a2ui.errors import ExpressionError
from a2ui.safety import regex
from a2ui.safety.limits import Limits
from tests.fuzz.cost import BOUND_MS, cost

LIMITS = Limits()


def found(pattern, text):
    return regex.search(pattern, text, LIMITS)


class TestDialect:
    @pytest.mark.parametrize(
        ("pattern", "text", "expected"),
        [
            ("^[0-9]+$", "12345", True),
            ("b", "abc", True),
            (r"^\d+$", "\u0661", False),
            (r"^\w+$", "\u00e9", False),
            (r"^\s$", "\u00a0", True),
            (r"^\s$", "\ufeff", True),
            (r"^\S$", "\u00a0", False),
            (r"^[\s]$", "\u2003", True),
            (r"^[\S]$", "\u2003", False),
            (r"^[\S]$", "x", True),
            (r"^[^\s]$", "\v", False),
            ("a$", "a\n", False),
            ("^a.c$", "a\u2028c", False),
            ("^a.c$", "a\rc", False),
            ("^.$", "\U0001f600", True),
            (r"^\u0041\x42$", "AB", True),
            (r"^\u{1F600}$", "\U0001f600", True),
            (r"^[\u0400-\u04FF]+$", "ключ", True),
            (r"^\cJ$", "\n", True),
            (r"^\0$", "\ufffd", False),
            (r"^\/\-\.$", "/-.", True),
            (r"\Z", "Z", True),
            (r"\Z", "", False),
            (r"\A", "A", True),
            ("(?<year>[0-9]{4})", "in 2026", True),
            ("[[:alpha:]]", ":]", True),
            ("[[:alpha:]]", "b", False),
            ("[a&&b]", "&", True),
            ("^[]$", "", False),
            ("[]", "a", False),
            ("^[^]$", "\n", True),
            ("^a{,5}$", "a{,5}", True),
            ("^a{2,}$", "aa", True),
            ("^{$", "{", True),
            ("^a]$", "a]", True),
            (r"^[a\-z]$", "b", False),
            (r"^[\w-]+$", "a-b", True),
            (r"^[\d-x]+$", "1-x", True),
            (r"^[\b]$", "\b", True),
            (r"\bfoo\b", "a foo b", True),
            ("^(?:a|b)+?$", "ab", True),
            ("(?i:A)b", "ab", True),
            ("^(?=.*[0-9])(?=.*[a-z]).{3,}$", "ab1", True),
            ("^(?=.*[0-9])(?=.*[a-z]).{3,}$", "abc", False),
            ("^(?!x)", "y", True),
            ("(?<=a)b", "ab", True),
            ("(?<!a)b", "ab", False),
            ("a$(?=)", "a\n", False),
            (r"^\s(?=)", "\u3000", True),
            (r"^\d(?=)", "\u0661", False),
            (r"^\p{Lu}$", "Ä", True),
            ("x{1001}", "x" * 1001, True),
            ("", "", True),
            ("#", "a#b", True),
            ("a b", "a b", True),
        ],
    )
    def test_means_what_ecmascript_means(self, pattern, text, expected):
        assert found(pattern, text) is expected

    @pytest.mark.parametrize(
        "pattern",
        [
            "[invalid(",
            "(",
            ")",
            "a)",
            "*a",
            "a**",
            "a++",
            "a{2}{3}",
            "(?i)a",
            "(?P<n>a)",
            "(?>a)",
            "(?#c)",
            "(?(1)a)",
            "[z-a]",
            "a{3,2}",
            "\\",
            "[\\",
            "[a",
            r"\u{110000}",
            "(" * 60 + ")" * 60,
            "^*",
            "(?R)",
            r"(?<1>a)",
        ],
    )
    def test_refuses(self, pattern):
        with pytest.raises(ExpressionError) as caught:
            found(pattern, "abc")

        assert caught.value.code == "EXPRESSION_ERROR"
        assert caught.value.expression == "regex"

    def test_lone_surrogates_raise_nothing(self):
        assert found("x", "\ud800x")
        assert not found("\ud800", "a")


class TestBounds:
    def test_lengths(self):
        for pattern, text in (("a" * 1001, ""), ("a", "b" * 10_001)):
            with pytest.raises(ExpressionError) as caught:
                found(pattern, text)
            assert caught.value.code == "budget_exceeded"

    @pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a*)*b$", r"^(\w+\s?)*$"])
    def test_the_classic_bombs_are_linear(self, pattern):
        answers = []

        assert cost(lambda: answers.append(found(pattern, "a" * 9_000 + "!"))) <= BOUND_MS
        assert not any(answers)

    @pytest.mark.parametrize("pattern", [r"^(?=x?)(a+)+$", "(?=(a+)+!b)", "^(?!(a+)+$)(a|aa)+$"])
    def test_the_same_with_look_around(self, pattern):
        answers = []

        assert cost(lambda: answers.append(found(pattern, "a" * 5_000 + "!"))) <= BOUND_MS
        assert not any(answers)

    @settings(max_examples=150, deadline=None)
    @given(st.text(st.sampled_from("ab\\()[]{}?*+|^$.-,1dswuxkpS<>=!:P"), max_size=16), st.text(max_size=8))
    def test_any_pattern_gives_an_answer_or_an_expression_error(self, pattern, text):
        with contextlib.suppress(ExpressionError):
            assert found(pattern, text) in {True, False}


def test_a_pattern_that_counts_has_a_limit_of_steps() -> None:
    with pytest.raises(ExpressionError) as caught:
        found("(a{1,30}){1,30}b", "a" * 9_000)
    assert caught.value.code == "budget_exceeded"
    assert found("(a{1,30}){1,30}b", "a" * 900 + "b")


def test_a_drawing_full_of_heavy_patterns_stops_counting_them() -> None:
    checks = [
        {
            "condition": {
                "call": "regex",
                "args": {"value": {"path": "/v"}, "pattern": f"(a{{1,30}}){{1,30}}{n}"},
            },
            "message": "no",
        }
        for n in range(20)
    ]
    fields = [
        {"id": f"f{n}", "component": "TextField", "label": "x", "value": {"path": "/v"}, "checks": checks}
        for n in range(10)
    ]
    surfaces = Engine().surfaces()
    catalog = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
    root = {"id": "root", "component": "Column", "children": [field["id"] for field in fields]}
    for body in (
        {"createSurface": {"surfaceId": "s", "catalogId": catalog}},
        {"updateDataModel": {"surfaceId": "s", "path": "/v", "value": "a" * 2_000}},
        {"updateComponents": {"surfaceId": "s", "components": [root, *fields]}},
    ):
        assert not any(problem.refused for problem in surfaces.apply({"version": "v0.9", **body}))
    surfaces.flush()
    # 200 searches of 3.7 million steps each; the drawing may make 100 million.
    assert "work" in {problem.facts.get("limit") for problem in surfaces.diagnostics()}
