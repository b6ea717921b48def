"""The engine and the official Python core on programs that hypothesis makes.

A short run belongs to the suite; `BEACH_FUZZ=50 pytest tests/conformance/test_differential.py` is a long one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from a2ui import Engine, EngineOptions
from a2ui.programs.tree import run
from tests.a2ui.programs import call, components, create, data, message, path, row
from tests.a2ui.strategies import FUZZ
from tests.conformance.comparing import comparable
from tests.conformance.making import CHANGES, MODELS, ROWS

UNRESOLVED = {"accessibility", "tabs", "options"}
"""The official Python core leaves what is dynamic inside of these as it is; its JavaScript sibling does not."""


class Oracle:
    """The official core, asked line by line."""

    def __init__(self) -> None:
        script = str(Path(__file__).with_name("oracle.py"))
        self._process = subprocess.Popen(
            [sys.executable, "-I", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def ask(self, program: list[Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(program) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=10)


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    made = Oracle()
    yield made
    made.close()


def node(raw: dict[str, Any]) -> dict[str, Any]:
    """What is compared of a node."""
    found = {key: raw[key] for key in ("at", "id", "scope", "type", "state") if key in raw}
    props = {name: value for name, value in raw.get("props", {}).items() if name not in UNRESOLVED}
    if "validationErrors" in props:
        # A message without text is nothing that anybody could be shown; the core leaves it out.
        props["validationErrors"] = [text for text in props["validationErrors"] if text]
    # Absent numbers are empty text here and null there (9.4); both show nothing.
    found["props"] = {name: value for name, value in props.items() if value not in ("", None)}
    action = raw.get("action")
    if action:
        found["action"] = {"name": action["name"], "context": without_nothing(action["context"])}
    return comparable(found)


def without_nothing(context: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in context.items() if value not in ("", None)}


def ours(program: list[Any], **options: Any) -> dict[str, Any]:
    return run(Engine(EngineOptions(**options)).surfaces(), program)


# Making an example smaller asks the core hundreds of times: only in long runs.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate, *([Phase.shrink] if FUZZ > 1 else [])]


@settings(max_examples=60 * FUZZ, phases=PHASES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, MODELS, CHANGES)
def test_both_make_the_same_of_a_program(oracle, rows, model, changes):
    program = [create(), message("updateComponents", components=rows), data(model), *changes]
    mine = ours(program)
    theirs = oracle.ask(program)
    assert "crash" not in theirs, theirs
    refused = set(mine["errors"]) | set(theirs["errors"])
    if mine["errors"] != theirs["errors"]:
        explain(program, mine["errors"], theirs["errors"])
        # What one of them refused must not be there for the other: again without it.
        program = [one for position, one in enumerate(program) if position not in refused]
        mine, theirs = ours(program), oracle.ask(program)
        assume(not mine["errors"] and not theirs["errors"])
    surface = mine["surfaces"]["s"]
    assert comparable(surface["dataModel"]) == comparable(theirs["dataModel"])
    assert [node(one) for one in surface["nodes"]] == [node(one) for one in theirs["nodes"]]


def explain(program: list[Any], mine: list[int], theirs: list[int]) -> None:
    """Only ours refuses: what closes a cycle. Only theirs: calls nested deeper than five, as in strict mode."""
    for position in set(mine) ^ set(theirs):
        assert "updateComponents" in program[position], program[position]
        if position in theirs:
            assert position in ours(program, strict=True)["errors"]


@pytest.mark.parametrize(
    ("value", "mine", "theirs"),
    [
        pytest.param(call("formatNumber", value=0.5, decimals=0), "1", "0", id="half away from zero (9.4)"),
        pytest.param(call("formatNumber", value=path("/none")), "", None, id="absent numbers (9.4)"),
        pytest.param(
            call("formatCurrency", value=5, currency="JPY"),
            "¥5",
            "¥5.00",
            id="decimals of the currency (9.4)",
        ),
        pytest.param(
            call("formatString", value=["ü"]),
            '["ü"]',
            None,
            id="JSON with characters as they are (7.3)",
        ),
        pytest.param(
            call("formatNumber", value=2**63 + 1, decimals=0),
            "9,223,372,036,854,775,809",
            None,
            id="exact (6.6)",
        ),
    ],
)
def test_explained_differences_are_still_there(oracle, value, mine, theirs):
    program = [create(), components(row("root", "Text", text=value))]

    said = oracle.ask(program)["nodes"][0]["props"]["text"]

    assert ours(program)["surfaces"]["s"]["nodes"][0]["props"]["text"] == mine
    assert said != mine if theirs is None else said == theirs


def test_bindings_inside_tabs_options_and_accessibility_are_left_alone_by_the_core(oracle):
    label = {"accessibility": {"label": path("/n")}}
    program = [create(), data({"n": "N"}), components(row("root", "Divider", **label))]

    assert oracle.ask(program)["nodes"][0]["props"]["accessibility"] == {"label": {"path": "/n"}}
    assert ours(program)["surfaces"]["s"]["nodes"][0]["props"]["accessibility"] == {
        "label": "N",
        "description": None,
    }


@pytest.mark.parametrize(
    ("condition", "model"),
    [
        pytest.param(path("/list"), {"list": []}, id="an empty list is true (9.3)"),
        pytest.param(path("/o"), {"o": {}}, id="an empty object is true (9.3)"),
        pytest.param(path("."), {"x": 1}, id="a dot is the scope itself (7.4)"),
    ],
)
def test_conditions_that_the_core_takes_for_false(oracle, condition, model):
    field = row("root", "TextField", label="L", checks=[{"condition": condition, "message": "m"}])
    program = [create(), data(model), components(field)]

    assert oracle.ask(program)["nodes"][0]["props"]["isValid"] is False
    assert ours(program)["surfaces"]["s"]["nodes"][0]["props"]["isValid"] is True


def test_null_is_stored_and_not_a_deletion(oracle):
    program = [create(), data({"a": 1}), data(None, "/a")]

    assert oracle.ask(program)["dataModel"] == {}
    assert ours(program)["surfaces"]["s"]["dataModel"] == {"a": None}
