"""The resolved trees that the official cores agree on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2ui import Engine
from a2ui.programs.tree import run
from tests.conformance.comparing import same
from tests.conformance.deviations import EDGE_CASES
from tests.shared import SHARED, json_file, needs_shared

pytestmark = [pytest.mark.shared, needs_shared]

CASES: dict[str, Any] = json_file("spec/a2ui/expected/edge-cases.json") if SHARED else {}
EXAMPLES = sorted((SHARED / "spec/a2ui/expected/examples").glob("*.json")) if SHARED else []

ALSO_ABSENT = {
    "minimal__6_capitalized_text": "capitalize of nothing is the empty text, not null; both show nothing",
}


@pytest.mark.parametrize("name", [name for name in CASES if name not in EDGE_CASES])
def test_edge_case(name):
    case = CASES[name]

    got = run(Engine().surfaces(), case["program"])

    assert same(got, case["result"]), got


@pytest.mark.parametrize("name", list(EDGE_CASES))
def test_deviation_still_deviates(name):
    assert not same(run(Engine().surfaces(), CASES[name]["program"]), CASES[name]["result"])


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example(file):
    expected = json.loads(file.read_text(encoding="utf-8"))
    catalog, name = expected["example"].split("/")
    program = json_file(f"spec/a2ui/specification/v0_9/catalogs/{catalog}/examples/{name}.json")

    got = run(Engine().surfaces(), program["messages"])

    if file.stem in ALSO_ABSENT:
        for surface in got["surfaces"].values():
            for node in surface["nodes"]:
                node["props"] = {key: value for key, value in node["props"].items() if value != ""}
    assert same(got, expected["result"])
