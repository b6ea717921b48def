"""One reader of one log: rows and text in the order in which they were made, and what ends the reading."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError, connection, connections

from envelopes.database_threads import in_session
from envelopes.delivery import catching_up, streamed
from envelopes.delivery import follower as module
from envelopes.delivery.catching_up import Changed, NotInLog
from envelopes.delivery.deltas import Delta, deltas
from envelopes.delivery.follower import Follower
from envelopes.delivery.items import Item, UpToDate
from envelopes.delivery.rules import Reader
from envelopes.delivery.streamed import PlacedDelta
from envelopes.log import handing
from envelopes.log.append import TurnFence
from envelopes.log.commits import committer
from envelopes.log.doorbell import doorbell
from envelopes.models import Session, Turn
from envelopes.protocol.parts import check_part
from envelopes.protocol.rows import Row
from envelopes.registries.transports import transports
from envelopes.runtime.saving import LiveSaver
from envelopes.runtime.streaming import LiveText
from envelopes.session_state import Frame, TooFarBack, live_sessions, presented
from envelopes.transports.panel.presenter.panel import PanelPresenter
from envelopes.turns.leases import Claim
from envelopes.turns.short_way import ShortWay
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

PANEL = transports["panel"]
PERSON = Reader("person", surfaces=True)


def _begun() -> tuple[Session, Turn]:
    session = factories.make_session(factories.make_visitor()[0])
    return session, factories.make_turn(session)


class Page:
    """What one reader was handed, as words: ``row 3``, ``text hello``, ``here 3``."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.got: list[str] = []

    def take(self, item: Item) -> None:
        if isinstance(item, PlacedDelta):
            self.got.append(f"text {item.delta.text}")
        elif isinstance(item, UpToDate):
            self.got.append(f"here {item.seq}")
        else:
            self.got.append(f"row {item.seq}")

    async def begin(self, after: int = 0) -> list[str]:
        self.got.clear()
        async for item in self.follower.begin(after):
            self.take(item)
        return self.got

    async def next(self, *, seconds: float = 5) -> list[str]:
        """What there is to hand on when the follower says that there may be something."""
        self.got.clear()
        await asyncio.wait_for(self.follower.ready(), seconds)
        async for item in self.follower.new():
            self.take(item)
        return self.got


@asynccontextmanager
async def following(session: Session, reader: Reader = PERSON, **more: Any) -> AsyncIterator[Page]:
    follower = Follower(session, PANEL, reader, **more)
    try:
        yield Page(follower)
    finally:
        follower.close()


def _text(session: Session, words: str, *, block: int = 0, part_type: str = "response") -> None:
    deltas.publish(session.pk, Delta(f"L1-1-0-0-{block}-0", 1, part_type, 0, words))


async def _part(turn: Turn, words: str) -> None:
    await sync_to_async(factories.add_part)(turn, "response", text=words)


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Cuts the database off, and on again."""

    class Database:
        asked = 0

        def off(self) -> None:
            def refuse(*args: Any) -> Any:
                self.asked += 1
                raise OperationalError("could not connect to server")

            wrapper = type(connections["default"])
            monkeypatch.setattr(wrapper, "connect", refuse)
            monkeypatch.setattr(wrapper, "cursor", refuse)

        def on(self) -> None:
            monkeypatch.undo()

    return Database()


async def test_rows_come_when_the_bell_rings_and_each_once() -> None:
    session, turn = await sync_to_async(_begun)()
    async with following(session) as page:
        assert await page.begin() == ["row 1", "row 2", "row 3", "here 3"]
        await _part(turn, "One")
        assert await page.next() == ["row 4"]
        doorbell.ring(session.pk)
        assert await page.next() == []
        assert await page.begin(2) == ["row 3", "row 4", "here 4"]


async def test_streamed_text_makes_nobody_look_for_rows(database: Any) -> None:
    session, _ = await sync_to_async(_begun)()
    async with following(session) as page:
        await page.begin()
        database.off()
        for words in ("Hel", "lo"):
            _text(session, words)
            assert await page.next() == [f"text {words}"]
        assert database.asked == 0
        database.on()


async def test_text_that_is_written_after_a_row_stands_behind_it() -> None:
    session, turn = await sync_to_async(_begun)()
    async with following(session) as page:
        await page.begin()
        _text(session, "before")
        await _part(turn, "One")
        # The ring is on its way through the loop.
        await asyncio.sleep(0.05)
        _text(session, "after", block=1)
        assert await page.next() == ["text before", "row 4", "text after"]


async def test_whoever_comes_in_the_middle_is_told_what_was_written_so_far() -> None:
    session, turn = await sync_to_async(_begun)()
    turn.live = {
        "L1-1-0-0-0-0": {"turn": 1, "partType": "response", "text": "So far"},
        "L1-1-0-0-0-1": {"turn": 1, "partType": "llm-context", "text": "INTERNAL"},
    }
    await turn.asave(update_fields=["live"])
    async with following(session) as page:
        assert await page.begin() == ["row 1", "row 2", "row 3", "here 3", "text So far"]


async def test_what_is_written_in_this_process_is_told_as_it_is_now_and_not_as_it_was_saved() -> None:
    session, turn = await sync_to_async(_begun)()
    turn.live = {"L1-1-0-0-0-0": {"turn": 1, "partType": "response", "text": "So f"}}
    await turn.asave(update_fields=["live"])
    live = LiveText(Claim(turn.pk, session.pk, 1), 1, "1-1-0-0", LiveSaver(lambda _: set()))
    live.start(0, 10_000)
    live.feed(0, '{"parts":[{"metadata":{"partType":"response"},"text":"So far')
    async with following(session) as page:
        assert await page.begin() == ["row 1", "row 2", "row 3", "here 3", "text So far"]
        live.feed(0, ", and more")
        live.flush()
        assert await page.next() == ["text , and more"]
    live.close()
    assert deltas.told(session.pk) == []


@pytest.mark.parametrize("ends", ["its block", "its reply", "its reply, and its part is a row"])
async def test_whoever_begins_as_a_text_ends_gets_no_end_without_its_beginning(
    ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is read before its part is a row; when that is done nobody is writing the text any more."""
    session, turn = await sync_to_async(_begun)()
    live = LiveText(Claim(turn.pk, session.pk, 1), 1, "1-1-0-0", LiveSaver(lambda _: set()))
    live.start(0, 10_000)
    live.feed(0, '{"parts":[{"metadata":{"partType":"response"},"text":"So far')
    loop = asyncio.get_running_loop()

    async def end() -> None:
        live.feed(0, ", and the end")
        await live.end(0)
        if ends != "its block":
            live.close()
        if ends.endswith("row"):
            part = {"text": "So far, and the end", "metadata": {"partType": "response"}}
            await sync_to_async(factories.add_row)(turn, "part", {"part": part, "live": "L1-1-0-0-0-0"})

    def found(*asked: Any, **more: Any) -> Any:
        news = find(*asked, **more)
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        return news

    find = module.find
    monkeypatch.setattr(module, "find", found)
    had = ""
    async with following(session) as page:
        for read in (page.follower.begin(0), page.follower.new()):
            async for item in read:
                if isinstance(item, PlacedDelta):
                    assert item.delta.offset <= len(had), "the page lacks what stands before it"
                    had = had[: item.delta.offset] + item.delta.text
    live.close()


async def test_what_comes_while_somebody_begins_joins_what_they_are_told() -> None:
    session, turn = await sync_to_async(_begun)()
    live = LiveText(Claim(turn.pk, session.pk, 1), 1, "1-1-0-0", LiveSaver(lambda _: set()))
    live.start(0, 10_000)
    live.feed(0, '{"parts":[{"metadata":{"partType":"response"},"text":"So far')
    async with following(session) as page:
        async for item in page.follower.begin(0):
            if isinstance(item, UpToDate):
                live.feed(0, ", and more")
                live.flush()
            page.take(item)
        live.feed(0, ", and the end")
        live.flush()
        rest = await page.next()
    live.close()

    assert rest == ["text , and more", "text , and the end"], "the first of which the page has already"


async def test_s12_only_who_gets_a_type_hears_it_being_written() -> None:
    from envelopes.registries.part_types import PartType, part_types

    kind = PartType(
        "acme.aside", frozenset({"actor"}), "flush", "once", streams_text=True, requires_peer_consumes=True
    )
    session, turn = await sync_to_async(_begun)()
    turn.live = {"L1-1-0-0-0-0": {"turn": 1, "partType": "acme.aside", "text": "INTERNAL"}}
    await turn.asave(update_fields=["live"])
    peer = Reader("peer", consumes=frozenset({"acme.aside"}))
    with part_types.including(kind):
        async with following(session) as page, following(session, peer) as other:
            assert "text INTERNAL" not in await page.begin()
            assert "text INTERNAL" in await other.begin()
            _text(session, "INTERNAL too", part_type="acme.aside")
            _text(session, "for all")
            assert await page.next() == ["text for all"]
            assert await other.next() == ["text INTERNAL too", "text for all"]


async def test_a_reader_that_has_more_than_the_log_is_told_so() -> None:
    session, _ = await sync_to_async(_begun)()
    async with following(session) as page:
        with pytest.raises(NotInLog):
            await page.begin(4)
        # It begins as if nothing had been.
        assert await page.begin(2) == ["row 3", "here 3"]
        with pytest.raises(NotInLog):
            page.follower.check_written(2, before=3)
        page.follower.check_written(4, before=3)


async def test_a_reader_of_a_session_that_is_gone_is_told_so() -> None:
    session, _ = await sync_to_async(_begun)()
    kept = await Session.objects.aget(pk=session.pk)
    async with following(kept) as page:
        await session.adelete()
        with pytest.raises(Changed):
            await page.begin()


async def test_rights_are_asked_for_again_after_a_while_and_before_anything_is_handed_on() -> None:
    session, turn = await sync_to_async(_begun)()
    now, asked = [0.0], []

    async def check() -> None:
        asked.append(now[0])
        if now[0] > 100:
            raise Changed

    async with following(session, check=check, recheck_seconds=60, clock=lambda: now[0]) as page:
        await page.begin()
        _text(session, "one")
        assert await page.next() == ["text one"]
        now[0] = 61
        _text(session, "two")
        assert await page.next() == ["text two"]
        now[0] = 99
        _text(session, "three")
        await page.next()
        assert asked == [61]
        now[0] = 122
        await _part(turn, "PRIVATE")
        with pytest.raises(Changed):
            await page.next()
        assert page.got == []
        # Whoever begins anew is asked at once.
        with pytest.raises(Changed):
            await page.begin()


async def test_who_has_just_been_asked_for_is_asked_again_only_after_the_while_that_was_named() -> None:
    session, _ = await sync_to_async(_begun)()
    now, asked = [0.0], []

    async def check() -> None:
        asked.append(now[0])
        # What changes while it is asked is for the next time.
        now[0] += 5
        if now[0] > 100:
            raise Changed

    async with following(session, check=check, recheck_seconds=60, clock=lambda: now[0]) as page:
        for at in (0, 29, 30, 36, 59, 60):
            now[0] = at
            await page.follower.check(unless_within=30)
        assert asked == [30, 60]
        now[0] = 61
        await page.follower.check()
        now[0] = 120
        # One that was refused counts for nothing.
        for _ in range(2):
            with pytest.raises(Changed):
                await page.follower.check(unless_within=30)


async def test_rows_that_the_database_did_not_give_are_asked_for_again_and_text_waits_for_them(
    database: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session, turn = await sync_to_async(_begun)()
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.3)
    # As if another process wrote: what this one has written itself it need not read.
    monkeypatch.setattr(handing, "_takers", [])
    async with following(session) as page:
        await page.begin()
        await _part(turn, "One")
        database.off()
        assert await page.next() == []
        asked = database.asked
        for _ in range(5):
            _text(session, "later", block=1)
            assert await page.next() == []
        # Nobody hammers a database that is away.
        assert database.asked == asked
        database.on()
        assert await page.next() == ["row 4", *5 * ["text later"]]
    assert [record.levelname for record in caplog.records if "have to wait" in record.message] == ["WARNING"]


async def test_a_door_that_only_sends_follows_for_ever() -> None:
    session, turn = await sync_to_async(_begun)()
    async with following(session) as page, aclosing(page.follower.follow(2)) as items:
        for _ in range(2):
            page.take(await anext(items))
        await _part(turn, "One")
        page.take(await asyncio.wait_for(anext(items), 5))
        assert page.got == ["row 3", "here 3", "row 4"]


async def test_a_nudge_lets_a_door_say_something_of_its_own() -> None:
    session, _ = await sync_to_async(_begun)()
    async with following(session) as page:
        await page.begin()
        page.follower.nudge()
        assert await page.next() == []


async def test_all_readers_of_one_transport_are_handed_the_same_payload() -> None:
    session, _ = await sync_to_async(_begun)()
    payloads: list[str] = []
    for _ in range(2):
        async with following(session) as page:
            items = [item async for item in page.follower.begin(0)]
            payloads += [item.payload for item in items if not isinstance(item, PlacedDelta | UpToDate)]
    assert len(payloads) == 6
    for one, two in zip(payloads[:3], payloads[3:], strict=True):
        assert one is two
        assert json.loads(one)["ops"] is not None


def _over() -> tuple[Session, Turn, int]:
    """One whose turn is over, as a process finds it that has just begun."""
    session, turn = _begun()
    factories.settle_turn(turn)
    session.refresh_from_db()
    live_sessions.clear()
    return session, turn, session.last_seq


async def _asked(session: Session, work: Callable[[], Awaitable[Any]]) -> int:
    """How many statements ``work`` has made in the thread of ``session``."""
    count: list[str] = []

    def counted(execute: Any, sql: str, *more: Any) -> Any:
        count.append(sql)
        return execute(sql, *more)

    await in_session(session.pk, lambda: connection.execute_wrappers.append(counted))
    try:
        await work()
    finally:
        await in_session(session.pk, lambda: connection.execute_wrappers.remove(counted))
    return len(count)


async def test_a_page_that_has_everything_is_greeted_without_building_its_session() -> None:
    session, _, last = await sync_to_async(_over)()
    async with following(session) as page:
        assert await _asked(session, lambda: page.begin(last)) == 1
        assert page.got == [f"here {last}"]
        # As the poll does for a session that it has not seen before.
        doorbell.ring(session.pk, upto=last)
        page.follower.nudge()
        assert await _asked(session, page.next) == 0
        assert page.got == []
        assert session.pk not in live_sessions._sessions
        with pytest.raises(NotInLog):
            await page.begin(last + 1)
        assert await page.begin(last - 1) == [f"row {last}", f"here {last}"]


async def test_rows_and_text_that_come_later_reach_a_page_whose_session_was_not_built() -> None:
    session, _, last = await sync_to_async(_over)()
    async with following(session) as page:
        frames = [item async for item in page.follower.begin(last)]
        assert [(frame.seq, frame.busy) for frame in frames if isinstance(frame, UpToDate)] == [(last, False)]
        assert len(frames) == 1
        turn = await sync_to_async(factories.make_turn)(session)
        # Text is on its way before anybody has looked for the row that its turn began with.
        deltas.publish(session.pk, Delta("L2-1-0-0-0-0", turn.number, "response", 0, "Two"))
        assert (await page.next())[-1] == "text Two"
        news = [item async for item in page.follower.begin(last)]
        rows = [item for item in news if isinstance(item, Frame)]
        assert rows[0].prev == last
        assert [item.busy for item in news if isinstance(item, UpToDate)] == [True]
        await _part(turn, "Two words")
        assert await page.next() == [f"row {rows[-1].seq + 1}"]


@pytest.mark.parametrize("status", ["queued", "running", "waiting", "suspended"])
async def test_a_page_that_has_everything_waits_for_its_session_where_somebody_is_at_work(
    status: str,
) -> None:
    session, turn = await sync_to_async(_begun)()
    await Turn.objects.filter(pk=turn.pk).aupdate(status=status)
    await session.arefresh_from_db()
    await sync_to_async(live_sessions.clear)()
    async with following(session) as page:
        await page.begin(session.last_seq)
        assert (session.pk in live_sessions._sessions) == (status != "suspended")


async def test_text_of_a_turn_that_was_settled_while_rows_were_made_again_does_not_appear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, turn = await sync_to_async(_begun)()
    async with following(session) as page:
        assert await page.begin() == ["row 1", "row 2", "row 3", "here 3"]
        _text(session, "One")
        assert await page.next() == ["text One"]
        await _part(turn, "One")
        await asyncio.sleep(0.05)
        await in_session(session.pk, _built_anew, session)
        # Another process settles it: here, nobody is handed the row, and the bell is still to be rung.
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(handing, "_takers", [])
            elsewhere.setattr(doorbell, "ring", lambda *args, **options: None)
            await sync_to_async(factories.settle_turn)(turn)
        await session.arefresh_from_db()
        rows = [f"row {seq}" for seq in range(4, session.last_seq + 1)]
        assert await page.next() == rows
        doorbell.ring(session.pk, upto=session.last_seq)
        _text(session, "late", block=7)
        assert await page.next() == []


async def test_rows_that_one_page_lacked_are_not_made_again_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, turn = await sync_to_async(_begun)()
    await _part(turn, "One")
    await in_session(session.pk, _built_anew, session)
    made: list[int] = []
    resume = catching_up.resume

    def counted(session: Session, transport: str, after: int, **most: int) -> list[Frame]:
        made.append(after)
        return resume(session, transport, after, **most)

    monkeypatch.setattr(catching_up, "resume", counted)
    async with following(session) as page, following(session) as other, following(session) as third:
        assert await page.begin(2) == ["row 3", "row 4", "here 4"]
        assert await other.begin(2) == ["row 3", "row 4", "here 4"]
        assert await other.begin(3) == ["row 4", "here 4"]
        assert made == [2]
        assert await third.begin() == ["row 1", "row 2", "row 3", "row 4", "here 4"]
        await _part(turn, "Two")
        for each in (page, other, third):
            assert await each.next() == ["row 5"]
        assert await page.begin() == ["row 1", "row 2", "row 3", "row 4", "row 5", "here 5"]
        assert made == [2, 0]


async def test_text_that_is_written_once_a_row_is_stored_comes_behind_it() -> None:
    """Also where row and text come from the same event loop, which need not go anywhere in between."""
    session, turn = await sync_to_async(_begun)()
    # A test before this one may have ended a process, and what stores for it.
    committer.start()
    shown = check_part({"metadata": {"partType": "response"}, "text": "Found."}, origin="actor")[0]
    way = ShortWay(session, turn, TurnFence(turn.pk, 1))
    try:
        async with following(session) as page:
            await page.begin()
            for number in range(3):
                async with way.live.writers():
                    assert await way.append([shown])
                _text(session, f"after {number}", block=7)
                got = await page.next()
                if f"text after {number}" not in got:
                    got = [*got, *await page.next()]
                assert got == [f"row {4 + number}", f"text after {number}"]
    finally:
        way.close()


async def test_a_page_that_lacks_what_the_log_makes_no_more_is_loaded_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As after a release that shows less; to look for it again and again would never end."""
    session, turn = await sync_to_async(_begun)()
    await _part(turn, "One")
    await in_session(session.pk, _built_anew, session)
    asked: list[int] = []

    def silent(self: PanelPresenter, row: Row, changes: object, prev: int) -> None:
        asked.append(row.seq)
        assert len(asked) < 20

    monkeypatch.setattr(PanelPresenter, "apply", silent)
    async with following(session) as page:
        with pytest.raises(TooFarBack):
            await page.begin(2)
        assert asked == [1, 2, 3, 4]


def _built_anew(session: Session) -> None:
    """As for another page that has every row so far: what this one lacks is not kept."""
    live_sessions.forget(session.pk)
    session.refresh_from_db()
    with live_sessions.present(session, PANEL.name, since=session.last_seq):
        pass


async def test_a_reader_gets_a_page_at_a_time_and_holds_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether frames are kept for everybody or made again for this one, and rows that come meanwhile follow."""
    monkeypatch.setattr(catching_up, "PAGE_CHARACTERS", 1)
    session, turn = await sync_to_async(_begun)()
    for words in ("One", "Two", "Three"):
        await _part(turn, words)
    for kept in (True, False):
        if not kept:
            await in_session(session.pk, _built_anew, session)
        async with following(session) as page:
            reads: list[int] = []
            read = page.follower._read

            async def counted(*args: Any, read: Any = read, reads: list[int] = reads) -> Any:
                news = await read(*args)
                reads.append(len(news.frames))
                return news

            monkeypatch.setattr(page.follower, "_read", counted)
            got: list[str] = []
            async with aclosing(page.follower.begin(2)) as items:
                async for item in items:
                    if not got:
                        await _part(turn, "Meanwhile")
                    page.take(item)
                    got = list(page.got)
            last = await session.events.acount()
            assert got == [*(f"row {seq}" for seq in range(3, last + 1)), f"here {last}"]
            assert set(reads) <= {0, 1}
            assert len(reads) >= last - 2


async def test_text_stands_behind_all_pages_of_the_rows_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    session, turn = await sync_to_async(_begun)()
    async with following(session) as page:
        await page.begin()
        for words in ("One", "Two", "Three"):
            await _part(turn, words)
        monkeypatch.setattr(catching_up, "PAGE_CHARACTERS", 1)
        _text(session, "after", block=7)
        assert await page.next() == ["row 4", "row 5", "row 6", "text after"]


async def test_whoever_is_let_in_no_more_gets_no_further_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catching_up, "PAGE_CHARACTERS", 1)
    session, turn = await sync_to_async(_begun)()
    await _part(turn, "One")
    now = 0.0

    async def check() -> None:
        raise Changed

    async with following(session, check=check, clock=lambda: now, recheck_seconds=60) as page:
        async with aclosing(page.follower.begin(0)) as items:
            page.take(await anext(items))
            now = 61
            with pytest.raises(Changed):
                await anext(items)
        assert page.got == ["row 1"]


async def test_a_reader_that_was_behind_by_much_text_gets_it_from_its_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streamed, "WAITING", 3)
    session, _ = await sync_to_async(_begun)()
    async with following(session) as page:
        await page.begin()
        told = Delta("L1-1-0-0-0-0", 1, "response", 0, "abcdefgh")

        def writer() -> list[Delta]:
            return [told]

        deltas.begin(session.pk, writer)
        try:
            for at, letter in enumerate("abcdefgh"):
                deltas.publish(session.pk, Delta(told.live, 1, "response", at, letter))
                assert len(page.follower._text._texts) <= 3
            # Twice four were left out.
            assert await page.next() == ["text abcdefgh"]
            deltas.publish(session.pk, Delta(told.live, 1, "response", 8, "i"))
            assert await page.next() == ["text i"]
        finally:
            deltas.end(session.pk, writer)


async def test_frames_that_are_large_are_kept_up_to_a_size_and_made_again_beyond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(presented, "LARGE_CHARACTERS", 1_000)
    monkeypatch.setattr(presented, "KEPT_CHARACTERS", 20_000)
    monkeypatch.setattr(catching_up, "PAGE_CHARACTERS", 9_000)
    session, turn = await sync_to_async(_begun)()
    async with following(session) as page, following(session) as other:
        await page.begin()
        for number in range(6):
            await _part(turn, f"{number} " + "word " * 1_000)
            assert await page.next() == [f"row {4 + number}"]
            kept = live_sessions.at_hand(session).presented["panel"].frames
            assert sum(len(frame.payload) for frame in kept) <= 20_000
        assert kept[-1].seq == 9
        rows = [f"row {seq}" for seq in range(1, 10)]
        assert await other.begin() == [*rows, "here 9"]
        kept = live_sessions.at_hand(session).presented["panel"].frames
        assert sum(len(frame.payload) for frame in kept) <= 20_000
        assert await page.begin() == [*rows, "here 9"]
