"""A model's thinking becomes a part that never leaves the server (respond() document, "reasoning-trace")."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client

from envelopes.delivery.envelope import envelope_for
from envelopes.delivery.rules import Reader
from envelopes.models import Event, Turn
from envelopes.providers.scripted import Say, Think, text
from envelopes.registries.transports import Connection
from envelopes.turns.reply import traced
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = [Think("SECRET-THOUGHT about Corfu"), Say([text("response", "Two flights.")])]


async def _desk_page(d: Desk) -> str:
    staff = await sync_to_async(User.objects.create_superuser)("ruth")
    client = Client()
    await sync_to_async(client.force_login)(staff)
    answer = await sync_to_async(client.get)(f"/admin/envelopes/session/{d.session.pk}/change/")
    turn = (await d.turns())[0]
    of_turn = await sync_to_async(client.get)(f"/admin/envelopes/turn/{turn.pk}/change/")
    seq = (
        await Event.objects.filter(session=d.session, part_type="reasoning-trace")
        .values_list("seq", flat=True)
        .afirst()
    )
    raw = (
        await sync_to_async(client.get)(f"/admin/envelopes/session/{d.session.pk}/events/{seq}/")
        if seq
        else None
    )
    pages = [answer, of_turn, *([raw] if raw is not None else [])]
    return "".join(
        b"".join(page.streaming_content).decode() if page.streaming else page.content.decode()
        for page in pages
    )


async def _nobody_else_reads_it(d: Desk) -> None:
    (turn,) = await d.turns()
    assert "SECRET" not in await d.html()
    for kind in ("streaming", "buffered"):
        reader = Reader("peer", consumes=frozenset({"reasoning-trace", "llm-context"}), surfaces=True)
        envelope = await sync_to_async(envelope_for)(turn, reader, connection=Connection("", kind))
        assert "SECRET" not in str(envelope)


@pytest.mark.parametrize("where", ["audit", "staff"])
async def test_it_is_kept_in_the_log_and_read_by_those_who_may(settings: Any, where: str) -> None:
    settings.BEACH_REASONING = where
    async with desk(replies(SCRIPT)) as d:
        await d.say("Find")
        (row,) = await d.rows("part", "reasoning-trace")
        assert (row.audience, row.turn, row.actor) == ("audit", 1, "tester")
        assert row.data["part"]["data"] == {"text": "SECRET-THOUGHT about Corfu", "model": "scripted"}
        await _nobody_else_reads_it(d)
        page = await _desk_page(d)
        assert ("SECRET-THOUGHT" in page) == (where == "staff")
        assert "Reasoning" in page


async def test_off_keeps_nothing_of_it(settings: Any) -> None:
    settings.BEACH_REASONING = "off"
    async with desk(replies(SCRIPT)) as d:
        await d.say("Find")
        assert await d.rows("part", "reasoning-trace") == []
        assert "SECRET" not in str(await d.rows())
        assert "SECRET" not in await _desk_page(d)
        turn = await Turn.objects.aget()
        assert "SECRET" not in str(turn.messages)
        await _nobody_else_reads_it(d)


async def test_a_turn_that_goes_on_has_its_own_thinking_and_no_other_turn_has(settings: Any) -> None:
    """The model wants its thinking back within a turn, and only there (D17)."""
    settings.BEACH_REASONING = "off"
    script = replies(
        [Think("FIRST-THOUGHT"), Say([text("ack", "One moment.")], "awaiting")],
        [Say([text("response", "Done.")])],
    )
    async with desk(script) as d:
        await d.say("Find")
        assert "FIRST-THOUGHT" in str(d.requests[1].messages)
        await d.say("And now")
        assert "FIRST-THOUGHT" not in str(d.requests[2].messages)
        assert "tool_use" not in str(d.requests[2].messages)


def test_what_only_the_provider_can_read_is_named_and_not_kept(settings: Any) -> None:
    settings.BEACH_REASONING = "audit"
    encrypted = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    assert traced(encrypted) == {"blocks": [{"type": "redacted_thinking"}]}
    assert traced({"type": "text", "text": "Hm"}) is None
    signed = {"type": "thinking", "thinking": "Hm", "signature": "sig"}
    assert traced(signed) == {"text": "Hm"}
    settings.BEACH_REASONING = "off"
    assert traced(signed) is None


async def test_off_keeps_nothing_of_what_the_call_itself_says_of_it(settings: Any) -> None:
    """Not in what its model reads again within the turn, nor in a call that was refused."""
    settings.BEACH_REASONING = "off"
    trace = {"metadata": {"partType": "reasoning-trace"}, "data": {"text": "SECRET-TRACE"}}
    script = replies(
        [Say([trace, text("ack", "One moment.")], "awaiting")],
        [Say([trace, text("no-such-type", "x")])],
        [Say([trace, text("response", "Two flights.")])],
    )
    async with desk(script) as d:
        await d.say("Find")
        assert await d.texts() == ["Two flights."]
        assert len(await d.rows("refused")) == 1
        assert "SECRET" not in str(await d.rows())
        assert all("SECRET" not in str(request.messages) for request in d.requests)
        assert "SECRET" not in str((await Turn.objects.aget()).messages)
