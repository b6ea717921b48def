"""Lists of sessions: those who look at one are told when another of theirs changes, for one query a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes import intake
from envelopes.access import Principal
from envelopes.delivery import listing as module
from envelopes.delivery.listing import Listing
from envelopes.log import append
from envelopes.log.append import writing
from envelopes.log.doorbell import Doorbell
from envelopes.models import Session, Turn
from envelopes.providers.scripted import Say, text
from envelopes.testing import create_session
from tests import factories
from tests.desk import replies
from tests.sockets import Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)

ME, OTHER = Principal(owner_key="m" * 64), Principal(owner_key="o" * 64)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GATHER_SECONDS", 0.05)


@pytest.fixture
def bell(monkeypatch: pytest.MonkeyPatch) -> Doorbell:
    bell = Doorbell()
    monkeypatch.setattr(append, "doorbell", bell)
    return bell


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """Which sessions the database was asked about, query by query."""
    asked: list[set[int]] = []
    real = module.owner_keys

    def counted(sessions: Any) -> Any:
        asked.append(set(sessions))
        return real(sessions)

    monkeypatch.setattr(module, "owner_keys", counted)
    return asked


def _add(session: Session, *kinds: str) -> None:
    with writing(session.pk) as writer:
        for kind in kinds:
            writer.add(kind, {"turnState": "complete"} if kind == "settled" else {})


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


async def _make(who: Principal) -> Session:
    return await sync_to_async(create_session)(who, "tester")


async def test_whoever_owns_a_session_that_changed_is_told_and_nobody_else(bell: Doorbell) -> None:
    here, mine, theirs = await _make(ME), await _make(ME), await _make(OTHER)
    user = await sync_to_async(factories.make_user)()
    users = await _make(Principal(user=user))
    told: list[str] = []
    lists = Listing(bell)
    stops = [
        lists.watch(ME.key, here.pk, lambda: told.append("me")),
        lists.watch(OTHER.key, theirs.pk, lambda: told.append("other")),
        lists.watch(Principal(user=user).key, here.pk, lambda: told.append("user")),
    ]
    for session, expected in ((mine, ["me"]), (here, []), (theirs, []), (users, ["user"])):
        told.clear()
        await sync_to_async(_add)(session, "turn")
        await (_until(lambda: bool(told)) if expected else asyncio.sleep(0.2))
        assert told == expected
    for stop in stops:
        stop()


async def test_many_changes_within_a_moment_are_one_query_and_one_piece_of_news(
    bell: Doorbell, asked: list[set[int]]
) -> None:
    here, one, two = await _make(ME), await _make(ME), await _make(ME)
    told: list[int] = []
    stop = Listing(bell).watch(ME.key, here.pk, lambda: told.append(1))
    for session in (one, two) * 3:
        bell.ring(session.pk, news=True)
    await _until(lambda: bool(told))
    await asyncio.sleep(0.2)
    assert asked == [{one.pk, two.pk}]
    assert told == [1]
    stop()


async def test_rows_that_change_no_list_and_lists_that_nobody_looks_at_cost_nothing(
    bell: Doorbell, asked: list[set[int]]
) -> None:
    here, mine = await _make(ME), await _make(ME)
    lists = Listing(bell)
    stop = lists.watch(ME.key, here.pk, lambda: None)
    await sync_to_async(_add)(mine, "note", "part", "edit", "tool-result", "provider")
    await asyncio.sleep(0.15)
    stop()
    await sync_to_async(_add)(mine, "turn")
    await asyncio.sleep(0.15)
    assert asked == []
    assert lists._desks == {}


async def test_p16_a_page_is_told_that_another_conversation_began_to_work_and_ended() -> None:
    async with panel(replies([Say([text("response", "Done.")])])) as (session, browser, who):
        other = await sync_to_async(create_session)(who, "tester")
        socket = await Socket(browser, session.public_id).open()
        await sync_to_async(intake.post_message)(other, who, "m1", "Hello")
        assert (await socket.until(lambda frame: "ops" not in frame)) == {"type": "sessions"}
        # Its own turns are no news to it.
        settled = sync_to_async(Turn.objects.filter(session=other, status="settled").exists)
        for _attempt in range(400):
            if await settled():
                break
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.8)
        await socket.caught_up()
        socket.frames.clear()
        await socket.ask({"type": "message", "text": "Hello"})
        await socket.settled()
        await asyncio.sleep(0.3)
        await socket.caught_up()
        # Of the other one no more than what was on its way.
        assert sum(frame.get("type") == "sessions" for frame in socket.frames) <= 1
        await socket.close()


async def test_p16_a_socket_is_welcomed_with_the_time_of_the_server() -> None:
    import time

    async with panel(replies([])) as (session, browser, _):
        before = time.time() * 1000
        socket = await Socket(browser, session.public_id).open()
        (welcome,) = [frame for frame in socket.frames if frame.get("type") == "welcome"]
        assert before - 1 <= welcome["now"] <= time.time() * 1000
        assert isinstance(welcome["now"], int)
        await socket.close()
