"""The converter against the official files: what it writes is valid, and both forms of 1.0 are one to it."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from a2ui import Engine, EngineOptions
from a2ui.programs.conversion import convert
from a2ui.programs.reading import read_program
from tests.conformance.schemas import SPECIFICATION, valid
from tests.shared import SHARED, needs_shared

EXAMPLES = "catalogs/basic/examples"


def _examples(*folder: str) -> dict[str, Any]:
    if SHARED is None:
        return {}
    files = sorted(SHARED.joinpath(SPECIFICATION, *folder, EXAMPLES).glob("*.json"))
    return {file.stem: read_program(file.read_text(encoding="utf-8")) for file in files}


FINAL = _examples("v1_0", "derived_1.0")
CANDIDATE = _examples("v1_0")
OLDER = _examples("v0_9_1")


@cache
def _validator() -> Draft202012Validator:
    """The messages of 1.0 from an agent, with the Basic Catalog (`derived_1.0`: see the readme of the data)."""
    assert SHARED is not None
    folder = SHARED / SPECIFICATION / "v1_0" / "derived_1.0"
    base = "https://a2ui.org/specification/v1_0"

    def load(name: str) -> dict[str, Any]:
        # Python's `re` has no XID classes.
        text = (folder / name).read_text(encoding="utf-8")
        text = text.replace("\\\\p{XID_Start}", "a-zA-Z").replace("\\\\p{XID_Continue}", "a-zA-Z0-9_")
        loaded: dict[str, Any] = json.loads(text)
        return loaded

    documents = {
        f"{base}/{file.name}": load(f"json/{file.name}") for file in (folder / "json").glob("*.json")
    }
    catalog = {**load("catalogs/basic/catalog.json"), "$id": f"{base}/catalog.json"}
    documents |= {f"{base}/catalog.json": catalog, f"{base}/catalogs/basic/catalog.json": catalog}
    registry: Registry[Any] = Registry().with_resources(
        (name, Resource.from_contents({**document, "$id": name}, DRAFT202012))
        for name, document in documents.items()
    )
    main = {**documents[f"{base}/agent_to_renderer.json"], "$id": f"{base}/agent_to_renderer.json"}
    return Draft202012Validator(main, registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)


def _problems(messages: list[Any]) -> list[str]:
    return [
        f"{index}: {list(error.absolute_path)}: {error.message[:200]}"
        for index, message in enumerate(messages)
        for error in _validator().iter_errors(message)
    ]


def _html(program: list[Any]) -> list[str]:
    surfaces = Engine(EngineOptions()).surfaces()
    for message in program:
        surfaces.apply(message)
    return [surface.html() for surface in surfaces]


@needs_shared
def test_there_are_examples() -> None:
    assert len(FINAL) == len(CANDIDATE) == 22
    assert len(OLDER) == 18


@pytest.mark.parametrize("name", sorted(CANDIDATE))
def test_the_candidate_s_example_becomes_the_final_one(name: str) -> None:
    done = convert(CANDIDATE[name], "1.0")
    assert done.lossless
    assert done.messages == FINAL[name]
    assert convert(FINAL[name], "1.0").messages == FINAL[name]


@pytest.mark.parametrize("name", sorted(FINAL))
def test_an_example_of_1_0_is_valid_in_v0_9_1(name: str) -> None:
    done = convert(FINAL[name], "0.9.1")
    assert all(valid(message) for message in done.messages)
    again = convert(done.messages, "1.0")
    if done.lossless and len(done.messages) == len(FINAL[name]):
        assert again.messages == FINAL[name]


@pytest.mark.parametrize("name", sorted(OLDER))
def test_an_example_of_v0_9_1_is_valid_in_1_0_and_draws_the_same_when_it_is_back(name: str) -> None:
    there = convert(OLDER[name], "1.0")
    assert not _problems(there.messages)
    back = convert(there.messages, "0.9.1")
    assert all(valid(message) for message in back.messages)
    assert not [note for note in [*there.notes, *back.notes] if note.kind != "rewritten"], there.notes
    if not any("Markdown" in note.text for note in there.notes):
        assert _html(back.messages) == _html(OLDER[name])


@pytest.mark.parametrize("name", sorted(FINAL))
def test_an_example_draws_the_same_in_every_form(name: str) -> None:
    final = _html(FINAL[name])
    assert _html(CANDIDATE[name]) == final
    assert list(map(_unjudged, _html(convert(FINAL[name], "0.9.1").messages))) == list(map(_unjudged, final))


@pytest.mark.parametrize("name", sorted(OLDER))
def test_an_example_without_headings_draws_the_same_in_1_0(name: str) -> None:
    program = _without_headings(OLDER[name])
    assert list(map(_unjudged, _html(convert(program, "1.0").messages))) == list(
        map(_unjudged, _html(program))
    )


def _unjudged(html: str) -> str:
    """Without what a failed check says: in 1.0 the result of a function may have words of its own."""
    return re.sub(r'<p class="a2-error.*?</p>', "", html)


def _without_headings(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_headings(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = value.get("component") == "Text" and value.get("variant") in ("h1", "h2", "h3", "h4", "h5")
    return {key: _without_headings(item) for key, item in value.items() if not (plain and key == "variant")}
