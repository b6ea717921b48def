"""Rounds of a busy event loop are gathered; nothing waits long for it, threads do not wait at all."""

from __future__ import annotations

import asyncio
import os
import selectors
from collections.abc import Iterator
from selectors import EVENT_READ, SelectorKey
from types import SimpleNamespace
from typing import Any

import pytest

from envelopes.serving.gathering import (
    BUSY_WAKES,
    HOLD_SECONDS,
    ROUND_SECONDS,
    WATCH_SECONDS,
    GatheringSelector,
    gather,
)

WAKES, SOCKET = 1, 2


class Clocked:
    """A selector on which something comes at certain times, and the clock of them. ``looks``: when it was asked."""

    def __init__(self, comes: Iterator[float], file: int = SOCKET) -> None:
        self.now = 0.0
        self.looks: list[float] = []
        self.waited: list[float] = []
        self._comes, self._file = comes, file
        self._at = next(comes)

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        if self._at > self.now:
            ends = self._at if timeout is None else min(self._at, self.now + timeout)
            self.now = max(self.now, ends)
        self.looks.append(self.now)
        found = []
        while self._at <= self.now:
            self.waited.append(self.now - self._at)
            found.append((SelectorKey(self._file, self._file, EVENT_READ, None), EVENT_READ))
            self._at = next(self._comes)
        return found


def each(seconds: float, begin: float = 0.0) -> Iterator[float]:
    while True:
        begin += seconds
        yield begin


def over(clocked: Clocked) -> GatheringSelector:
    def rest(seconds: float) -> None:
        if clocked._file == WAKES:
            seconds = min(seconds, max(0.0, clocked._at - clocked.now))
        clocked.now += seconds

    inner: Any = clocked
    return GatheringSelector(inner, WAKES, lambda: clocked.now, rest)


def run(clocked: Clocked, until: float, timeout: float | None = None) -> GatheringSelector:
    selector = over(clocked)
    while clocked.now < until:
        selector.select(timeout)
    return selector


def test_a_loop_that_has_little_to_do_is_left_alone() -> None:
    calm = Clocked(each(2 / BUSY_WAKES))
    run(calm, 10.0)
    assert max(calm.waited) == 0
    assert len(calm.looks) == len(calm.waited)


def test_a_busy_one_looks_seldom_and_nothing_waits_longer_than_a_round() -> None:
    busy = Clocked(each(0.25 / BUSY_WAKES))
    run(busy, 10.0)
    came = len(busy.waited)
    assert came == pytest.approx(10 * 4 * BUSY_WAKES, rel=0.01)
    assert max(busy.waited) <= ROUND_SECONDS + 1e-9
    # A look for each round, and one for each that came while wakes were counted.
    watched = WATCH_SECONDS / (WATCH_SECONDS + HOLD_SECONDS)
    assert len(busy.looks) <= 10 / ROUND_SECONDS + came * watched * 1.1 + 4 * BUSY_WAKES * WATCH_SECONDS


def test_it_is_left_alone_again_once_it_has_less_to_do() -> None:
    def comes() -> Iterator[float]:
        at = 0.0
        while True:
            at += 0.25 / BUSY_WAKES if at < 5 else 0.1
            yield at

    calmer = Clocked(comes())
    run(calmer, 5.0 + HOLD_SECONDS)
    calmer.waited.clear()
    run(calmer, 12.0)
    assert calmer.waited
    assert max(calmer.waited) == 0


def test_timers_count_and_come_by_a_round_later_at_most() -> None:
    timers = Clocked(iter([1e9]))
    selector = over(timers)
    for _ in range(1_000):
        before = timers.now
        selector.select(0.25 / BUSY_WAKES)
        assert timers.now - before <= ROUND_SECONDS + 1e-9
    assert timers.now >= 500 * ROUND_SECONDS


def test_threads_do_not_wait_and_do_not_count() -> None:
    threads = Clocked(each(0.25 / BUSY_WAKES), WAKES)
    run(threads, 5.0)
    assert max(threads.waited) == 0


def test_threads_do_not_wait_where_rounds_are_gathered() -> None:
    threads = Clocked(each(0.25 / BUSY_WAKES), WAKES)
    selector = over(threads)
    selector._until = 1e9
    for _ in range(1_000):
        selector.select()
    assert max(threads.waited) == 0


def test_what_is_ready_in_the_loop_never_waits() -> None:
    busy = Clocked(each(0.25 / BUSY_WAKES))
    selector = run(busy, 1.0)
    before = busy.now
    selector.select(0)
    assert busy.now == before


async def test_a_real_loop_that_gathers_serves_sockets_timers_and_threads() -> None:
    loop = asyncio.new_event_loop()
    gather(loop)
    selector: Any = loop._selector  # type: ignore[attr-defined]
    assert isinstance(selector, GatheringSelector)
    selector._until = 1e12

    async def talk() -> list[str]:
        said: list[str] = []

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write((await reader.readline()).upper())
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            for _ in range(20):
                host, port = server.sockets[0].getsockname()
                reader, writer = await asyncio.open_connection(host, port)
                writer.write(b"beach\n")
                said.append((await reader.read()).decode())
                writer.close()
                await writer.wait_closed()
                await asyncio.sleep(0.001)
                said.append(await asyncio.to_thread(str, "thread"))
        return said

    try:
        said = await asyncio.to_thread(loop.run_until_complete, talk())
        assert said == ["BEACH\n", "thread"] * 20
    finally:
        await asyncio.to_thread(loop.run_until_complete, loop.shutdown_default_executor())
        loop.close()


def test_the_wait_for_threads_ends_with_a_wake() -> None:
    reads, writes = os.pipe()
    inner = selectors.DefaultSelector()
    try:
        inner.register(reads, EVENT_READ)
        selector = GatheringSelector(inner, reads, lambda: 0.0)
        # A round that would be over in an hour.
        selector._until = selector._next = 3_600.0
        os.write(writes, b"x")
        found = selector.select()
        assert [key.fd for key, _ in found] == [reads]
        assert selector.get_key(reads).fd == reads
        assert set(selector.get_map()) == {reads}
    finally:
        inner.close()
        os.close(reads)
        os.close(writes)


def test_a_loop_without_a_selector_stays_as_it_is() -> None:
    other: Any = SimpleNamespace()
    gather(other)
    assert vars(other) == {}
