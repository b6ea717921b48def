"""What patterns cost, and that ordinary ones are answered as JavaScript answers them."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from a2ui.errors import ExpressionError
from a2ui.safety import regex
from a2ui.safety.limits import DEFAULT_LIMITS, Limits
from beachsite.suite import ROOT
from tests.a2ui.hostile_patterns import PATTERNS, TEXTS
from tests.a2ui.programs import call, path, row, surface

ORDINARY = json.loads((Path(__file__).parent / "patterns.json").read_text(encoding="utf-8"))
"""Answers of Node.js 20, with the flag u where the pattern allows it."""


def refusal(pattern: str, text: str = "x", limits: Limits = DEFAULT_LIMITS) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        regex.search(pattern, text, limits)
    return caught.value


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("^(?:a{1000}){1000}$", 1_000_002),
        ("(?:(?:(?:a{100}){100}){100}){100}", 100_000_000),
        ("(?=(?:a{1000}){1000})b", 1_000_001),
        ("(?:a{1000,}){1000,}", 1_000_000),
        ("(?:(?:){1000}){1000}", 1_000_000),
        ("a{" + "9" * 900 + "}", 1_000_000_000),
    ],
)
def test_x1_nested_counts_are_refused_by_size(pattern: str, size: int, monkeypatch) -> None:
    def never(*given: object) -> None:
        raise AssertionError("compiled")

    for name in ("compiled", "Matcher"):
        monkeypatch.setattr(regex, name, never, raising=False)
    error = refusal(pattern)

    assert (error.code, error.facts["limit"], error.facts["allowed"]) == (
        "budget_exceeded",
        "regex_size",
        5_000,
    )
    assert error.facts["got"] == size


def test_x1_a_check_with_such_a_pattern_fails_and_is_reported() -> None:
    check = {
        "condition": call("regex", value=path("/v"), pattern="^(?:x{3000}){3000}$"),
        "message": "Refused",
    }
    field = row("root", "TextField", label="L", value=path("/v"), checks=[check])
    surfaces, drawn = surface(field, model={"v": "x"})

    assert "Refused" in drawn.html()
    assert [problem.facts["limit"] for problem in surfaces.diagnostics()] == ["regex_size"]


def test_x1_hostile_patterns_cost_little_in_a_process_with_little_memory() -> None:
    """Each search within 50 ms, reading the pattern included, and a memory that stays flat."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.a2ui.hostile_patterns"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr[-2_000:]
    found = json.loads(ran.stdout)
    assert found["dear"] == {}
    assert found["grown_mib"] < 48
    assert len(found["outcomes"]) == len(PATTERNS) >= 45
    assert set().union(*found["outcomes"].values()) == {
        "True",
        "False",
        "regex_size",
        "regex_steps",
        "regex_slow_steps",
        "back-references such as \\1 or \\k<name>",
    }


def test_x1_what_is_kept_of_patterns_has_a_bound() -> None:
    regex._KEPT.clear()
    for number in range(6):
        for pattern in PATTERNS.values():
            try:
                regex.search(f"(?<n{number}>{pattern})", TEXTS["two letters"][:200], DEFAULT_LIMITS)
            except ExpressionError:
                continue

    kept = list(regex._KEPT._of.values())
    assert len(kept) > 50
    assert max(one.memory for one in kept) <= 512 * 1024
    assert sum(one.memory for one in kept) == regex._KEPT.memory <= 32 * 1024 * 1024
    regex._KEPT.clear()


def test_x1_the_oldest_pattern_goes_first(monkeypatch) -> None:
    regex._KEPT.clear()
    monkeypatch.setattr(regex, "_KEPT_BYTES", 3 * regex._SMALL_BYTES)
    for pattern in ("a", "b", "c", "a", "d"):
        regex.search(pattern, "x", DEFAULT_LIMITS)

    assert [pattern for pattern, _ in regex._KEPT._of] == ["c", "a", "d"]
    regex._KEPT.clear()


def test_x1_nothing_that_backtracks_gets_a_pattern() -> None:
    """`regex` backtracks and compiles without a bound: only our own fixed patterns go there."""
    importing = [
        file.relative_to(ROOT).as_posix()
        for file in sorted((ROOT / "a2ui").rglob("*.py"))
        if "import regex" in (code := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import) and "regex" in [name.name for name in node.names]
    ]
    assert importing == ["a2ui/functions/expressions.py"]


@pytest.mark.parametrize("case", ORDINARY, ids=[case["name"] for case in ORDINARY])
def test_x1_ordinary_patterns_answer_as_javascript_does(case: dict) -> None:
    if case.get("unsupported"):
        assert refusal(case["pattern"]).facts["unsupported"]
        return
    for text in case["matches"]:
        assert regex.search(case["pattern"], text, DEFAULT_LIMITS), text
    for text in case["others"]:
        assert not regex.search(case["pattern"], text, DEFAULT_LIMITS), text


def test_x1_there_are_enough_ordinary_patterns() -> None:
    assert len(ORDINARY) >= 60
    assert sum(bool(case.get("unsupported")) for case in ORDINARY) == 2


@pytest.mark.parametrize(
    ("pattern", "feature", "published"),
    [
        (r"(a)\1", r"back-references such as \1 or \k<name>", "back-references"),
        (r"(?<n>a)\k<n>", r"back-references such as \1 or \k<name>", r"\k<name>"),
        (r"\p{Emoji}", r"properties such as \p{Emoji}", r"\p{Emoji}"),
        (r"[\p{Alphabetic}]", r"properties such as \p{Alphabetic}", r"\p{Alphabetic}"),
        (r"\p{scx=Greek}", r"properties such as \p{scx=Greek}", r"\p{scx=Greek}"),
        (r"\P{C}", r"properties such as \p{C}", r"\p{C}"),
    ],
)  # fmt: skip
def test_x1_what_is_not_supported_is_named_and_published(pattern: str, feature: str, published: str) -> None:
    error = refusal(pattern)

    assert error.facts["unsupported"] == feature
    assert error.message == f"Unsupported pattern: {feature} are not supported."
    assert (
        published in (ROOT / "docs" / "limits.md").read_text(encoding="utf-8").split("Not supported are:")[1]
    )


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        # Counts that re2 alone would refuse.
        ("^a{1500}$", "a" * 1500, True),
        ("^a{1500}$", "a" * 1499, False),
        ("^(?:a{40}){40}$", "a" * 1600, True),
        ("^(?:a{40}){40}$", "a" * 1601, False),
        ("^(?:a{40}){0,40}$", "a" * 1560, True),
        ("^(?:ab?){1200,}$", "ab" * 1300, True),
        ("^(?:ab?){1200,}$", "ab" * 1199, False),
        ("^.{0,1000}$", "x" * 1000, True),
        ("^.{0,600}$", "\u00e9" * 600, True),
        ("^.{0,600}$", "\u00e9" * 601, False),
        # Sets that re2 has no memory for, counted.
        (r"^\p{L}{2,200}$", "\u00e9" * 200, True),
        (r"^\p{L}{2,200}$", "\u00e9" * 201, False),
        # Look-around of any length, anywhere.
        (r"(?<=a.*)b", "a__b", True),
        (r"(?<=a.*)b", "__b", False),
        (r"(?<!a.*)b", "a__b", False),
        (r"(?<=(?<!x)a)b", "xab ab", True),
        (r"^(?:(?!ab)[ab])+$", "bba", True),
        (r"^(?:(?!ab)[ab])+$", "bab", False),
        (r"(?=a)*b", "b", True),
        (r"((?<=a))*b", "b", True),
        (r"a(?!.*(?=c)c)", "abc", False),
        (r"^(?=(?:..)*$)(?=(?:...)*$).+$", "a" * 12, True),
        (r"^(?=(?:..)*$)(?=(?:...)*$).+$", "a" * 9, False),
        # Word edges beside characters of several bytes.
        (r"\B", "\u00e9", True),
        (r"^\B.\B$", "\u00e9", True),
        (r"a\Bb", "a\u00e9b", False),
        # Lines.
        ("(?m:^b$)", "a\rb\u2028c", True),
        ("(?m:^b$)", "ab", False),
        ("(?s:a.c)", "a\nc", True),
        ("(?s:a(?-s:.)c)", "a\nc", False),
        # Either case.
        ("(?i:STRA\u00dfE)", "stra\u1e9ee", True),
        ("(?i:[^k])", "\u212a", False),
        (r"(?i:\u0130)", "i", False),
        # Escapes by halves, properties by their long names.
        (r"^\ud83d\ude00$", "\U0001f600", True),
        (r"^[\ud83d\ude00-\ud83d\ude02]$", "\U0001f601", True),
        (r"^\p{Lowercase_Letter}\p{gc=Lu}\p{Script=Greek}$", "aB\u03b1", True),
        (r"^\P{L}$", "1", True),
        (r"^[^\P{L}]$", "a", True),
    ],
)
def test_answers(pattern: str, text: str, expected: bool) -> None:
    assert regex.search(pattern, text, DEFAULT_LIMITS) is expected


@pytest.mark.parametrize("pattern", ["(?<n>a)(?<n>b)", "(?<=a)*b", "a{99999999}b", "(?<!a){2}"])
def test_refused(pattern: str) -> None:
    assert refusal(pattern, "p{L}")


def test_a_search_with_look_around_counts_by_its_steps() -> None:
    paid: set[str] = set()
    regex.price("^(?=.*x).{2,}$", "abc", DEFAULT_LIMITS, paid)

    short = regex.price("^(?=.*x).{2,}$", "abc", DEFAULT_LIMITS, paid)
    long = regex.price("^(?=.*x).{2,}$", "abc" * 3_300, DEFAULT_LIMITS, paid)

    assert 0 < short < 20
    assert long == DEFAULT_LIMITS.regex_slow_steps // 8


def test_steps_with_look_around_have_a_limit() -> None:
    error = refusal(PATTERNS["look-ahead in look-ahead"], TEXTS["one letter"])

    assert error.facts["limit"] == "regex_slow_steps"
