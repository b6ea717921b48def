"""Which places a runner keeps, and for how long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from envelopes.database_threads import in_session, waiting_in_session
from envelopes.runtime import kept_places
from envelopes.runtime.kept_places import KeptPlaces
from envelopes.runtime.runner import Runner
from envelopes.turns.leases import Claim
from envelopes.turns.places import Place, places

SESSION = 7


def _kept_by(taken: list[Claim] | None = None, *, room: bool = True) -> KeptPlaces:
    there = [] if taken is None else taken
    return KeptPlaces("here:1:1", lambda _: room, there.append, lambda _: None)


def _asked_for(session: int = SESSION) -> Place | None:
    return places._asked_for(session)


async def test_a_session_has_one_place_until_the_loop_has_heard_what_became_of_it() -> None:
    taken: list[Claim] = []
    kept = _kept_by(taken)
    end = kept.offer()
    try:
        place = await asyncio.to_thread(_asked_for)
        assert place is not None and SESSION in kept
        assert await asyncio.to_thread(_asked_for) is None
        assert await asyncio.to_thread(_asked_for, SESSION + 1) is not None

        claim = Claim(1, SESSION, 1)
        place.take(claim)
        assert SESSION in kept and taken == []
        await asyncio.sleep(0)
        assert SESSION not in kept and taken == [claim]

        again = await asyncio.to_thread(_asked_for)
        assert again is not None
        again.give_back()
        await asyncio.sleep(0)
        assert SESSION not in kept and taken == [claim]
    finally:
        end()
    assert _asked_for() is None


async def test_none_is_kept_where_there_is_no_room() -> None:
    kept = _kept_by(room=False)
    end = kept.offer()
    assert _asked_for() is None and len(kept) == 0
    end()


async def test_none_is_kept_while_much_waits_for_the_thread_of_the_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_places, "JOBS_BEFORE", 2)
    gate, end = threading.Event(), _kept_by().offer()
    try:
        jobs = [in_session(SESSION, gate.wait, 20)]
        async with asyncio.timeout(10):
            while waiting_in_session(SESSION):  # noqa: ASYNC110 - it has no event for this
                await asyncio.sleep(0.001)
        jobs += [in_session(SESSION, lambda: None) for _ in range(2)]
        place = _asked_for()
        assert place is not None
        place.give_back()
        await asyncio.sleep(0)
        jobs.append(in_session(SESSION, lambda: None))
        assert _asked_for() is None
    finally:
        gate.set()
        end()
    await asyncio.gather(*jobs)


def test_none_is_kept_by_a_loop_that_does_not_run_any_more() -> None:
    ends: list[Callable[[], None]] = []

    async def offered() -> None:
        ends.append(_kept_by().offer())
        assert _asked_for() is not None

    asyncio.run(offered())
    try:
        assert _asked_for(SESSION + 1) is None
    finally:
        ends[0]()


@pytest.mark.parametrize("late", [False, True], ids=["in time", "never"])
async def test_whoever_stops_waits_for_what_is_kept(late: bool) -> None:
    kept = _kept_by()
    end = kept.offer()
    place = _asked_for()
    end()
    assert place is not None
    waiting = asyncio.create_task(kept.all_given_back(0.05 if late else 10))
    await asyncio.sleep(0)
    assert not waiting.done()
    if not late:
        place.give_back()
    assert await waiting is not late
    assert late or await kept.all_given_back(0)


async def test_what_rings_while_a_place_is_kept_is_looked_for_once_that_is_given_back() -> None:
    here = _Recorded()
    end = here._kept.offer()
    try:
        place = _asked_for()
        assert place is not None
        here.wake(SESSION)
        await asyncio.sleep(0.01)
        assert here.looked_at == []
        place.give_back()
        await asyncio.sleep(0.01)
        assert here.looked_at == [SESSION]
        assert _asked_for() is None, "it is being looked at"
    finally:
        end()


async def test_who_waits_for_room_is_woken_when_a_place_is_given_back(settings: Any) -> None:
    settings.BEACH_TURNS_AT_ONCE = 1
    here = _Recorded()
    end = here._kept.offer()
    try:
        place = _asked_for()
        assert place is not None and here._free == 0
        here._waiting[SESSION + 1] = None
        place.give_back()
        await asyncio.sleep(0.01)
        assert here.looked_at == [SESSION + 1]
    finally:
        end()


async def test_who_waits_for_room_goes_before_what_is_opened_now(settings: Any) -> None:
    settings.BEACH_TURNS_AT_ONCE = 3
    here = Runner()
    assert here._has_room(SESSION)
    here._waiting[SESSION + 1] = None
    assert not here._has_room(SESSION)


@pytest.mark.django_db(transaction=True)
async def test_a_runner_that_stops_keeps_none() -> None:
    here = Runner()
    await here.start()
    place = _asked_for()
    assert place is not None
    place.give_back()
    await here.stop()
    assert not here._has_room(SESSION) and _asked_for() is None


async def test_what_begins_while_it_is_counted_is_not_left_out(settings: Any) -> None:
    """Other threads ask, between any two steps of the loop."""
    settings.BEACH_TURNS_AT_ONCE = 3
    here = Runner()

    class Moving(dict[int, Any]):
        def __len__(self) -> int:
            counted = super().__len__()
            self[SESSION] = None
            here._claiming.discard(SESSION)
            return counted

    here._claiming.add(SESSION)
    here._runs = Moving()
    assert here._free == 2


class _Recorded(Runner):
    """One that only notes at which sessions it would look, and is never done with that."""

    def __init__(self) -> None:
        super().__init__("here:1:1")
        self.looked_at: list[int] = []

    async def _claim(self, session: int) -> None:
        self.looked_at.append(session)
