"""Data of a kind that has a surface template is shown by it: one surface a slot, which later data changes (D11)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from a2ui.compose import Button, Column, Surface, Text, TextField, each, event, fn, path
from envelopes.delivery.envelope import envelope_for
from envelopes.delivery.rules import Reader
from envelopes.models import TemplateSurface, Turn
from envelopes.providers.scripted import Call, Say, data, text
from envelopes.registries.slots import Slot
from envelopes.registries.surface_templates import SurfaceTemplate, TemplateContext, surface_templates
from envelopes.registries.tools import Tool, ToolContext
from envelopes.session_state import live_sessions
from envelopes.types import Json, JsonObject
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DRAWING = Reader("peer", surfaces=True)


def stops(found: JsonObject, context: TemplateContext) -> Surface:
    root = Column(
        Text(fn.formatString("Trip to ${/to}")),
        Column(each("/stops", Text(path("name")))),
        TextField("Note", value=path("/note")),
        Button(Text("Book"), event("book", to=path("/to"), slot=context.slot)),
    )
    model = {
        "to": found.get("to", ""),
        "stops": [{"name": name} for name in found.get("stops", ())],
        "note": "",
    }
    return Surface(context.surface_id, root, model)


@contextmanager
def drawn(draw: Any = stops, kind: str = "trip") -> Iterator[None]:
    with surface_templates.including(SurfaceTemplate(kind, draw)):
        yield


def trip(kind: str = "trip", slot: str = "", **found: Json) -> JsonObject:
    more: JsonObject = {"slotKey": slot} if slot else {}
    return data("domain-data", found, dataKind=kind, **more)


def own(surface: str, **metadata: Json) -> JsonObject:
    message = Surface(surface, Text("By the agent")).create()[0]
    return data("a2ui-surface", message, **metadata)


@asynccontextmanager
async def saying(*turns: list[JsonObject], draw: Any = stops, **actor: Any) -> AsyncIterator[Desk]:
    """A conversation in which the agent has said these parts, a turn each."""
    with drawn(draw):
        async with desk(replies(*([Say(parts)] for parts in turns)), **actor) as d:
            for _ in turns:
                await d.say("Go on")
            yield d


async def shown(d: Desk) -> dict[str, Any]:
    """The data models of what is on the page."""

    def read() -> dict[str, Any]:
        with live_sessions.present(d.session, "panel") as view:
            return {surface.id: surface.data_model for surface in view.state.surfaces}

    return await sync_to_async(read)()


async def envelope(d: Desk, reader: Reader = DRAWING) -> list[JsonObject]:
    def read() -> list[JsonObject]:
        turn = Turn.objects.select_related("session").filter(session=d.session).last()
        assert turn is not None
        found: list[JsonObject] = envelope_for(turn, reader)["parts"]
        return found

    return await sync_to_async(read)()


def kinds(parts: list[JsonObject]) -> list[str]:
    return [part["metadata"]["partType"] for part in parts]


async def test_data_is_a_live_surface_in_the_panel_and_a_part_beside_the_data_for_who_draws() -> None:
    async with saying([text("response", "Here."), trip(to="Corfu", stops=["Paxos"])]) as d:
        page = await d.html()
        assert "Trip to Corfu" in page and "Paxos" in page
        # The generic view would have a list of fields.
        assert "a2-data" not in page
        assert await shown(d) == {"data:1:trip": {"to": "Corfu", "stops": [{"name": "Paxos"}], "note": ""}}
        assert kinds(await envelope(d)) == ["response", "domain-data", "a2ui-surface"]
        assert kinds(await envelope(d, Reader("peer"))) == ["response", "domain-data"]
        (row,) = await d.rows("part", "a2ui-surface")
        assert (row.actor, row.data["part"]["metadata"]["template"]) == ("tester", "trip")


async def test_without_a_template_data_is_shown_generically() -> None:
    async with saying([trip("hotels", to="Corfu"), text("response", "Here.")]) as d:
        assert "Corfu" in await d.html()
        assert await d.rows("part", "a2ui-surface") == []


async def test_a_click_on_it_comes_to_the_agent() -> None:
    async with saying([text("response", "Here."), trip(to="Corfu")], [text("response", "Booked.")]) as d:
        page = await d.html()
        await d.act(page.split('class="a2-btn"')[0].rpartition('id="')[2].split('"')[0])
        turns = await d.turns()
    assert turns[-1].trigger["action"]["context"] == {"to": "Corfu", "slot": "trip"}


async def test_later_data_for_the_slot_changes_the_surface_and_leaves_what_was_typed() -> None:
    first = [trip(slot="journey", to="Corfu", stops=["Paxos"]), text("response", "One.")]
    second = [trip(slot="journey", to="Corfu", stops=["Paxos", "Parga"]), text("response", "Two.")]
    with drawn():
        async with desk(replies([Say(first)], [Say(second)])) as d:
            await d.say("Go")
            page = await d.html()
            field = page.split("<input ")[1].split('id="')[1].split('-xi"')[0]
            await d.edit(field, "with children")
            await d.say("Go on")
            rows = await d.rows("part", "a2ui-surface")
            assert len(await shown(d)) == 1
            assert (await shown(d))["slot:journey"] == {
                "to": "Corfu",
                "stops": [{"name": "Paxos"}, {"name": "Parga"}],
                "note": "with children",
            }
            assert [[*message][1] for message in rows[1].data["part"]["data"]["messages"]] == [
                "updateDataModel"
            ]
            assert kinds(await envelope(d)) == ["domain-data", "response", "a2ui-surface"]


async def test_data_of_a_kind_alone_has_a_surface_a_turn() -> None:
    async with saying(
        [trip(to="A"), trip(to="B"), text("response", "a")], [trip(to="C"), text("response", "b")]
    ) as d:
        found = {name: model["to"] for name, model in (await shown(d)).items()}
    assert found == {"data:1:trip": "B", "data:2:trip": "C"}


async def test_a_template_gets_all_that_is_known_of_its_slot() -> None:
    turns = [[trip(slot="j", stops=[name]), text("response", name)] for name in ("Paxos", "Parga")]
    async with saying(*turns, slots=(Slot("trip", strategy="append"),)) as d:
        assert (await shown(d))["slot:j"]["stops"] == [{"name": "Paxos"}, {"name": "Parga"}]


async def test_the_same_data_again_says_nothing_more() -> None:
    async with saying(*[[trip(slot="j", to="Corfu"), text("response", "a")]] * 2) as d:
        assert len(await d.rows("part", "a2ui-surface")) == 1


@pytest.mark.parametrize("order", [0, 1])
async def test_an_agents_own_surface_for_the_slot_suppresses_it(order: int) -> None:
    both = [trip(to="Corfu"), own("mine", dataKind="trip")]
    parts = both if order else both[::-1]
    async with saying([*parts, text("response", "Here.")]) as d:
        assert [*await shown(d)] == ["mine"]


@pytest.mark.parametrize("slot", ["", "journey"])
async def test_an_agents_own_surface_that_comes_later_takes_its_place(slot: str) -> None:
    mine = own("mine", **({"slotKey": slot} if slot else {"dataKind": "trip"}))
    script = replies([Say([trip(slot=slot, to="Corfu")], "awaiting"), Say([mine, text("response", "Here.")])])
    with drawn():
        async with desk(script) as d:
            await d.say("Go")
            assert [*await shown(d)] == ["mine"]
            assert await TemplateSurface.objects.acount() == 0
            assert kinds(await envelope(d)) == ["domain-data", "response", "a2ui-surface"]


async def test_one_for_another_slot_leaves_it() -> None:
    async with saying([trip(to="Corfu"), own("mine", dataKind="hotels"), text("response", "Here.")]) as d:
        assert sorted(await shown(d)) == ["data:1:trip", "mine"]


async def test_the_agents_own_surface_of_a_slot_key_goes_on_showing_it_in_later_turns() -> None:
    first = [own("mine", slotKey="j"), trip(slot="j", to="A"), text("response", "a")]
    async with saying(first, [trip(slot="j", to="B"), text("response", "b")]) as d:
        assert [*await shown(d)] == ["mine"]


def _raises(found: JsonObject, context: TemplateContext) -> Surface:
    raise KeyError("price")


def _elsewhere(found: JsonObject, context: TemplateContext) -> Surface:
    return Surface("elsewhere", Text("a"))


def _reserved(found: JsonObject, context: TemplateContext) -> Surface:
    return Surface(context.surface_id, Button(Text("Approve"), event("beach:approve")))


@pytest.mark.parametrize(
    ("draw", "told"),
    [(_raises, "KeyError: 'price'"), (_elsewhere, "not the surface"), (_reserved, "belongs to the host")],
)
async def test_one_that_is_wrong_is_told_to_staff_and_the_data_is_shown_generically(
    draw: Any, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with saying([trip(to="Corfu"), text("response", "Here.")], draw=draw) as d:
        assert "Corfu" in await d.html()
        assert await shown(d) == {}
        (row,) = await d.rows("diagnostic")
        assert row.audience == "audit"
        assert told in row.data["message"]
        assert row.data["message"].startswith("Template trip: ")
        assert await d.texts() == ["Here."]


async def test_what_the_agent_did_wrong_is_still_its_own() -> None:
    bad = data("a2ui-surface", {"version": "1.0", "createSurface": {}}, dataKind="x")
    script = replies([Say([trip(to="A"), bad])], [Say([text("response", "Sorry.")])])
    with drawn():
        async with desk(script) as d:
            await d.say("Go")
            assert [row.data["error"]["problems"][0]["part"] for row in await d.rows("refused")] == [
                "/parts/1"
            ]
            assert await shown(d) == {}
            assert await TemplateSurface.objects.acount() == 0


async def test_a_surface_of_that_id_that_the_agent_has_made_is_left_alone() -> None:
    async with saying([own("data:1:trip"), text("response", "a"), trip(to="Corfu")]) as d:
        assert await shown(d) == {"data:1:trip": {}}
        assert "By the agent" in await d.html()
        assert [row.data["code"] for row in await d.rows("diagnostic")] == ["TEMPLATE_FAILED"]


class Nothing(BaseModel):
    pass


async def test_data_that_a_tool_emits_while_it_runs_is_shown_by_it_too() -> None:
    async def run(context: ToolContext, args: Nothing) -> Json:
        await context.emit(trip(to="Corfu"))
        await context.emit(trip(to="Paxos"))
        return {}

    with drawn():
        async with desk(
            replies([Call("look", {})], [Say([text("response", "a")])]), Tool("look", "", Nothing, run)
        ) as d:
            await d.say("Go")
            assert (await shown(d))["data:1:trip"]["to"] == "Paxos"


async def test_a_session_reads_the_same_from_its_log() -> None:
    async with saying([trip(slot="j", to="A"), text("response", "a")], [trip(slot="j", to="B")]) as d:
        before = await d.html()
        live_sessions.forget(d.session.pk)
        assert await d.html() == before


async def test_data_that_a_surface_shows_already_are_not_drawn_beside_it() -> None:
    async with saying(*[[trip(slot="j", to="Corfu"), text("response", "a")]] * 2) as d:
        first, second = await d.rows("part", "domain-data")
        assert first.data["drawn"] is second.data["drawn"] is True
        assert "a2-data" not in await d.html()
        live_sessions.clear()
        assert "a2-data" not in await d.html()


async def test_data_whose_template_fails_are_drawn_at_once() -> None:
    def fails(data: JsonObject, context: TemplateContext) -> Surface:
        raise ValueError("no")

    async with saying([trip(slot="j", to="Corfu"), text("response", "a")], draw=fails) as d:
        (row,) = await d.rows("part", "domain-data")
        assert "drawn" not in row.data
        assert "a2-data" in await d.html()


async def test_what_a_surface_refuses_of_a_template_is_kept_and_drawn_at_once() -> None:
    """The surface ends, and what comes later is shown with all that came before."""

    def draws(found: JsonObject, context: TemplateContext) -> Surface:
        return (
            _reserved(found, context) if found.get("stops", [])[-1:] == ["Parga"] else stops(found, context)
        )

    slots = (Slot("trip", key="j", strategy="append"),)
    pieces = [["Paxos"], ["Parga"], ["Lakka"]]
    with drawn(draws):
        async with desk(
            replies(*([Say([trip(stops=one), text("response", "a")])] for one in pieces)), slots=slots
        ) as d:
            await d.say("One")
            assert list(await shown(d)) == ["slot:j"]
            await d.say("Two")
            assert await shown(d) == {}
            assert ["drawn" in row.data for row in await d.rows("part", "domain-data")] == [True, False]
            page = await d.html()
            assert "Parga" in page and "Paxos" in page
            await d.say("Three")
            assert (await shown(d))["slot:j"]["stops"] == [
                {"name": "Paxos"},
                {"name": "Parga"},
                {"name": "Lakka"},
            ]
            live_sessions.forget(d.session.pk)
            assert "Lakka" in await d.html()


@pytest.mark.parametrize("slot", ["", "journey"])
@pytest.mark.parametrize("how", ["passed", "delegated"])
async def test_a_slot_is_one_surface_whoever_has_data_for_it(how: str, slot: str) -> None:
    """With a slot key over turns as well; data of a kind alone goes on in the turn that takes over."""
    named = {"pass_to": "drafter"} if how == "passed" else {"delegate_to": "drafter"}
    begins = Say([text("ack", "a"), trip(slot=slot, to="Corfu", stops=["Paxos"])], how, **named)
    goes_on = Say([text("response", "b"), trip(slot=slot, to="Corfu", stops=["Parga"])])
    ends = Say([text("response", "c"), trip(slot=slot, to="Corfu", stops=["Lakka"])])
    slots = (Slot("trip", strategy="append"),)
    with drawn():
        async with (
            desk(replies([goes_on]), name="drafter", slots=slots),
            desk(replies([begins], [ends]), slots=slots) as d,
        ):
            await d.say("Go")
            await d.quiet()
            said = ["Paxos", "Parga"] if how == "passed" else ["Paxos", "Parga", "Lakka"]
            surface_id = "slot:journey" if slot else "data:1:trip"
            assert {
                name: [stop["name"] for stop in model["stops"]] for name, model in (await shown(d)).items()
            } == {surface_id: said}
            assert {row.actor for row in await d.rows("part", "a2ui-surface")} == {"tester"}
            page = await d.html()
            assert page.count("Trip to Corfu") == 1 and "a2-data" not in page
            live_sessions.forget(d.session.pk)
            assert await d.html() == page


async def test_an_own_surface_of_whoever_takes_over_ends_that_of_the_template() -> None:
    begins = Say([text("ack", "a"), trip(to="Corfu")], "passed", pass_to="drafter")
    goes_on = Say([text("response", "b"), own("mine", dataKind="trip"), trip(to="Paxos")])
    with drawn():
        async with desk(replies([goes_on]), name="drafter"), desk(replies([begins])) as d:
            await d.say("Go")
            await d.quiet()
            assert list(await shown(d)) == ["mine"]
            page = await d.html()
            assert "By the agent" in page and "Trip to" not in page
