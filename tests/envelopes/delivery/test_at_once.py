"""Text that is told in the call that wrote it: only where nothing goes before it, and else in its turn."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes.delivery.streamed import PlacedDelta, Standing
from envelopes.log.doorbell import doorbell
from tests.envelopes.delivery.test_follower import Page, _begun, _part, _text, following
from tests.envelopes.delivery.test_streamed import delta, ready

pytestmark = pytest.mark.django_db(transaction=True)


class Door:
    """Sends at once while it can, and says what it was offered."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.can = True
        self.fault: Exception | None = None

    def tell(self, text: PlacedDelta) -> bool:
        if self.fault is not None:
            raise self.fault
        if self.can:
            self.sent.append(text.delta.text)
        return self.can


async def _wait_in(page: Page) -> asyncio.Task[list[str]]:
    """As a door does that has nothing to say."""
    waiting = asyncio.create_task(page.next())
    while page.follower._waiting is None:  # noqa: ASYNC110  # what it does next is what it has no event for
        await asyncio.sleep(0)
    return waiting


async def _leave(waiting: asyncio.Task[Any]) -> None:
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting


async def test_text_is_told_at_once_where_the_door_has_nothing_else_to_say() -> None:
    session, turn = await sync_to_async(_begun)()
    door = Door()
    async with following(session, at_once=door.tell) as page:
        await page.begin()
        waiting = await _wait_in(page)
        _text(session, "Hel")
        _text(session, "lo")
        _text(session, "not for them", part_type="llm-context")
        assert door.sent == ["Hel", "lo"]
        assert not waiting.done()

        await _part(turn, "Hello")
        assert await waiting == ["row 4"]


async def test_text_waits_for_what_goes_before_it() -> None:
    session, _ = await sync_to_async(_begun)()
    door = Door()
    async with following(session, at_once=door.tell) as page:
        await page.begin()
        # Nobody waits: the door is still speaking.
        _text(session, "one")
        assert await page.next() == ["text one"]

        waiting = await _wait_in(page)
        # Rows may be due.
        doorbell.ring(session.pk)
        await asyncio.sleep(0)
        _text(session, "two", block=1)
        _text(session, "three", block=1)
        assert await waiting == ["text two", "text three"]

        waiting = await _wait_in(page)
        door.can = False
        _text(session, "four", block=1)
        door.can = True
        # What was not taken comes first.
        _text(session, "five", block=1)
        assert await waiting == ["text four", "text five"]
        assert door.sent == []


async def test_a_check_that_is_due_goes_before_text() -> None:
    session, _ = await sync_to_async(_begun)()
    door, asked, now = Door(), list[float](), 0.0

    async def check() -> None:
        asked.append(now)

    more = {"at_once": door.tell, "check": check, "recheck_seconds": 60, "clock": lambda: now}
    async with following(session, **more) as page:
        await page.begin()
        waiting = await _wait_in(page)
        now = 59.0
        _text(session, "one")
        now = 60.0
        _text(session, "two")
        assert await waiting == ["text two"]
        assert (door.sent, asked) == (["one"], [60.0])

        waiting = await _wait_in(page)
        _text(session, "three")
        assert door.sent == ["one", "three"]
        await _leave(waiting)


async def test_a_door_that_fails_is_no_fault_of_who_writes(caplog: pytest.LogCaptureFixture) -> None:
    session, _ = await sync_to_async(_begun)()
    door = Door()
    async with following(session, at_once=door.tell) as page:
        await page.begin()
        waiting = await _wait_in(page)
        door.fault = RuntimeError("no such frame")
        _text(session, "one")
        assert await waiting == ["text one"]
    assert "no such frame" in caplog.text


async def test_a_reader_that_begins_again_meanwhile_gets_text_behind_its_rows() -> None:
    session, _ = await sync_to_async(_begun)()
    door = Door()
    async with following(session, at_once=door.tell) as page:
        await page.begin()
        waiting = await _wait_in(page)
        again = page.follower.begin(1)
        first = await anext(again)
        _text(session, "one")
        assert door.sent == []
        rest = [item async for item in again]
        assert [getattr(item, "seq", 0) for item in (first, *rest)] == [2, 3, 3]
        assert await waiting == ["text one"]


async def test_a_bell_that_tells_nothing_new_holds_no_text_up() -> None:
    session, _ = await sync_to_async(_begun)()
    door = Door()
    async with following(session, at_once=door.tell) as page:
        await page.begin()
        waiting = await _wait_in(page)
        doorbell.ring(session.pk, upto=3)
        _text(session, "one")
        assert door.sent == ["one"]
        await _leave(waiting)


def test_only_text_with_a_place_that_has_not_ended_is_placed() -> None:
    text = ready({1: Standing("t1-0p"), 2: Standing(None), 3: Standing("t3-0p", (1, 0, 0, 5, 0))})

    assert text.placed(delta(0)) == PlacedDelta(delta(0), "t1-0p")
    for nowhere in (delta(0, turn=2), delta(5, turn=3), delta(0, turn=4), delta(0, part_type="llm-context")):
        assert text.placed(nowhere) is None
    assert text.placed(delta(6, turn=3)) == PlacedDelta(delta(6, turn=3), "t3-0p")

    text.due()
    assert text.placed(delta(0)) is None
    text.reading()
    assert text.placed(delta(0)) is None
    text.read({})
    assert text.placed(delta(0)) is not None
    text.came(delta(0))
    assert text.placed(delta(0)) is None
