"""When streamed text goes out, and what a piece of it costs until then."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from itertools import pairwise
from unittest import mock

import pytest

from envelopes.delivery.deltas import FAST_FLUSH_SECONDS, FLUSH_SECONDS, FRAMES_SHARE, Delta, deltas
from envelopes.runtime.pacing import LOOK_SECONDS, TOGETHER_SECONDS, Pacer
from envelopes.runtime.respond_stream import RespondStream
from envelopes.runtime.saving import LiveSaver
from envelopes.runtime.streaming import LiveText
from envelopes.turns.leases import Claim

HEAD = '{"parts":[{"metadata":{"partType":"response"},"text":"'
SESSION = 40_813


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def fed(live: LiveText, *fragments: str) -> None:
    for fragment in fragments:
        live.feed(0, fragment)


@pytest.fixture
def told() -> Iterator[list[Delta]]:
    """What was told of one session."""
    heard: list[Delta] = []
    with mock.patch.object(deltas, "publish", lambda session, delta: heard.append(delta)):
        yield heard


def make(clock: Clock, pacer: Pacer) -> LiveText:
    live = LiveText(Claim(1, SESSION, 1), 1, "1-1-0-0", LiveSaver(lambda _: set()), pacer, clock)
    live.start(0, 100_000)
    return live


async def rounds(pacer: Pacer, clock: Clock, seconds: float) -> None:
    """The clock is there, and the loop comes to the pacer."""
    clock.now += seconds
    assert pacer._timer is not None
    pacer._timer.cancel()
    pacer._round()


async def test_the_first_piece_goes_at_once_and_what_follows_within_the_pace_is_one_frame(
    told: list[Delta],
) -> None:
    clock = Clock()
    pacer = Pacer(clock)
    live = make(clock, pacer)
    with mock.patch.object(RespondStream, "feed", autospec=True, side_effect=RespondStream.feed) as read:
        fed(live, HEAD, "one ")
        assert [(delta.offset, delta.text) for delta in told] == [(0, "one ")]
        before = read.call_count
        fed(live, "two ", "three ", "four ")
        # Not even looked at.
        assert read.call_count == before
        await rounds(pacer, clock, FLUSH_SECONDS)
        assert read.call_count == before + 1
    assert [(delta.offset, delta.text) for delta in told[1:]] == [(4, "two three four ")]
    # Slower than the pace, each is a frame.
    for word in ("five ", "six "):
        clock.now += FLUSH_SECONDS
        fed(live, word)
        assert told[-1].text == word
    live.close()


@pytest.mark.parametrize(("between", "pace"), [(0.005, FAST_FLUSH_SECONDS), (0.02, FLUSH_SECONDS)])
async def test_what_comes_fast_is_told_more_often(between: float, pace: float, told: list[Delta]) -> None:
    clock = Clock()
    live = make(clock, Pacer(clock))
    live.feed(0, HEAD)
    times = []
    for _ in range(200):
        before = len(told)
        live.feed(0, "x")
        if len(told) > before:
            times.append(clock.now)
        clock.now += between
    # How fast it is shows after a while.
    known = [time for time in times if time > times[0] + 2 * LOOK_SECONDS]
    waits = [after - before for before, after in pairwise(known)]
    assert len(waits) > 20
    assert all(pace <= wait < pace + between + 1e-9 for wait in waits)
    live.flush()
    assert "".join(delta.text for delta in told) == "x" * 200
    live.close()


@pytest.mark.parametrize(
    ("took", "pace"),
    [(0.0001, FAST_FLUSH_SECONDS), (0.006, 0.006 / FRAMES_SHARE), (0.05, FLUSH_SECONDS)],
    ids=["little", "much", "more than there is"],
)
async def test_frames_take_no_more_than_their_share_of_the_time(took: float, pace: float) -> None:
    """``took``: the seconds in which each text has had a frame."""
    clock = Clock()
    pacer = Pacer(clock)
    for _ in range(100):
        clock.now += max(pacer.fast, took)
        pacer.told(took)
    assert pacer.fast == pytest.approx(pace, rel=0.05)
    # A pause, and there is room again.
    clock.now += 10
    pacer.told(took)
    assert pacer.fast == FAST_FLUSH_SECONDS


async def test_the_beginning_of_the_next_bubble_does_not_wait(told: list[Delta]) -> None:
    clock = Clock()
    pacer = Pacer(clock)
    live = make(clock, pacer)
    fed(live, HEAD, "one ", 'two"},{"metadata":{"partType":"response"},"text":"other')
    assert [(delta.live[-1], delta.offset, delta.text) for delta in told] == [
        ("0", 0, "one "),
        ("1", 0, "other"),
    ]
    await rounds(pacer, clock, FLUSH_SECONDS)
    assert [(delta.live[-1], delta.offset, delta.text) for delta in told[2:]] == [("0", 4, "two")]
    live.close()


async def test_what_was_not_looked_at_yet_is_part_of_what_was_written(told: list[Delta]) -> None:
    clock = Clock()
    live = make(clock, Pacer(clock))
    fed(live, HEAD, "one ", "two")
    assert live.partial() == [("L1-1-0-0-0-0", "response", "one two", "")]
    fed(live, " three")
    assert await live.end(0) == {0: "L1-1-0-0-0-0"}
    assert "".join(delta.text for delta in told) == "one two three"
    live.close()


async def test_those_that_have_waited_longest_are_first_and_one_that_fails_keeps_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, called = Clock(), []

    def fails() -> None:
        raise ValueError("no")

    pacer = Pacer(clock)
    pacer.call(lambda: called.append("later"), 100.04 + TOGETHER_SECONDS)
    pacer.call(lambda: called.append("not yet"), 100.1)
    pacer.call(fails, 100.03)
    pacer.call(lambda: called.append("first"), 100.04)
    with caplog.at_level(logging.CRITICAL, "envelopes.runtime.pacing"):
        await rounds(pacer, clock, 0.03)
    assert called == []
    await rounds(pacer, clock, 0.01)
    assert called == ["first", "later"]


async def test_a_loop_that_came_late_takes_what_would_be_late_the_next_time() -> None:
    clock, called = Clock(), []
    pacer = Pacer(clock)
    for number, at in enumerate((100.04, 100.10, 100.15)):
        pacer.call(lambda number=number: called.append(number), at)  # type: ignore[misc]
    await rounds(pacer, clock, 0.08)  # 40 ms after it was to wake
    assert called == [0, 1]


async def test_it_wakes_by_itself() -> None:
    called = asyncio.Event()
    pacer = Pacer()
    pacer.call(called.set, pacer._clock() + 0.01)
    await asyncio.wait_for(called.wait(), 10)
