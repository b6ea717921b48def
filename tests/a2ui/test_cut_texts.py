"""A text that a limit keeps from being made is seen to be missing (R6)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from a2ui import Engine, EngineOptions, Limits
from tests.a2ui.programs import call, components, create, data, path, row, run

pytestmark = pytest.mark.usefixtures("each_version")

AMOUNT = call("formatCurrency", value=path("/n"), currency="USD")
STEP = call("formatString", value="${formatNumber(value: ${/n})} of ${/n} and ${/n}")


def texts(surfaces: Any) -> list[str]:
    """What the texts of the only surface say."""
    return re.findall(r'class="a2-t">([^<]*)</div>', surfaces.flush()[0].html)


@pytest.mark.parametrize(
    ("text", "limits", "limit"),
    [
        (AMOUNT, {"work": 1}, "work"),
        (STEP, {"work": 1}, "work"),
        (call("formatString", value=path("/template")), {"work": 1}, "work"),
        (call("formatString", value="${/n}" * 9), {"expression_parts": 5}, "expression_parts"),
        (call("formatString", value="x" * 30), {"expression_chars": 20}, "expression_chars"),
    ],
)
def test_a_mark_stands_for_it_and_the_agent_is_told(text, limits, limit):
    rows = [row(f"c{n}", "Text", text=text) for n in range(3)]
    root = row("root", "Column", children=[found["id"] for found in rows])
    engine = Engine(EngineOptions(limits=Limits(**limits)))
    surfaces = run(
        create(), data({"n": 5, "template": "${/n}${/n}${/n}"}), components(root, *rows), engine=engine
    )
    assert texts(surfaces)[-1] == "…"
    assert limit in {problem.facts.get("limit") for problem in surfaces.diagnostics()}


def test_what_is_wrong_shows_nothing_and_a_check_beyond_the_limit_fails():
    field = row(
        "f", "TextField", label="F", value=path("/n"),
        checks=[{"condition": call("required", value=path("/n")), "message": "needed"}],
    )  # fmt: skip
    rows = [row("root", "Column", children=["a", "b", "f"]), row("a", "Text", text=call("nowhere")), field]
    rows.append(
        row(
            "b",
            "Text",
            text=call("formatString", value="${formatNumber(value: ${/n})}${formatNumber(value: 1)}"),
        )
    )
    engine = Engine(EngineOptions(limits=Limits(work=2)))
    surfaces = run(create(), data({"n": 5}), components(*rows), engine=engine)
    html = surfaces.flush()[0].html
    assert '<div id="a1-1" class="a2-t"></div>' in html
    assert "needed" in html
