"""The doorbell: from any thread into the loop of whoever listens, and never into one that is gone."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Coroutine
from typing import Any

from envelopes.log.doorbell import Doorbell

WHO = contextvars.ContextVar("WHO", default="nobody")


async def _heard(event: asyncio.Event) -> bool:
    try:
        await asyncio.wait_for(event.wait(), 5)
    except TimeoutError:
        return False
    return True


async def _settled() -> None:
    """Callbacks that are on their way have run."""
    for _ in range(3):
        await asyncio.sleep(0)


def _in_thread(work: Any) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)


async def test_a_ring_from_another_thread_arrives_in_the_loop() -> None:
    bell, event, places = Doorbell(), asyncio.Event(), []

    def listener(_upto: int | None) -> None:
        places.append(threading.current_thread())
        event.set()

    bell.listen(1, listener)
    await asyncio.to_thread(bell.ring, 1)
    assert await _heard(event)
    assert places == [threading.current_thread()]


async def test_only_the_session_that_rang_is_told_and_all_of_its_listeners() -> None:
    bell, heard = Doorbell(), []
    for session, name in ((1, "a"), (1, "b"), (2, "c")):
        bell.listen(session, lambda _, name=name: heard.append(name))
    bell.ring(1)
    bell.ring(3)
    await _settled()
    assert sorted(heard) == ["a", "b"]


async def test_whoever_has_stopped_hears_nothing_and_is_not_watched() -> None:
    bell, heard = Doorbell(), []
    stop = bell.listen(1, lambda _: heard.append(1))
    other = bell.listen(1, lambda _: heard.append(2))
    stop()
    bell.ring(1)
    await _settled()
    assert heard == [2]
    assert bell.watched() == [1]
    other()
    stop()
    assert bell.watched() == []


async def test_work_is_told_to_runners_and_rows_to_listeners() -> None:
    bell, rows, work = Doorbell(), [], []
    bell.listen(1, lambda _: rows.append(1))
    deaf = bell.on_work(work.append)
    bell.ring(1)
    bell.ring(1, work=True)
    bell.ring(2, work=True)
    await _settled()
    assert (len(rows), work) == (2, [1, 2])
    deaf()
    bell.ring(1, work=True)
    await _settled()
    assert work == [1, 2]


def test_each_listener_is_called_in_its_own_loop() -> None:
    bell = Doorbell()
    ready, done = threading.Barrier(3, timeout=10), []

    async def listen(name: str) -> None:
        event = asyncio.Event()
        bell.listen(1, lambda _: event.set())
        await asyncio.to_thread(ready.wait)
        assert await _heard(event)
        done.append(name)

    def run(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run(work)

    threads = [threading.Thread(target=run, args=(listen(name),)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    ready.wait()
    bell.ring(1)
    for thread in threads:
        thread.join(10)
    assert sorted(done) == ["one", "two"]


def test_a_listener_whose_loop_is_closed_is_passed_over() -> None:
    bell, heard = Doorbell(), threading.Event()

    async def listen_and_leave() -> None:
        bell.listen(1, lambda _: None)
        bell.on_work(lambda session: None)

    asyncio.run(listen_and_leave())

    async def listen() -> None:
        event = asyncio.Event()
        bell.listen(1, lambda _: event.set())
        _in_thread(lambda: bell.ring(1, work=True))
        assert await _heard(event)
        heard.set()

    asyncio.run(listen())
    assert heard.is_set()


async def test_a_listener_runs_in_the_context_in_which_it_subscribed() -> None:
    """What a database thread's context says about that thread must not reach the tasks that a listener starts."""
    bell, event, seen = Doorbell(), asyncio.Event(), []

    def listener(_upto: int | None) -> None:
        seen.append(WHO.get())
        event.set()

    WHO.set("subscriber")
    bell.listen(1, listener)

    def ring() -> None:
        WHO.set("database thread")
        bell.ring(1)

    _in_thread(ring)
    assert await _heard(event)
    assert seen == ["subscriber"]


async def test_the_relay_gets_what_began_here_and_not_what_came_through_it() -> None:
    bell, relayed = Doorbell(), []
    bell.relay = lambda *ring: relayed.append(ring)
    bell.ring(1)
    bell.ring(1, work=True)
    bell.ring(1, news=True)
    bell.ring(2, relayed=True)
    assert relayed == [(1, False, False), (1, True, False), (1, False, True)]
