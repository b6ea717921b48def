"""Resolved trees that the official cores agree on, the shared cases, and the JSON Patch suite."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from a2ui import Engine
from a2ui.programs.tree import run
from tests.a2ui.caserunner import run_case, run_lines
from tests.a2ui.functionrunner import check_row, function_rows
from tests.a2ui.patchrunner import check_case, check_record, community_suite
from tests.conformance.case import Case
from tests.conformance.comparing import same
from tests.shared import SHARED, caselib, json_file, variants

FOLDERS = (
    "components",
    "data-model",
    "messages",
    "inputs",
    "limits",
    "functions",
    "sanitising",
    "json-patch",
)
SAME_TEXT = {"minimal__6_capitalized_text"}
"""capitalize of nothing is the empty text here and null there; both show nothing."""


def _edge(case: dict[str, Any]) -> None:
    assert same(run(Engine().surfaces(), case["program"]), case["result"])


def _example(name: str, expected: dict[str, Any]) -> None:
    catalog, file = expected["example"].split("/")
    program = json_file(f"spec/a2ui/specification/v0_9/catalogs/{catalog}/examples/{file}.json")
    got = run(Engine().surfaces(), program["messages"])
    if name in SAME_TEXT:
        for surface in got["surfaces"].values():
            for node in surface["nodes"]:
                node["props"] = {key: value for key, value in node["props"].items() if value != ""}
    assert same(got, expected["result"])


def _lines(given: dict[str, Any], expected: dict[str, Any]) -> None:
    run_lines(caselib().generate_json(given), expected)


RUNNERS = {"a2ui": run_case, "a2ui_generated": _lines, "patch": check_case}


def cases() -> Iterator[Case]:
    """Tables of functions count by row; kinds of cases that are tables of their own are tested elsewhere."""
    assert SHARED is not None
    for name, case in json_file("spec/a2ui/expected/edge-cases.json").items():
        yield Case("expected/edge-cases", name, partial(_edge, case))
    for file in sorted((SHARED / "spec/a2ui/expected/examples").glob("*.json")):
        expected = json.loads(file.read_text(encoding="utf-8"))
        yield Case("expected/examples", file.stem, partial(_example, file.stem, expected))
    for folder in FOLDERS:
        for param in variants(folder):
            runner = RUNNERS.get(param.values[0]["kind"])
            if runner is not None:
                yield Case(f"shared cases/{folder}", str(param.id), partial(runner, *param.values))
    for param in function_rows():
        yield Case("shared cases/functions", str(param.id), partial(check_row, *param.values))
    for param in community_suite():
        yield Case("json-patch-tests", str(param.id), partial(check_record, *param.values))
