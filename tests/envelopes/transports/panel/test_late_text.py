"""Text and rows may come by different ways: text of a bubble that a row has ended does not appear again."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import BaseModel

from envelopes.delivery.deltas import Delta, deltas
from envelopes.models import Session
from envelopes.protocol.bubbles import place_of
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import Tool
from envelopes.types import Json
from tests.desk import replies
from tests.sockets import Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)


class Nothing(BaseModel):
    pass


def _publish(session: Session, *names: str) -> None:
    for name in names:
        deltas.publish(session.pk, Delta(name, 1, "response", 0, f"text of {name}"))


async def _heard(socket: Socket) -> list[str]:
    """The bubbles that the socket was told of by this test."""
    await asyncio.sleep(0.05)
    await socket.caught_up()
    told = [frame for frame in socket.frames if frame.get("type") == "delta"]
    return [frame["live"] for frame in told if str(frame["text"]).startswith("text of")]


async def test_only_what_is_still_being_written_is_told() -> None:
    reached, release = asyncio.Event(), asyncio.Event()

    async def hold(context: object, args: Nothing) -> Json:
        reached.set()
        await release.wait()
        return {}

    script = replies(
        [Say([text("response", "One.")], "awaiting"), Call("hold")], [Say([text("response", "Two.")])]
    )
    async with panel(script, Tool("hold", "", Nothing, hold)) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Go"})
        await asyncio.wait_for(reached.wait(), 5)
        await socket.until(lambda frame: "One." in str(frame.get("ops")))
        ended, earlier_runner, following = "L1-1-0-0-0-0", "L1-0-9-0-0-0", "L1-1-1-0-0-0"
        late = await Socket(browser, session.public_id).open()
        _publish(session, ended, earlier_runner, following)
        for one in (socket, late):
            assert await _heard(one) == [following]
        release.set()
        await socket.until(lambda frame: "Two." in str(frame.get("ops")))
        await socket.until(lambda frame: frame.get("busy") is False)
        _publish(session, "L1-1-2-0-0-0")
        assert await _heard(socket) == [following]
        for one in (socket, late):
            await one.close()


def test_places_are_in_the_order_in_which_text_is_written() -> None:
    names = ["L1-1-0-0-0-0", "L1-1-0-0-0-1", "L1-1-0-0-1-0", "L1-1-0-1-0-0", "L1-1-1-0-0-0", "L1-2-0-0-0-0"]
    assert sorted(names, key=place_of) == names
    assert place_of("anything") == place_of("L1-x") == ()
