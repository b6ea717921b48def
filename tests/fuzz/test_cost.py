"""Inputs made to be slow: each costs at most 50 ms of an ordinary machine, or what reading its bytes costs."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import orjson
import pytest

from a2ui import A2uiError, Engine
from a2ui.safety import markdown, regex
from a2ui.safety.limits import DEFAULT_LIMITS
from tests.a2ui.programs import call, components, create, data, path, row
from tests.fuzz.cost import BOUND_MS, bound, cost
from tests.shared import caselib, needs_shared, variants

N = 8_000
MARKDOWN = {
    "brackets": "[" * N,
    "links": "[a](" * (N // 4),
    "images": "![[](" * (N // 5),
    "emphasis": "*a_" * (N // 3),
    "strong": "**a**b" * (N // 6),
    "strike": "~~a" * (N // 3),
    "backticks": "".join("`" * n + " " for n in range(1, 125)),
    "quotes": "> a\n" * (N // 4),
    "deep quotes": "\n".join(">" * n for n in range(1, 120)),
    "lists": "".join(" " * (n % 40) + "- a\n" for n in range(300)),
    "entities": "&amp;" * (N // 5),
    "autolinks": "<a@b.c>" * (N // 7),
    "tags": "<a " * (N // 3),
    "table": "|a" * 99 + "\n" + "|-" * 99 + "\n" + "|b" * 3000,
    "references": ("[a]: /x\n\n" + "[a]" * 2600)[:N],
    "headings": "# a\n" * (N // 4),
    "fences": "```\n" * (N // 4),
    "breaks": "a  \n" * (N // 4),
    "everything": "*_`[~<&\\" * (N // 8),
    "blanks": "a" + " " * (N - 2) + "b",
}
PATTERNS = {
    "nested counts": (r"^(a+)+$", "a" * 9_999 + "!"),
    "large counts": ("(a{1,1000}){1,1000}", "a" * 9_999),
    "alternatives": ("|".join("a" * n for n in range(1, 40)), "b" * 9_999),
    "letters": (r"\p{L}*" * 100 + "1", "\u00e9" * 9_999),
    "dots": (".*" * 300 + "x", "a" * 9_999),
    "look-ahead": (r"^(?=x?)(a+)+$", "a" * 9_999 + "!"),
    "back-reference": (r"^(a|aa)+\1$", "a" * 9_999 + "!"),
    "counts behind look-ahead": ("(?=a)" + "(?:a{1,1000}){1,1000}" * 20, "a" * 9_999),
}


@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown(name: str) -> None:
    text = MARKDOWN[name][:N]

    assert cost(lambda: (markdown._render_cached.cache_clear(), markdown.render(text))) <= BOUND_MS


UNITS = [
    '#"',
    ">%",
    ">#",
    '>">',
    '=>"',
    '\t""',
    '"> ',
    ">:",
    ")=[",
    "\n-=",
    " - ",
    "![/",
    "=#=",
    "%)\t",
    "-.*",
    "1)\n",
]
"""The dearest repetitions that `tests.bench.markdown_units` found."""
TEXT_MS = 20.0
MARK_MS = 0.025


@pytest.mark.parametrize("before", ["", "[a](http://a.b) "])
@pytest.mark.parametrize("unit", UNITS)
def test_e6_repetitions_cost_what_they_count_for(unit: str, before: str) -> None:
    for chars in (300, 1_000, N):
        text = before + (unit * chars)[: chars - len(before)]
        counted: list[int] = []

        def read(text: str = text, counted: list[int] = counted) -> None:
            markdown._render_cached.cache_clear()
            markdown.render(text, afford=lambda _, marks: counted.append(marks) or True)

        read()
        allowed = min(TEXT_MS, 1.0 + MARK_MS * (counted[0] if counted else 0))
        assert cost(read, bound=allowed) <= allowed


@pytest.mark.parametrize("unit", ["#", '#"', ">%", "=", "word "])
def test_e6_a_list_of_long_texts_costs_what_its_limit_says(unit: str) -> None:
    """Long texts joined to those of a thousand items: `markdown_work` sees their length."""
    rows = [
        row("root", "List", children={"componentId": "a", "path": "/l"}),
        row("a", "Text", text=call("formatString", value="*${n}* ${/t}")),
    ]
    model = {"l": [{"n": n} for n in range(1_000)], "t": (unit * 7_900)[:7_900]}
    reported = []

    def run() -> None:
        surfaces = Engine().surfaces()
        for message in (create(), data(model), components(*rows)):
            surfaces.apply(message)
        surfaces.flush()
        reported.append({problem.facts.get("limit") for problem in surfaces.diagnostics()})

    assert cost(run, bound=10 * BOUND_MS) <= 10 * BOUND_MS
    assert reported[-1] & {"markdown_work", "html_chars", "work"}


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(name: str) -> None:
    pattern, text = PATTERNS[name]

    def search() -> None:
        with contextlib.suppress(A2uiError):
            regex.search(pattern, text, DEFAULT_LIMITS)

    assert cost(search) <= BOUND_MS


def many(name: str, count: int, **properties: Any) -> list[dict[str, Any]]:
    return [row("root", "Column", children=[name] * count), row(name, **properties)]


def doubling() -> list[dict[str, Any]]:
    rows = [row("root", "Column", children=["d0", "d0"])]
    return [*rows, *[row(f"d{n}", "Column", children=[f"d{n + 1}"] * 2) for n in range(90)]]


CLASSES = r"\p{L}\P{Lu}" * 90

PROGRAMS: dict[str, tuple[list[dict[str, Any]], Any]] = {
    "doubling": (doubling(), None),
    "one child many times": (many("a", 40_000, kind="Text", text="x"), None),
    "wide and deep": (
        [row(f"c{n}" if n else "root", "Column", children=[f"c{n + 1}"] * 500) for n in range(100)],
        None,
    ),
    "a long list many times, and what it takes to look": (
        [
            row("c", "Column", children=["a"] * 20_000),
            row("root", "Column", children=["c"] * 20_000),
            *[row(f"d{n}", "Divider") for n in range(5_000)],
        ],
        None,
    ),
    "nested templates": (
        [
            row("root", "List", children={"componentId": "a", "path": "/l"}),
            row("a", "List", children={"componentId": "b", "path": "/l"}),
            row("b", "List", children={"componentId": "c", "path": "/l"}),
            row("c", "Text", text="x"),
        ],
        {"l": list(range(1000))},
    ),
    "a template that contains itself": (
        [row("root", "List", children={"componentId": "root", "path": "l"})],
        {"l": [{"l": [{"l": [{}] * 50}] * 50}] * 50},
    ),
    "one long text": (many("a", 5000, kind="Text", text="x " * 40_000), None),
    "one long text of the data": (many("a", 5000, kind="Text", text=path("/t")), {"t": "x " * 40_000}),
    "one long expression": (
        many("a", 5000, kind="Text", text=call("formatString", value="${/t}" * 900)),
        {"t": "y" * 1000},
    ),
    "calls": (
        many("a", 5000, kind="Text", text=call("formatNumber", value=path("/n"))),
        {"n": 1234.5},
    ),
    "calls in calls": (
        many("a", 500, kind="Text", text=call("formatString", value="${not(value:" * 80 + "${/n}" + ")}" * 80)),
        {"n": True},
    ),
    "checks with patterns": (
        many(
            "a",
            3000,
            kind="TextField",
            label="L",
            value=path("/v"),
            checks=[{"condition": call("regex", value=path("/v"), pattern=f"^(?=x?)(a+)+{n}$"), "message": "m"}
                    for n in range(50)],
        ),
        {"v": "a" * 9_000 + "!"},
    ),
    "Markdown in every item": (
        [
            row("root", "List", children={"componentId": "a", "path": "/l"}),
            row("a", "Text", text=path("n")),
        ],
        {"l": [{"n": f"{n}" + "*a_" * 300} for n in range(300)]},
    ),
    "large numbers": (
        [row("root", "Text", text=call("formatNumber", value=path("/n"), decimals=100_000))],
        {"n": 10**300},
    ),
    "long date pattern": (
        [row("root", "Text", text=call("formatDate", value="2020-01-01", format="y" * 9_000))],
        None,
    ),
    "JSON in every label": (
        many("a", 2_000, kind="TextField", label=path("/o"), value="x"),
        {"o": {"a": list(range(20_000))}},
    ),
    "JSON in every text": (
        many("a", 2_000, kind="Text", text=call("formatString", value="a${/o}b")),
        {"o": list(range(20_000))},
    ),
    "many lists of one list": (
        [
            row("root", "Column", children=["a"] * 2_000),
            row("a", "List", children={"componentId": "b", "path": "/l"}),
            row("b", "Text", text="x"),
        ],
        {"l": list(range(50_000))},
    ),
    "lists in the items of a list": (
        [
            row("root", "List", children={"componentId": "a", "path": "/l"}),
            row("a", "List", children={"componentId": "b", "path": "/m"}),
            row("b", "Text", text="x"),
        ],
        {"l": list(range(1_000)), "m": list(range(50_000))},
    ),
    "long arguments": (
        many("a", 2_000, kind="Text", text=call("and", values=path("/o"))),
        {"o": [1] * 100_000},
    ),
    "blank numbers": (
        many("a", 2_000, kind="Text", text=call("formatNumber", value=path("/o"))),
        {"o": " " * 1_000_000},
    ),
    "new patterns": (
        [
            row("root", "Column", children=[f"c{n}" for n in range(300)]),
            *[row(f"c{n}", "Text", text=call("regex", value="a", pattern=f"{n}" + CLASSES)) for n in range(300)],
        ],
        None,
    ),
    "date fields": (
        many("a", 2_000, kind="Text", text=call("formatDate", value="2020-01-01", format="Gw" * 120)),
        None,
    ),
    "expressions with faults in the data": (
        [
            row("root", "List", children={"componentId": "a", "path": "/l"}),
            row("a", "Text", text=call("formatString", value=path("."))),
        ],
        {"l": [f"{n}" + "${''}" * 160 + "${" for n in range(1_000)]},
    ),
    "long fields": (
        many("a", 2_000, kind="TextField", label="L", value=path("/t")),
        {"t": "<" * 100_000},
    ),
    "a long choice": (
        many("a", 2_000, kind="ChoicePicker", options=[{"label": "A", "value": "a"}], value=path("/v")),
        {"v": [f"z{n}" for n in range(100_000)]},
    ),
    "messages of checks": (
        many("a", 2_000, kind="TextField", label="L", value=path("/t"),
             checks=[{"condition": False, "message": "m" * 10_000}] * 50),
        {"t": ""},
    ),
    "tabs": (
        [
            row("root", "Tabs", tabs=[{"title": path(f"/t{n}"), "child": "c"} for n in range(20_000)]),
            row("c", "Text", text="x"),
        ],
        {},
    ),
}  # fmt: skip

# A drawing may spend all of its work on patterns, and hold 300 different Markdown texts or 5 MB of one text.
DRAWINGS = {
    "checks with patterns": 6,
    "Markdown in every item": 6,
    "one long text": 10,
    "long fields": 6,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    rows, model = PROGRAMS[name]
    messages = [create(), *([data(model)] if model is not None else []), components(*rows)]
    size = sum(len(orjson.dumps(message)) if name != "large numbers" else 500 for message in messages)
    html = []

    def run() -> None:
        surfaces = Engine().surfaces()
        for message in messages:
            surfaces.apply(message)
        html.append(sum(len(change.html) for change in surfaces.flush()))

    # Up to 8 MB of markup may come of it, 16 of what is nothing but escapes: making that much is bounded, and part of
    # the price.
    allowed = bound(size) + max(DRAWINGS.get(name, 1) - 1, 2) * BOUND_MS
    assert cost(run, bound=allowed) <= allowed
    assert html[-1] <= (16_000_000 if name == "long fields" else 8_000_000)


PATCHES: dict[str, list[dict[str, Any]]] = {
    "copies of everything": [{"op": "copy", "from": "", "path": f"/k{n}"} for n in range(200)],
    "copies to the end": [{"op": "copy", "from": "/a", "path": "/a/-"} for _ in range(250)],
    "from the front": [{"op": "remove", "path": "/a/0"} for _ in range(250)],
    "to the front": [{"op": "add", "path": "/a/0", "value": 1} for _ in range(250)],
    "round and round": [{"op": "move", "from": "/a/0", "path": "/a/-"} for _ in range(250)],
    "tests": [{"op": "test", "path": "/a", "value": list(range(10_000))} for _ in range(100)],
    "far away": [{"op": "add", "path": "/a/999999999999999999999", "value": 1}],
    "too many": [{"op": "add", "path": "/b", "value": 1}] * 100_000,
}


@pytest.mark.parametrize("name", PATCHES)
def test_patches(name: str) -> None:
    surfaces = Engine().surfaces()
    surfaces.apply(create())
    surfaces.apply(
        components(
            row("root", "List", children={"componentId": "t", "path": "/a"}), row("t", "Text", text=path("."))
        )
    )
    surfaces.apply(data({"a": list(range(10_000))}))
    surfaces.flush()
    kept = surfaces.snapshot()

    def run() -> None:
        fresh = Engine().restore(kept)
        with contextlib.suppress(A2uiError):
            fresh.patch("", "s", PATCHES[name])

    idle = cost(lambda: Engine().restore(kept).patch("", "s", []), bound=float("inf"))
    allowed = bound(len(json.dumps(PATCHES[name]))) + idle
    assert cost(run, bound=allowed) <= allowed


@needs_shared
@pytest.mark.shared
@pytest.mark.parametrize(
    ("given", "expected"), [p for p in variants("limits") if p.values[0]["kind"] == "a2ui_generated"]
)
def test_shared_cases(given: dict[str, Any], expected: dict[str, Any]) -> None:
    text = caselib().generate_json(given)

    def run() -> None:
        surfaces = Engine().surfaces()
        for line in text.splitlines():
            with contextlib.suppress(orjson.JSONDecodeError):
                surfaces.apply(orjson.loads(line))
        surfaces.flush()

    allowed = min(bound(len(text)) + BOUND_MS, float(expected["max_ms"]))
    assert cost(run, bound=allowed) <= allowed
