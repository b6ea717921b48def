"""What goes to an agent about functions, held against the official schemas of 1.0."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from a2ui.protocol import answers
from tests.a2ui.asking import ask, create, engine, made, path, response
from tests.a2ui.programs import row
from tests.a2ui.test_renderer_calls import call
from tests.conformance.schemas import SPECIFICATION
from tests.shared import SHARED, needs_shared

pytestmark = needs_shared

FOLDERS = {"v1.0": "", "1.0": "derived_1.0/"}
"""By version: the official files, and those that our reading makes of them, as long as the final ones cannot be had."""

_OWN = {
    "$id": "https://a2ui.org/specification/v1_0/catalog.json",
    "$defs": {"anyFunction": {"properties": {"@call": {"type": "string"}, "args": {"type": "object"}}}},
}
"""A catalog of functions that say nothing of their arguments."""


def _without_unicode_classes(schema: Any) -> Any:
    """Python knows no \\p{XID_Start}; the README of the data says to replace these patterns."""
    if isinstance(schema, dict):
        return {
            key: _without_unicode_classes(value)
            for key, value in schema.items()
            if not (key in {"pattern", "patternProperties"} and "XID" in str(value))
        }
    return [_without_unicode_classes(item) for item in schema] if isinstance(schema, list) else schema


@cache
def validator(name: str, version: str) -> Draft202012Validator:
    assert SHARED is not None
    folder = SHARED / SPECIFICATION / "v1_0" / FOLDERS[version] / "json"
    found = {}
    for file in folder.glob("*.json"):
        document = _without_unicode_classes(json.loads(file.read_text(encoding="utf-8")))
        found[f"https://a2ui.org/specification/v1_0/{file.name}"] = Resource.from_contents(
            document, DRAFT202012
        )
    found[_OWN["$id"]] = Resource.from_contents(_OWN, DRAFT202012)
    registry: Registry[Any] = Registry().with_resources(found.items())
    return Draft202012Validator(
        _without_unicode_classes(json.loads((folder / name).read_text(encoding="utf-8"))), registry=registry
    )


def problems(message: Any) -> list[str]:
    checked = validator("renderer_to_agent.json", message["version"])
    return [error.message for error in checked.iter_errors(message)]


@pytest.mark.parametrize("version", ["1.0", "v1.0"])
def test_calls_of_an_agents_functions_are_what_the_schema_says(version: str) -> None:
    surfaces = engine().surfaces()
    text = ask(q=path("/sku"), at={"x": [1, None]})
    surfaces.apply(create(row("root", "Text", text=text), model={"sku": "A1"}) | {"version": version})

    (due,) = made(surfaces)

    (message,) = due.messages
    assert message["version"] == version
    assert problems(message) == []
    assert problems({**message, "callAgentFunction": {**message["callAgentFunction"], "x": 1}}) != []


@pytest.mark.parametrize("version", ["1.0", "v1.0"])
@pytest.mark.parametrize("name", ["total", "sync", "broken", "nope"])
def test_answers_to_agents_are_what_the_schema_says(version: str, name: str) -> None:
    surfaces = engine().surfaces()
    surfaces.apply(call(name, version=version, prices=[1, 2]))

    (message,) = surfaces.renderer_calls.responses()

    assert message["version"] == version
    assert problems(message) == []


@pytest.mark.parametrize("version", ["1.0", "v1.0"])
def test_a_refused_answer_is_an_error_of_its_call(version: str) -> None:
    (problem,) = engine().surfaces().apply(response("nope", version=version, value=1))

    message = answers.error(problem, version)
    assert message is not None
    assert message["error"]["functionCallId"] == "nope"
    assert problems(message) == []
