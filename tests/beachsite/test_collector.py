"""What only the garbage collector can free is freed by a server of ours, although it never searches by itself."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterator

import pytest

from envelopes.serving import collector
from envelopes.serving.collector import (
    BLOCKS_A_CONTAINER,
    BUSY,
    LEAST_BLOCKS,
    PATIENCE,
    REST_SECONDS,
    SHARE,
    YOUNG_LOOKS,
    Attendant,
)


class Knot:
    """A cycle, as a surface and its places are."""

    def __init__(self, size: int) -> None:
        self.itself = self
        self.parts = [[number] for number in range(size)]


def left_over(size: int) -> weakref.ref[Knot]:
    """One that was in use for a while."""
    knot = Knot(size)
    gc.collect(1)
    return weakref.ref(knot)


REST_LOOKS = 20


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "REST_LOOKS", REST_LOOKS)


@pytest.fixture
def attendant() -> Iterator[Attendant]:
    """As after `settle`: nothing is searched but by whoever asks for it."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(10_000_000, 1000, 1000)
    made = Attendant()
    gc.callbacks.append(made.count)
    try:
        yield made
    finally:
        gc.callbacks.remove(made.count)
        gc.set_threshold(*before)


def test_what_has_become_much_is_freed_and_what_is_little_waits(attendant: Attendant) -> None:
    few = left_over(LEAST_BLOCKS // 4)

    assert not attendant.look()
    assert few() is not None

    many = left_over(LEAST_BLOCKS)

    assert attendant.look()
    assert few() is many() is None
    assert not attendant.look()


def test_a_process_that_has_much_is_searched_after_as_large_a_part_of_it(attendant: Attendant) -> None:
    lives = Knot(10 * LEAST_BLOCKS)
    assert attendant.look()
    part = int(SHARE * 10 * LEAST_BLOCKS)
    assert part > LEAST_BLOCKS
    some = left_over(part // 2)

    assert not attendant.look()

    more = left_over(part)

    assert attendant.look()
    assert some() is more() is None
    assert len(lives.parts) == 10 * LEAST_BLOCKS


def test_a_process_at_work_is_searched_once_it_has_less_to_do(attendant: Attendant) -> None:
    # Three blocks each.
    many = left_over(LEAST_BLOCKS * PATIENCE // 4)

    assert not attendant.look(busy=BUSY + 0.1)
    assert many() is not None

    assert attendant.look(busy=BUSY - 0.1)
    assert many() is None


def test_one_that_is_always_at_work_is_searched_before_it_has_grown_much(attendant: Attendant) -> None:
    many = [left_over(LEAST_BLOCKS) for _ in range(PATIENCE)]

    assert attendant.look(busy=1.0)
    assert not any(one() for one in many)


def test_text_that_has_become_much_is_no_reason_to_search(attendant: Attendant) -> None:
    few = left_over(LEAST_BLOCKS // BLOCKS_A_CONTAINER // 2)
    written = [str(number) * 2 for number in range(10**6, 10**6 + 2 * LEAST_BLOCKS)]

    assert not attendant.look()
    assert few() is not None

    much = left_over(LEAST_BLOCKS // BLOCKS_A_CONTAINER)

    assert attendant.look()
    assert few() is much() is None
    assert len(written) == 2 * LEAST_BLOCKS


def test_what_was_in_use_for_a_moment_is_freed_at_the_next_look(attendant: Attendant) -> None:
    request = weakref.ref(Knot(10))

    assert not attendant.look()
    assert request() is None


def test_what_was_in_use_as_somebody_looked_is_freed_a_few_looks_later(attendant: Attendant) -> None:
    knot = Knot(10)
    request = weakref.ref(knot)
    attendant.look()
    del knot

    for _ in range(YOUNG_LOOKS):
        assert not attendant.look()
    assert request() is None


def test_what_is_little_is_freed_in_a_process_that_has_little_to_do(attendant: Attendant) -> None:
    few = left_over(10)
    for _ in range(REST_LOOKS - 1):
        assert not attendant.look()

    assert not attendant.look(busy=BUSY + 0.1)
    assert few() is not None

    assert attendant.look()
    assert few() is None
    assert not attendant.look()


def test_a_search_for_what_has_become_much_puts_off_that_of_a_process_at_rest(attendant: Attendant) -> None:
    for _ in range(REST_LOOKS - 1):
        assert not attendant.look()
    many = left_over(LEAST_BLOCKS)
    assert attendant.look()
    assert many() is None

    few = left_over(10)
    assert not attendant.look()
    assert few() is not None


def test_a_process_of_which_a_search_takes_long_is_searched_only_for_what_has_become_much(
    attendant: Attendant, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 2 * REST_SECONDS, 5.0, 5.0])
    monkeypatch.setattr(attendant, "_clock", lambda: next(clock))
    many = left_over(LEAST_BLOCKS)
    assert attendant.look()
    assert many() is None

    few = left_over(10)
    for _ in range(2 * REST_LOOKS):
        assert not attendant.look()
    assert few() is not None

    more = left_over(LEAST_BLOCKS)
    assert attendant.look()
    assert few() is more() is None


def test_a_search_that_had_to_wait_for_others_is_not_taken_for_a_long_one(
    attendant: Attendant, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.thread_time()
    gc.collect()
    bound = 3 * (time.thread_time() - began) + 0.02
    monkeypatch.setattr(collector, "REST_SECONDS", bound)

    def wait(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            time.sleep(2 * bound)

    gc.callbacks.append(wait)
    try:
        searched = [attendant.look() for _ in range(2 * REST_LOOKS)]
    finally:
        gc.callbacks.remove(wait)

    assert sum(searched) == 2
