"""Inline catalogs of a site (`BEACH_INLINE_CATALOGS`): found at start, told to agents, drawn by ours; nobody else's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from a2ui.protocol.catalog_ids import BASIC_1_0
from envelopes.checks import registered as checks
from envelopes.providers.scripted import Say, text
from envelopes.session_state.engines import capabilities, engine_for
from envelopes.types import JsonObject
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import TEXT, made
from tests.desk import desk, replies

OWN = "https://shop.example/catalog.json"
DOCUMENT: JsonObject = {
    "catalogId": OWN,
    "protocolVersion": "1.0",
    "components": {"Offer": {"$ref": f"{BASIC_1_0}#/components/Card"}},
}
OFFER = made(row("root", "Offer", child="t", **{"@catalogId": OWN}), TEXT)


@pytest.fixture
def file(tmp_path: Path, settings: Any) -> Path:
    found = tmp_path / "shop.json"
    found.write_text(json.dumps(DOCUMENT))
    settings.BEACH_INLINE_CATALOGS = [str(found)]
    return found


def problems(message: JsonObject) -> list[tuple[str, str]]:
    surfaces = engine_for("en", "UTC").surfaces()
    return [(one.code, one.path) for one in surfaces.apply(message, owner="sally")]


@pytest.mark.usefixtures("file")
def test_surfaces_may_use_them() -> None:
    assert problems(OFFER) == []


def test_without_the_setting_they_are_not_known() -> None:
    assert problems(OFFER) == [("CATALOG_NOT_FOUND", "/components/0/@catalogId")]
    assert capabilities(engine_for("en", "UTC")) is None


@pytest.mark.usefixtures("file")
def test_capabilities_say_what_is_taken_and_that_nobody_else_may_bring_one() -> None:
    engine = engine_for("en", "UTC")
    offered = capabilities(engine)

    assert offered is not None
    assert offered["1.0"]["inlineCatalogs"] == [DOCUMENT]
    assert OWN not in offered["1.0"]["supportedCatalogIds"]
    assert engine.agent_capabilities()["1.0"]["acceptsInlineCatalogs"] is False


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("where", ["inlineCatalogs", "catalogs", "metadata"])
def test_an_agent_brings_none_along_with_its_surface(where: str) -> None:
    other = {**DOCUMENT, "catalogId": "https://agent.example/catalog.json"}
    message = made(row("root", "Offer", child="t", **{"@catalogId": other["catalogId"]}), TEXT)
    given = {"extensions": {"inlineCatalogs": [other]}} if where == "metadata" else [other]
    message["createSurface"][where] = given

    if where == "metadata":
        assert problems(message) == [("CATALOG_NOT_FOUND", "/components/0/@catalogId")]
    else:
        assert problems(message) == [("VALIDATION_FAILED", f"/{where}")]


@pytest.mark.usefixtures("file")
@pytest.mark.django_db(transaction=True)
async def test_a_model_reads_them_when_its_turn_begins() -> None:
    async with desk(replies([Say([text("response", "Hello.")])])) as d:
        await d.say("Hi")

        assert OWN in json.dumps(d.requests[0].messages)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (None, "No such file"),
        ("{", "Expecting property name"),
        (
            json.dumps({**DOCUMENT, "scripts": []}),
            "cannot be used at /scripts: A catalog has no member 'scripts'.",
        ),
        (
            json.dumps({**DOCUMENT, "catalogId": BASIC_1_0}),
            "at /catalogId: There is a catalog of this id already.",
        ),
    ],
)
def test_what_cannot_be_used_is_told_at_start(
    file: Path, tmp_path: Path, settings: Any, written: Any, told: str
) -> None:
    assert checks.inline_catalogs(None) == []
    other = tmp_path / f"{len(told)}.json"
    if written is not None:
        other.write_text(written)
    settings.BEACH_INLINE_CATALOGS = [str(other), str(file)]

    (found,) = checks.inline_catalogs(None)

    assert (found.id, repr(str(other)) in found.msg, told in found.msg) == ("envelopes.E006", True, True)


def test_the_same_file_twice_is_one_too_many(file: Path, settings: Any) -> None:
    settings.BEACH_INLINE_CATALOGS = [str(file), str(file)]

    assert [one.id for one in checks.inline_catalogs(None)] == ["envelopes.E006"]
