"""Not every response carries all three canonical parts (envelope document, "Partial envelopes"): each of its six kinds,
on both classes of transports, for a person and for a peer that takes everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import pytest
from asgiref.sync import sync_to_async

from envelopes.delivery.envelope import envelope_for, partial_envelope_for
from envelopes.delivery.rules import Reader
from envelopes.errors import Conflict
from envelopes.models import Turn
from envelopes.providers.scripted import Call, Say, data, text
from envelopes.registries.transports import Connection
from envelopes.types import JsonObject
from tests import factories
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

STREAMING, BUFFERED = Connection("", "streaming"), Connection("", "buffered")
PERSON = Reader(surfaces=True)
PEER = Reader("peer", consumes=frozenset({"llm-context"}), surfaces=True)
Who = Literal["person", "peer"]


def _surface(surface_id: str = "flights") -> JsonObject:
    root = {"id": "root", "component": "Text", "text": "BA 2043"}
    return data(
        "a2ui-surface",
        {
            "messages": [
                {"version": "v0.9", "createSurface": {"surfaceId": surface_id, "catalogId": "basic"}},
                {"version": "v0.9", "updateComponents": {"surfaceId": surface_id, "components": [root]}},
            ]
        },
    )


DATA = data("domain-data", {"flights": []}, dataKind="flights")
CONTEXT = text("llm-context", "The later one costs twice as much.")
RESPONSE = text("response", "Two flights.")


class Kind(NamedTuple):
    """What is said, and the types of the parts that each reader gets: by streaming and by buffered transports."""

    said: Sequence[Any]
    state: str
    streaming: dict[Who, list[str]]
    buffered: dict[Who, list[str]]


def _same(person: list[str], peer: list[str]) -> dict[Who, list[str]]:
    return {"person": person, "peer": peer}


SETTLED = {
    "a conversational turn with no data": Kind(
        [RESPONSE], "complete", _same(["response"], ["response"]), _same(["response"], ["response"])
    ),
    "a clarification": Kind(
        [text("clarify", "Gatwick or Heathrow?"), DATA],
        "clarifying",
        _same(["clarify"], ["clarify"]),
        _same(["clarify"], ["clarify"]),
    ),
    "data without a surface": Kind(
        [RESPONSE, DATA, CONTEXT],
        "complete",
        _same(["response", "domain-data"], ["response", "domain-data", "llm-context"]),
        _same(["response", "domain-data"], ["response", "domain-data", "llm-context"]),
    ),
    "a turn for the local UI alone": Kind(
        [RESPONSE, DATA, CONTEXT, _surface()],
        "complete",
        _same(
            ["response", "domain-data", "a2ui-surface"],
            ["response", "domain-data", "llm-context", "a2ui-surface"],
        ),
        _same(
            ["response", "domain-data", "a2ui-surface"],
            ["response", "domain-data", "llm-context", "a2ui-surface"],
        ),
    ),
}


def _types(envelope: JsonObject) -> list[str]:
    return [part["metadata"]["partType"] for part in envelope["parts"]]


def _each(kind: Kind) -> list[tuple[Connection, Reader, list[str]]]:
    return [
        (connection, reader, wanted[who])
        for connection, wanted in ((STREAMING, kind.streaming), (BUFFERED, kind.buffered))
        for who, reader in (("person", PERSON), ("peer", PEER))
    ]


@pytest.mark.parametrize("name", SETTLED)
async def test_a_settled_turn(name: str) -> None:
    kind = SETTLED[name]
    async with desk(replies([Say(kind.said, kind.state)])) as d:
        await d.say("Find flights")
        (turn,) = await d.turns()
        for connection, reader, wanted in _each(kind):
            envelope = await sync_to_async(envelope_for)(turn, reader, connection=connection)
            assert _types(envelope) == wanted, (name, connection, reader)
            assert envelope["meta"]["finalizedBy"] == kind.state


REFUND = Call("refund", {"order": "A17", "amount": 40.0, "note": ""})


async def test_a_suspended_turn_pauses_at_its_request_and_has_no_end() -> None:
    script = replies(
        [Say([RESPONSE, DATA, CONTEXT, _surface()], "awaiting"), REFUND], [Say([text("response", "Paid.")])]
    )
    async with desk(script, factories.make_tool()) as d:
        await d.say("Pay it back")
        (turn,) = await d.turns()
        with pytest.raises(Conflict):
            await sync_to_async(envelope_for)(turn)
        # The question has a surface of its own, for who draws.
        asked = ["a2ui-surface", "approval-request"]
        both = ["response", "domain-data", "a2ui-surface", *asked]
        peers = ["response", "domain-data", "llm-context", "a2ui-surface", *asked]
        kind = Kind([], "", _same(both, peers), _same(both, peers))
        for connection, reader, wanted in _each(kind):
            envelope = await sync_to_async(partial_envelope_for)(turn, reader, connection=connection)
            assert _types(envelope) == wanted, (connection, reader)
            assert "finalizedBy" not in envelope["meta"] and envelope["role"] == "agent"
            assert envelope["meta"].keys() == {"sessionId", "turnId", "producedAt"}
        approval = (await d.approvals())[0]
        assert envelope["parts"][-1]["data"]["approvalId"] == approval.approval_id

        await d.decide("granted")
        (turn,) = await d.turns()
        settled = await sync_to_async(envelope_for)(turn, PERSON)
        assert _types(settled) == ["response", "domain-data", "response", "a2ui-surface"]


async def test_what_has_been_answered_is_no_question_any_more() -> None:
    calls = [REFUND, Call("refund", {"order": "B2", "amount": 1.0, "note": ""})]
    async with desk(replies(calls, [Say([text("response", "Done.")])]), factories.make_tool()) as d:
        await d.say("Pay both back")
        (turn,) = await d.turns()
        asked = await sync_to_async(partial_envelope_for)(turn)
        assert [part["data"]["args"]["order"] for part in asked["parts"]] == ["A17", "B2"]
        await d.decide("denied", which=0)
        asked = await sync_to_async(partial_envelope_for)(await Turn.objects.aget())
        assert [part["data"]["args"]["order"] for part in asked["parts"]] == ["B2"]


async def test_a_turn_that_only_reports_its_progress() -> None:
    """Streaming readers see it; to the others it says nothing, and that is an envelope too."""
    steps = [Say([data("progress", {"id": "a", "label": "Reading", "current": 1, "total": 3})], "awaiting")]
    ends = [Say([data("progress", {"id": "a", "status": "done"})])]
    script = replies([*steps, REFUND], ends)
    async with desk(script, factories.make_tool()) as d:
        await d.say("Research")
        (turn,) = await d.turns()
        asked = ["a2ui-surface", "approval-request"]
        shown = ["progress", *asked]
        kind = Kind([], "", _same(shown, shown), _same(asked, asked))
        for connection, reader, wanted in _each(kind):
            envelope = await sync_to_async(partial_envelope_for)(turn, reader, connection=connection)
            assert _types(envelope) == wanted

    async with desk(replies(steps, ends)) as d:
        await d.say("Research")
        (turn,) = await d.turns()
        buffered = await sync_to_async(envelope_for)(turn, PERSON, connection=BUFFERED)
        streaming = await sync_to_async(envelope_for)(turn, PERSON, connection=STREAMING)
        assert (_types(buffered), _types(streaming)) == ([], ["progress", "progress"])
        assert buffered["meta"]["finalizedBy"] == "complete"
