"""Rows outlive the code that wrote them: a conversation opens whatever an application's code, or ours, does now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.basic.text import Text
from a2ui.catalog.kinds import text as text_kind
from a2ui.components import BaseComponent
from a2ui.rendering.build import Build, always
from envelopes.admin.sentences import sentence
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Conversation, Reply, Say, text
from envelopes.registries.catalogs import Own, catalogs
from envelopes.session_state import live_sessions
from envelopes.session_state.engines import engine_for
from envelopes.transports.panel.presenter.provisional import StreamedSurface
from tests.desk import desk

pytestmark = pytest.mark.django_db(transaction=True)

OWN = "https://acme.example/touchy.json"
NOTICE = "This part could not be shown."


class Touchy(BaseComponent):
    """Fails in the stage that is named."""

    name = "Touchy"
    properties = {"title": text_kind}
    stage = ""

    def accept(self, raw: dict[str, Any], where: Any) -> dict[str, Any]:
        self.check("accept")
        return super().accept(raw, where)

    def build(self, build: Build) -> None:
        self.check("build")
        title = always(build.html("title"))

        def render(scope: Any, context: str) -> str:
            self.check("render")
            return f'<div id="{build.id}{context}">{title(scope)}</div>'

        build.done(render)

    @staticmethod
    def check(stage: str) -> None:
        if Touchy.stage == stage:
            raise KeyError("the value 4711")


CATALOG = BASIC_CATALOG_1_0.extended(OWN, components=[Touchy()])


@pytest.fixture(autouse=True)
def own() -> Iterator[None]:
    live_sessions.clear()
    with catalogs.including(Own(OWN, CATALOG)):
        yield
    Touchy.stage = ""
    live_sessions.clear()


def _card(request: ModelRequest) -> Reply:
    rows = [
        {"id": "root", "component": "Column", "children": ["own", "field"]},
        {"id": "own", "component": "Touchy", "title": {"@path": "/t"}},
        {"id": "field", "component": "TextField", "label": "Name", "value": {"@path": "/name"}},
    ]
    shown = {
        "surfaceId": "a",
        "catalogId": OWN,
        "components": rows,
        "dataModel": {"t": "Title", "name": "Ada"},
    }
    part = {"metadata": {"partType": "a2ui-surface"}, "data": {"version": "v1.0", "createSurface": shown}}
    told = text("response", f"Heard {Conversation(request).text}")
    return Reply([Say([told, part] if Conversation(request).text == "show" else [told])])


@pytest.mark.parametrize("stage", ["accept", "build", "render"])
async def test_the_agent_and_staff_are_told_and_people_read_a_notice(stage: str) -> None:
    Touchy.stage = stage
    async with desk(_card) as d:
        await d.say("show")
        html = await d.html()
        assert html.count(NOTICE) == 1
        assert 'value="Ada"' in html
        assert [turn.finalized_by for turn in await d.turns()] == ["complete"]
        (row,) = await d.rows("diagnostic")
        assert row.data["code"] == "COMPONENT_FAILED"
        failed = row.data["failed"]
        assert (failed["component"], failed["catalog"]) == ("own", OWN)
        assert failed["raised"].startswith(f"KeyError at {__name__}:")
        said = sentence(row)
        assert OWN in said
        assert failed["raised"] in said
        assert "4711" not in f"{html}{row.data}{said}"
        (turn,) = await d.turns()
        ((told,),) = [result["ok"]["repaired"] for result in turn.results.values()]
        assert told["code"] == "COMPONENT_FAILED"
        assert "failed" not in told


@pytest.mark.parametrize("stage", ["accept", "build", "render"])
async def test_what_is_in_the_log_opens_after_the_code_has_changed(stage: str) -> None:
    async with desk(_card) as d:
        await d.say("show")
        assert NOTICE not in await d.html()
        Touchy.stage = stage
        live_sessions.clear()
        assert (await d.html()).count(NOTICE) == 1
        await d.edit("a1-2", "Grace")
        await d.say("and now?")
        html = await d.html()
        assert "Heard and now?" in html
        assert 'value="Grace"' in html
        assert [turn.finalized_by for turn in await d.turns()] == ["complete"] * 2
        live_sessions.clear()
        assert await d.html() == html


@pytest.mark.parametrize("stage", ["accept", "build", "render"])
def test_a_preview_shows_the_notice_too(stage: str) -> None:
    Touchy.stage = stage
    rows = [{"id": "root", "component": "Touchy", "title": "x"}]
    message = {
        "version": "v1.0",
        "createSurface": {"surfaceId": "a", "catalogId": OWN, "components": rows},
    }
    preview = StreamedSurface(engine_for("en", "UTC"), "L1")
    preview.take(json.dumps(message) + "\n")

    ((_, _, html),) = preview.whole()
    assert html.count(NOTICE) == 1


async def test_a_fault_of_ours_costs_one_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in definitions, which are read when the conversation is replayed."""

    def broken(*_: Any) -> Any:
        raise RuntimeError("4711")

    def card(request: ModelRequest) -> Reply:
        rows = [{"id": "root", "component": "Text", "text": "a card"}]
        shown = {"surfaceId": "a", "catalogId": BASIC_CATALOG_1_0.id, "components": rows}
        part = {"metadata": {"partType": "a2ui-surface"}, "data": {"version": "v1.0", "createSurface": shown}}
        told = text("response", f"Heard {Conversation(request).text}")
        return Reply([Say([told, part] if Conversation(request).text == "show" else [told])])

    async with desk(card) as d:
        await d.say("show")
        with monkeypatch.context() as patched:
            patched.setattr(Text, "build", broken)
            patched.setattr(Text, "draw", broken)
            live_sessions.clear()
            html = await d.html()
            assert "This card could not be shown." in html
            await d.say("and now?")
            assert "Heard and now?" in await d.html()
        with monkeypatch.context() as patched:
            patched.setattr(Text, "accept", broken)
            live_sessions.clear()
            await d.say("once more")
            html = await d.html()
            assert "Heard once more" in html
            assert "This card couldn’t be shown" in html
        assert "4711" not in html
        live_sessions.clear()
        assert "a card" in await d.html()
