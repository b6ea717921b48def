"""Data that several actors find in one turn, or hand on: cited, merged and drawn as those of one (D10, D11)."""

from __future__ import annotations

from typing import Any

import pytest

from a2ui.compose import Column, Surface, Text, each, path
from envelopes.models import Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Conversation, Reply, Say, data, text
from envelopes.registries.slots import Slot
from envelopes.registries.surface_templates import SurfaceTemplate, TemplateContext, surface_templates
from envelopes.turns import delegating
from envelopes.types import JsonObject
from tests.desk import Desk, Script, desk, replies
from tests.envelopes.turns.test_citing import cite
from tests.envelopes.turns.test_templates import shown

pytestmark = pytest.mark.django_db(transaction=True)

APPENDED = (Slot("stops", strategy="append"),)


def stops(*names: str, **metadata: Any) -> JsonObject:
    return data("domain-data", {"stops": [{"name": name} for name in names]}, dataKind="stops", **metadata)


def host(first: list[JsonObject], then: list[JsonObject]) -> Script:
    """Says something and asks the drafter; says more when that has answered."""

    def script(request: ModelRequest) -> Reply:
        heard = any(entry.kind == delegating.INJECTION for entry in Conversation(request).injections)
        return Reply([Say(then)] if heard else [Say(first, "delegated", delegate_to="drafter")])

    return script


async def unbound(d: Desk) -> list[Any]:
    return [row.data.get("unbound") for row in await d.rows("part", "citation")]


async def test_who_is_asked_may_cite_what_the_turn_has_found_and_what_it_finds_itself() -> None:
    drafter = replies(
        [Say([stops("Paxos"), text("ack", "Looking."), cite(path="/a", title="T")], "awaiting")],
        [Say([text("response", "One."), cite(path="/stops/0", title="U", dataKind="stops")])],
    )
    first = [data("domain-data", {"a": 1}), text("ack", "I ask.")]
    then = [text("response", "Done."), cite(path="/stops/0/name", title="V")]
    async with desk(drafter, name="drafter"), desk(host(first, then)) as d:
        await d.say("Where to?")
        await d.quiet()
        assert [turn.finalized_by for turn in await d.turns()] == ["complete", "complete"]
        assert await unbound(d) == [None, None, None]


async def test_a_citation_is_about_what_has_come_together_in_its_slot() -> None:
    script = replies(
        [Say([stops("Paxos", "Parga"), text("ack", "Two so far.")], "awaiting")],
        [
            Say(
                [
                    stops("Corfu"),
                    text("response", "Three."),
                    cite(path="/stops/2/name", title="T", dataKind="stops"),
                    cite(path="/stops/3/name", title="U", dataKind="stops"),
                ]
            )
        ],
    )
    async with desk(script, slots=APPENDED) as d:
        await d.say("Where to?")
        first, second = await unbound(d)
        assert first is None and "/stops/3/name" in second


async def test_pieces_of_who_was_asked_are_sent_whole_where_they_are_read() -> None:
    drafter = replies([Say([stops("Paxos"), stops("Parga"), text("response", "Two.")])])
    talk = host([text("ack", "I ask.")], [text("response", "Done.")])
    async with desk(drafter, name="drafter", slots=APPENDED), desk(talk) as d:
        await d.say("Where to?")
        await d.quiet()
        last = (await d.rows("part", "domain-data"))[-1]
        assert last.turn == 1
        assert last.data["part"]["data"] == {"stops": [{"name": "Paxos"}, {"name": "Parga"}]}
        assert last.data["part"]["metadata"]["mergeStrategy"] == "replace"


def _drawn(found: JsonObject, context: TemplateContext) -> Surface:
    return Surface(context.surface_id, Column(each("/stops", Text(path("name")))), found)


def own(surface: str, **metadata: Any) -> JsonObject:
    return data("a2ui-surface", Surface(surface, Text("By the agent")).create()[0], **metadata)


async def test_a_surface_of_ones_own_suppresses_the_template_in_the_turn_of_who_asked_as_well() -> None:
    drafter = replies(
        [Say([own("mine", dataKind="stops"), text("ack", "One moment.")], "awaiting")],
        [Say([stops("Paxos"), text("response", "One.")])],
    )
    talk = host([text("ack", "I ask.")], [text("response", "Done.")])
    with surface_templates.including(SurfaceTemplate("stops", _drawn)):
        async with desk(drafter, name="drafter"), desk(talk) as d:
            await d.say("Where to?")
            await d.quiet()
            assert set(await shown(d)) == {"mine"}


@pytest.mark.parametrize("state", ["passed", "delegated"])
async def test_a_template_gets_what_another_actor_has_found_for_the_slot(state: str) -> None:
    more = replies([Say([stops("Parga", slotKey="trip"), text("response", "Two.")])])
    first = [stops("Paxos", slotKey="trip"), text("ack", "The drafter knows more.")]
    talk = host(first, [text("response", "Done.")])
    if state == "passed":
        talk = replies([Say(first, "passed", pass_to="drafter")])
    with surface_templates.including(SurfaceTemplate("stops", _drawn)):
        async with desk(more, name="drafter", slots=APPENDED), desk(talk, slots=APPENDED) as d:
            await d.say("Where to?")
            await d.quiet()
            assert await Turn.objects.filter(session=d.session).acount() == 2
            assert (await shown(d))["slot:trip"] == {"stops": [{"name": "Paxos"}, {"name": "Parga"}]}
