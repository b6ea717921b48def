"""The poll: rows that nobody rang for show all the same, and an idle server stays idle (D46)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction
from django.db.utils import OperationalError

from envelopes.log import append
from envelopes.log import poll as module
from envelopes.log.append import writing
from envelopes.log.doorbell import Doorbell
from envelopes.log.poll import Poll
from envelopes.models import Event, Session
from envelopes.turns.leases import Claim, save_live
from tests import factories
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.02)


@pytest.fixture(autouse=True)
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Appends ring no bell here, as if they were another process's."""
    monkeypatch.setattr(append, "doorbell", Doorbell())
    return


def _write(session: Session) -> None:
    """From another connection, as another process would."""

    def write() -> None:
        with writing(session.pk) as writer:
            writer.add("note")

    assert together(write) == [None]


class Listener:
    def __init__(self, bell: Doorbell, session: Session) -> None:
        self.rung = asyncio.Event()
        self.stop = bell.listen(session.pk, lambda _: self.rung.set())

    async def hears(self, seconds: float = 5) -> bool:
        try:
            await asyncio.wait_for(self.rung.wait(), seconds)
        except TimeoutError:
            return False
        self.rung.clear()
        return True


@asynccontextmanager
async def polling() -> AsyncIterator[Doorbell]:
    bell = Doorbell()
    poll = Poll(bell)
    await poll.start()
    try:
        yield bell
    finally:
        await poll.stop()


async def test_a_row_of_another_process_rings_those_who_watch_its_session() -> None:
    session, other = [await sync_to_async(factories.make_session)() for _ in range(2)]
    async with polling() as bell:
        here, there = Listener(bell, session), Listener(bell, other)
        # Whoever begins to watch may be told once for nothing.
        await here.hears(0.3)
        await there.hears(0.3)
        await sync_to_async(_write)(session)
        assert await here.hears()
        assert not await there.hears(0.2)


async def test_it_is_seen_whatever_connection_the_poll_gets() -> None:
    """Channels closes the connection of the database thread between messages; a new one knows nothing of the old."""
    session = await sync_to_async(factories.make_session)()
    async with polling() as bell:
        listener = Listener(bell, session)
        await listener.hears(0.3)
        for _ in range(5):
            await sync_to_async(lambda: connection.close())()  # noqa: PLW0108 - the connection of that thread
            await sync_to_async(_write)(session)
            assert await listener.hears()


async def test_a_ring_of_the_poll_is_not_relayed() -> None:
    session = await sync_to_async(factories.make_session)()
    async with polling() as bell:
        relayed: list[Any] = []
        bell.relay = lambda *ring: relayed.append(ring)
        listener = Listener(bell, session)
        await sync_to_async(_write)(session)
        assert await listener.hears()
        assert relayed == []


async def test_it_goes_on_after_the_database_was_away(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = await sync_to_async(factories.make_session)()
    async with polling() as bell:
        listener = Listener(bell, session)
        await listener.hears(0.3)
        failed = asyncio.Event()
        loop = asyncio.get_running_loop()

        def broken(*args: Any, **options: Any) -> Any:
            loop.call_soon_threadsafe(failed.set)
            raise OperationalError("the database is away")

        with monkeypatch.context() as patched:
            patched.setattr(Poll, "_came" if connection.vendor == "sqlite" else "_compared", broken)
            await sync_to_async(_write)(session)
            await asyncio.wait_for(failed.wait(), 5)
        # The row that came while it was away is not forgotten.
        assert await listener.hears()
    assert "it goes on" in caplog.text


async def test_it_asks_nothing_while_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(Poll, "_grown", lambda self: asked.append(self.bell.watched()) or {})
    session = await sync_to_async(factories.make_session)()
    async with polling() as bell:
        await asyncio.sleep(0.1)
        assert asked == []
        listener = Listener(bell, session)
        await asyncio.sleep(0.1)
        assert asked
        listener.stop()
        await asyncio.sleep(0.05)
        asked.clear()
        await asyncio.sleep(0.1)
        assert asked == []


async def test_text_that_streams_asks_for_no_session_and_hides_no_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each save of a text is a commit; the rows of another process are seen between them. PostgreSQL counts no commits:
    there the sessions are asked for at each look, and only the rows are a matter of this."""
    counts_commits = connection.vendor == "sqlite"
    session = await sync_to_async(factories.make_session)()
    turn = await sync_to_async(factories.make_turn)(session)
    asked: list[str] = []
    looked = asyncio.Event()
    loop = asyncio.get_running_loop()
    changed, compared = Poll._changed, Poll._compared

    def save(text: str) -> None:
        claim = Claim(turn.pk, session.pk, 1)
        assert together(lambda: save_live({claim: {"text": text}})) == [{claim}]

    def noted(self: Poll) -> bool:
        has = changed(self)
        if has:
            loop.call_soon_threadsafe(looked.set)
        return has

    def listed(self: Poll) -> dict[int, int | None]:
        asked.append("sessions")
        return compared(self)

    async with polling() as bell:
        listener = Listener(bell, session)
        await listener.hears(0.3)
        # The first row there is: from then on it knows which are new.
        await sync_to_async(_write)(session)
        assert await listener.hears()
        monkeypatch.setattr(Poll, "_changed", noted)
        monkeypatch.setattr(Poll, "_compared", listed)
        for number in range(5):
            looked.clear()
            await sync_to_async(save)(f"text {number}")
            if counts_commits:
                await asyncio.wait_for(looked.wait(), 5)
        await sync_to_async(_write)(session)
        await sync_to_async(save)("the text of then")
        assert await listener.hears()
        assert bool(asked) != counts_commits


async def test_a_conversation_that_is_deleted_with_the_newest_row_hides_no_row_of_another() -> None:
    session, gone = [await sync_to_async(factories.make_session)() for _ in range(2)]
    async with polling() as bell:
        listener = Listener(bell, session)
        await listener.hears(0.3)
        await sync_to_async(_write)(gone)
        await asyncio.sleep(0.1)
        await sync_to_async(gone.delete)()
        await sync_to_async(_write)(session)
        assert await listener.hears()


async def test_what_came_while_nobody_watched_rings_nobody() -> None:
    session, other = [await sync_to_async(factories.make_session)() for _ in range(2)]
    async with polling() as bell:
        first = Listener(bell, other)
        await first.hears(0.3)
        first.stop()
        await asyncio.sleep(0.1)
        await sync_to_async(_write)(session)
        second = Listener(bell, session)
        # Once for nothing, as whoever begins to watch.
        await second.hears(0.3)
        await sync_to_async(_write)(other)
        assert not await second.hears(0.3)
        await sync_to_async(_write)(session)
        assert await second.hears()


async def test_what_has_shrunk_to_where_it_stood_when_others_watched_it_rings() -> None:
    """The log of one that nobody watched has grown meanwhile; then a backup was restored."""
    session, other = [await sync_to_async(factories.make_session)() for _ in range(2)]
    async with polling() as bell:
        await Listener(bell, other).hears(0.3)
        first = Listener(bell, session)
        await sync_to_async(_write)(session)
        assert await first.hears()
        first.stop()
        await sync_to_async(_write)(session)
        await asyncio.sleep(0.1)
        second = Listener(bell, session)
        await second.hears(0.3)

        def restore() -> None:
            Event.objects.filter(session=session, seq=2).delete()
            Session.objects.filter(pk=session.pk).update(last_seq=1)

        await sync_to_async(lambda: together(restore))()
        assert await second.hears()


async def test_more_rows_than_it_reads_at_once_ring_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 3)
    one, other = [await sync_to_async(factories.make_session)() for _ in range(2)]
    async with polling() as bell:
        listeners = [Listener(bell, session) for session in (one, other)]
        await sync_to_async(_write)(one)
        assert await listeners[0].hears()
        await listeners[1].hears(0.3)

        def write() -> None:
            with transaction.atomic():
                for session in (one, one, one, other):
                    with writing(session.pk) as writer:
                        writer.add("note")

        for _ in range(2):
            await sync_to_async(lambda: together(write))()
            assert [await listener.hears() for listener in listeners] == [True, True]
