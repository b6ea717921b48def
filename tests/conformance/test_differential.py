"""The engine and the official Python core on programs that hypothesis makes.

A short run belongs to the suite; `BEACH_FUZZ=50 pytest tests/conformance/test_differential.py` is a long one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.a2ui.programs import call, components, create, data, message, path, row
from tests.a2ui.strategies import FUZZ
from tests.conformance.agreeing import agree, ours
from tests.conformance.asking import PYTHON_CORE, Oracle
from tests.conformance.making import CHANGES, MODELS, ROWS


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    made = Oracle(PYTHON_CORE)
    yield made
    made.close()


# Making an example smaller asks the core hundreds of times: only in long runs.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate, *([Phase.shrink] if FUZZ > 1 else [])]


@settings(max_examples=30 * FUZZ, phases=PHASES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, MODELS, CHANGES)
def test_both_make_the_same_of_a_program(oracle, rows, model, changes):
    program = [create(), message("updateComponents", components=rows), data(model), *changes]
    agree(oracle.ask, program)


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
            call("formatNumber", value=1234, decimals=0, grouping=0),
            "1,234",
            None,
            id="grouping that is not exactly false (9.4)",
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
