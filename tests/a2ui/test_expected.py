"""The resolved trees that the official cores agree on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2ui import Engine
from a2ui.rendering.tree import run
from tests.shared import SHARED, json_file, needs_shared

pytestmark = [pytest.mark.shared, needs_shared]

DEVIATIONS = {
    "comp/self-reference": "a message that closes a cycle is refused, as the shared case of that name asks",
    "comp/cycle": "a message that closes a cycle is refused, as the shared case of that name asks",
    "formatNumber/missing": "absent numbers show as empty text, without error (rulebook 9.4)",
    "formatNumber/big": "integers stay exact (rulebook 6.6)",
    "formatNumber/d-huge": "decimals are clamped to 0 to 20 (rulebook 9.4)",
    "formatNumber/inf": "infinity is no JSON number and never gets into a model (rulebook 6.6)",
    "formatCurrency/missing": "absent numbers show as empty text, without error (rulebook 9.4)",
    "formatDate/value-zero": "a number is epoch milliseconds, 0 too (rulebook 9.4 and the shared date cases)",
    "pluralize/missing": "an absent number takes `other`, without error (rulebook 9.4)",
    "formatString/call-path-prefix": "nothing may follow a path; the name of a function has no slash (rulebook 10)",
    "props/list-style": "unknown properties are ignored and reported (rulebook 5.1)",
}
"""Programs of which the engine makes something else, by design."""

CASES: dict[str, Any] = json_file("spec/a2ui/expected/edge-cases.json") if SHARED else {}
EXAMPLES = sorted((SHARED / "spec/a2ui/expected/examples").glob("*.json")) if SHARED else []

ALSO_ABSENT = {
    "minimal__6_capitalized_text": "capitalize of nothing is the empty text, not null; both show nothing",
}


def comparable(value: Any) -> Any:
    """null and absent count as equal; numbers as far as doubles tell them apart, 0 and -0 are one."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return value + 0.0 if isinstance(value, int | float) and not isinstance(value, bool) else value


def same(got: Any, wanted: Any) -> bool:
    return json.dumps(comparable(got), sort_keys=True) == json.dumps(comparable(wanted), sort_keys=True)


@pytest.mark.parametrize("name", [name for name in CASES if name not in DEVIATIONS])
def test_edge_case(name):
    case = CASES[name]

    got = run(Engine().surfaces(), case["program"])

    assert same(got, case["result"]), got


@pytest.mark.parametrize("name", list(DEVIATIONS))
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
