"""Rows and text that are told in the call that wrote them: only where nothing goes before them, and else in their
turn."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes.delivery.streamed import PlacedDelta, Standing
from envelopes.log.append import writing
from envelopes.log.doorbell import doorbell
from envelopes.models import Turn
from envelopes.session_state import Frame, live_sessions
from envelopes.transports.panel.presenter.panel import PanelPresenter
from tests.envelopes.delivery.test_follower import Page, _begun, _part, _text, following
from tests.envelopes.delivery.test_streamed import delta, ready

pytestmark = pytest.mark.django_db(transaction=True)


class Door:
    """Sends at once while it can, and says what it was offered."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.can = True
        self.left = 1_000
        self.fault: Exception | None = None

    def tell(self, item: Frame | PlacedDelta) -> bool:
        if self.fault is not None:
            raise self.fault
        if self.can and self.left:
            self.left -= 1
            self.sent.append(f"row {item.seq}" if isinstance(item, Frame) else item.delta.text)
            return True
        return False


async def _wait_in(page: Page) -> asyncio.Task[list[str]]:
    """As a door does that has nothing to say."""
    waiting = asyncio.create_task(page.next())
    while page.follower._waiting is None:  # noqa: ASYNC110  # what it does next is what it has no event for
        await asyncio.sleep(0)
    return waiting


async def _told(door: Door, what: str) -> None:
    async with asyncio.timeout(5):
        while what not in door.sent:  # noqa: ASYNC110  # as above
            await asyncio.sleep(0)


def _two_parts(turn: Turn) -> None:
    with writing(turn.session_id) as writer:
        for text in ("three", "four"):
            said = {"part": {"metadata": {"partType": "response"}, "text": text}, "turnState": "awaiting"}
            writer.add("part", said, part_type="response", turn=turn)


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

        await _part(turn, "Hello")
        await _told(door, "row 4")
        assert page.follower.cursor == 4
        _text(session, "And", block=1)
        assert door.sent == ["Hel", "lo", "row 4", "And"]
        assert not waiting.done()
        await _leave(waiting)


async def test_rows_that_are_not_taken_at_once_come_in_their_turn_and_each_once() -> None:
    session, turn = await sync_to_async(_begun)()
    door = Door()
    async with following(session, at_once=door.tell) as page:
        await page.begin()
        waiting = await _wait_in(page)
        door.can = False
        await _part(turn, "one")
        assert await waiting == ["row 4"]

        door.can = True
        waiting = await _wait_in(page)
        live_sessions.forget(session.pk)
        await _part(turn, "two")
        # They have to be read.
        assert await waiting == ["row 5"]
        assert door.sent == []

        waiting = await _wait_in(page)
        door.left = 1
        await sync_to_async(_two_parts)(turn)
        got = await waiting
        assert got == ["row 7"], (got, door.sent)
        assert door.sent == ["row 6"]


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


async def test_a_presenter_that_raises_takes_no_row_from_anybody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where it is asked within a ring nobody would ever hear of that row."""
    session, turn = await sync_to_async(_begun)()
    door, broken = Door(), [True]

    def place(self: PanelPresenter, turn: int) -> str | None:
        if broken:
            broken.pop()
            raise RuntimeError("no place")
        return None

    async with following(session, at_once=door.tell) as page:
        await page.begin()
        waiting = await _wait_in(page)
        monkeypatch.setattr(PanelPresenter, "place", place)
        await _part(turn, "one")
        assert await waiting == ["row 4"]
    assert "no place" in caplog.text


async def test_a_ring_that_was_on_its_way_tells_nothing_after_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, turn = await sync_to_async(_begun)()
    door = Door()
    async with following(session, at_once=door.tell) as page:
        await page.begin()
        waiting = await _wait_in(page)
        with monkeypatch.context() as silent:
            silent.setattr(doorbell, "ring", lambda *args, **more: None)
            await _part(turn, "one")
        doorbell.ring(session.pk, upto=4)
        page.follower.close()
        for _ in range(5):
            await asyncio.sleep(0)
        assert door.sent == [] and not waiting.done()
        await _leave(waiting)


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
