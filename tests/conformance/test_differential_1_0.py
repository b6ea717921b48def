"""The engine and the official Python core on programs made in 1.0.

The core speaks the late candidate, whose components have no @ in their keys; the engine plays the programs as they are
and in that form, and all three have to agree. `tests/long/test_official_cores.py` makes 3,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from a2ui.functions.results import GENERAL
from tests.a2ui.strategies import FUZZ
from tests.conformance.agreeing import agree_on_1_0, ours
from tests.conformance.asking import PYTHON_CORE, Oracle
from tests.conformance.making_1_0 import BASIC_1_0, lowered, programs, said
from tests.conformance.test_differential import PHASES


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    made = Oracle([*PYTHON_CORE, "v1_0"])
    yield made
    made.close()


@settings(max_examples=30 * FUZZ, phases=PHASES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_both_make_the_same_of_a_program_of_1_0(oracle: Oracle, program: list[Any]) -> None:
    agree_on_1_0(oracle, program)


def shown(text: Any, **model: Any) -> list[Any]:
    """One text in a template over `/items`."""
    rows = [
        {"id": "root", "component": "Column", "children": {"componentId": "item", "path": "/items"}},
        {"id": "item", "component": "Text", "text": text},
    ]
    return [
        said(
            "createSurface",
            catalogId=BASIC_1_0,
            components=rows,
            dataModel={"items": [{"name": "N"}], **model},
        )
    ]


def texts(result: list[dict[str, Any]]) -> list[Any]:
    return [one["props"]["text"] for one in result if one["type"] == "Text"]


def test_numbers_in_texts_are_nothing_that_the_core_can_read(oracle: Oracle) -> None:
    text = {"@call": "formatString", "args": {"value": "${@index(offset: 1)}. ${name}"}}

    assert texts(ours(shown(text))["surfaces"]["s"]["nodes"]) == ["1. N"]
    assert texts(oracle.ask(lowered(shown(text)))["nodes"]) == [None]


def test_a_message_of_a_rule_without_words_is_general_here(oracle: Oracle) -> None:
    button = {"id": "root", "component": "CheckBox", "label": "l", "value": True}
    program = [
        said(
            "createSurface",
            catalogId=BASIC_1_0,
            components=[button | {"@checks": [{"condition": {"@path": "/no"}}]}],
        )
    ]

    assert ours(program)["surfaces"]["s"]["nodes"][0]["props"]["validationErrors"] == [GENERAL]
    assert oracle.ask(lowered(program))["nodes"][0]["props"]["validationErrors"] == ["Validation failed"]
