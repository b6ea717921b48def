"""Runs the shared cases and the community suite of JSON Patch against the engine."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest

from a2ui.data.patch import apply_patch
from a2ui.data.values import equal
from a2ui.errors import PatchError
from a2ui.safety.limits import Limits
from tests.fuzz.cost import cost
from tests.shared import SHARED, caselib, json_file

LIMITS = Limits()


def apply(document: Any, operations: Any, limits: Limits = LIMITS) -> Any:
    return apply_patch(document, operations, limits=limits)


def community_suite() -> list[Any]:
    """Every record that can be run; two copies of one key in an object are no JSON for Python."""
    if SHARED is None:
        return []
    records = []
    for name in ("tests.json", "spec_tests.json"):
        for number, record in enumerate(json_file(f"spec/json-patch-tests/{name}")):
            duplicate = "dup" in json.dumps(record).lower() or "A.13" in record.get("comment", "")
            if "doc" in record and "patch" in record and not (record.get("disabled") and duplicate):
                records.append(pytest.param(record, id=f"{name}:{number}"))
    return records


def check_record(record: dict[str, Any]) -> None:
    """One record of the community suite; the document must stay as it was."""
    before = copy.deepcopy(record["doc"])
    if "error" in record:
        try:
            apply(record["doc"], record["patch"])
        except PatchError:
            pass
        else:
            raise AssertionError(f"accepted, but {record['error']}")
    else:
        result, _ = apply(record["doc"], record["patch"])
        assert equal(result, record.get("expected", result))
    assert equal(record["doc"], before)


def attempt(document: Any, patch: Any) -> None:
    """The patch once more, whatever comes of it."""
    with contextlib.suppress(PatchError):
        apply(document, patch)


def check_case(given_input: dict[str, Any], expected: dict[str, Any]) -> None:
    """One shared case of kind `patch`."""
    document = given_input["doc"]
    before = copy.deepcopy(document)
    patch = (
        given_input["patch"]
        if "patch" in given_input
        else caselib().generate_patch(given_input["patch_generator"])
    )
    try:
        if "apply_to" in given_input:
            models = {name: apply(document, patch)[0] for name in given_input["apply_to"]}
            for name, more in given_input["then_patch"].items():
                models[name], _ = apply(models[name], more)
            assert equal(models, expected["models"])
            return
        result, _ = apply(document, patch)
        outcome, code = "accepted", None
    except PatchError as error:
        result, outcome, code = document, "rejected", error.code

    assert equal(document, before)
    allowed = expected.get("max_ms", 1000)
    assert cost(lambda: attempt(document, patch), bound=allowed) <= allowed
    alternatives = expected.get("any_of", [expected])
    assert any(matches(alternative, outcome, code, result, before) for alternative in alternatives), (
        outcome,
        code,
        result,
    )


def matches(expected: Any, outcome: str, code: Any, result: Any, before: Any) -> bool:
    if outcome != expected["outcome"]:
        return False
    accepted = {expected.get("error", code)}
    if code == "conflict" and expected.get("error") == "test_failed":
        return False
    if "model" in expected:
        model = before if expected["model"] == "unchanged" else expected["model"]
        if not equal(result, model):
            return False
    return bool(code in accepted)
