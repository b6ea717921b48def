"""What a subscriber gets: everything once, in order, with numbers that have no gaps."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes.models import StreamDelivery, StreamView
from envelopes.protocol.rows import Row
from envelopes.providers.scripted import Say, text
from envelopes.registries.transports import SessionFacts
from envelopes.transports.live.presenter.envelopes import Envelopes
from envelopes.transports.live.presenter.pieces import Payload
from tests.desk import replies
from tests.envelopes.transports.live.client import Channel, live

pytestmark = pytest.mark.django_db(transaction=True)

TALK = replies([Say([text("ack", "A moment."), text("response", "Two flights were found. " * 8)])])


async def test_a_turn_comes_as_deliveries_with_numbers() -> None:
    async with live(TALK, pace=4000) as (session, caller):
        channel = await Channel(token=caller.token).open()
        ack = await channel.subscribe(session, appId="tester")
        assert ack["type"] == "ack", ack
        assert ack["payload"]["streamSeq"] == 0
        done = await channel.act(session, "beach:message", {"text": "Hi"})
        assert done["type"] == "ack", done
        await channel.settled()
        await channel.close()

        assert channel.seqs == list(range(1, len(channel.seqs) + 1))
        assert [one["channel"] for one in channel.data if not one["channel"].startswith("_ggui:")] == [
            "beach:message",
            "beach:turn",
            "beach:turn",
            "beach:ack",
            "beach:response",
            "beach:turn",
        ]
        assert [one["payload"]["kind"] for one in channel.on("_ggui:lifecycle")] == [
            "handshake_started",
            "handshake_completed",
            "render_started",
        ]
        deltas = [frame["payload"] for frame in channel.frames if "seq" not in frame["payload"]]
        streamed = "".join(one["payload"]["text"] for one in deltas if one.get("channel") == "beach:response")
        assert "Two flights were found." in streamed
        stored = await sync_to_async(
            lambda: list(StreamDelivery.objects.order_by("seq").values_list("seq", "channel"))
        )()
        assert stored == [(one["seq"], one["channel"]) for one in channel.data]


async def test_whoever_comes_back_goes_on_where_they_were() -> None:
    async with live(TALK) as (session, caller):
        first = await Channel(token=caller.token).open()
        await first.subscribe(session)
        await first.act(session, "beach:message", {"text": "Hi"})
        await first.settled()
        await first.close()
        for cut in range(len(first.seqs) + 1):
            again = await Channel(token=caller.token).open()
            ack = await again.subscribe(session, fromSeq=cut)
            assert ack["payload"]["streamSeq"] == len(first.seqs)
            assert "replayTruncated" not in ack["payload"]
            if cut < len(first.seqs):
                await again.until(lambda frame: frame["payload"].get("seq") == len(first.seqs))
            await again.pong()
            await again.close()
            assert again.data == first.data[cut:]
        views = await sync_to_async(StreamView.objects.count)()
        assert views == 1


async def test_a_fresh_subscriber_gets_the_servers_own_channels_only() -> None:
    async with live(TALK) as (session, caller):
        first = await Channel(token=caller.token).open()
        await first.subscribe(session)
        await first.act(session, "beach:message", {"text": "Hi"})
        await first.settled()
        await first.close()
        again = await Channel(token=caller.token).open()
        await again.subscribe(session)
        lifecycle = first.on("_ggui:lifecycle")
        await again.until(lambda frame: frame["payload"].get("seq") == lifecycle[-1]["seq"])
        await again.pong()
        assert again.data == lifecycle
        await again.act(session, "beach:message", {"text": "More"})
        await again.settled()
        await again.close()
        live_ones = [seq for seq in again.seqs if seq > len(first.seqs)]
        assert live_ones == list(range(len(first.seqs) + 1, 2 * len(first.seqs) + 1))


def test_nobody_is_at_work_while_an_actor_that_was_asked_waits_for_a_person() -> None:
    presenter = Envelopes("s", {})

    def turn(number: int, status: str, **more: Any) -> None:
        data = {"turnId": f"t{number}", "number": number, "actor": "a", "status": status, **more}
        presenter.apply(Row(1, "turn", datetime.now(UTC), data, actor="a", turn=number), [], 0)

    turn(1, "waiting")
    assert presenter.busy
    turn(2, "running", delegatedFrom=1)
    assert presenter.busy
    turn(2, "suspended", delegatedFrom=1)
    assert not presenter.busy
    facts = SessionFacts("s", "en", "UTC")
    assert not Envelopes.of(facts, presenter.snapshot()).busy


@pytest.mark.parametrize(
    ("status", "kinds"),
    [
        ("queued", ["handshake_started"]),
        ("running", ["handshake_completed", "render_started"]),
        ("suspended", ["consume_polling"]),
        ("waiting", ["consume_polling"]),
    ],
)
def test_each_of_the_four_kinds_of_lifecycle_stands_beside_the_turn_that_it_tells_of(
    status: str, kinds: list[str]
) -> None:
    turn = {"turnId": "t1", "number": 1, "actor": "a", "status": status, "reason": "new", "attempt": 1}
    made = Envelopes("s", {}).apply(Row(1, "turn", datetime.now(UTC), turn, actor="a", turn=1), [], 0)
    assert isinstance(made, Payload)
    first, *others = [json.loads(piece.envelope + "}") for piece in made.pieces]
    assert first["payload"]["status"] == status
    assert {one["channel"] for one in others} == {"_ggui:lifecycle"}
    assert [one["payload"]["kind"] for one in others] == kinds
