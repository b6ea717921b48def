"""What only the garbage collector can free is freed by a server of ours, although it never searches by itself."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from beachsite.collector import BUSY, LEAST_BLOCKS, PATIENCE, SHARE, YOUNG_LOOKS, Attendant


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


@pytest.fixture
def by_hand() -> Iterator[None]:
    """As after `settle`: nothing is searched but by whoever asks for it."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(10_000_000, 1000, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def test_what_has_become_much_is_freed_and_what_is_little_waits(by_hand: None) -> None:
    attendant = Attendant()
    few = left_over(LEAST_BLOCKS // 4)

    assert not attendant.look()
    assert few() is not None

    many = left_over(LEAST_BLOCKS)

    assert attendant.look()
    assert few() is many() is None
    assert not attendant.look()


def test_a_process_that_has_much_is_searched_after_as_large_a_part_of_it(by_hand: None) -> None:
    attendant = Attendant()
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


def test_a_process_at_work_is_searched_once_it_has_less_to_do(by_hand: None) -> None:
    attendant = Attendant()
    # Three blocks each.
    many = left_over(LEAST_BLOCKS * PATIENCE // 4)

    assert not attendant.look(busy=BUSY + 0.1)
    assert many() is not None

    assert attendant.look(busy=BUSY - 0.1)
    assert many() is None


def test_one_that_is_always_at_work_is_searched_before_it_has_grown_much(by_hand: None) -> None:
    attendant = Attendant()
    many = [left_over(LEAST_BLOCKS) for _ in range(PATIENCE)]

    assert attendant.look(busy=1.0)
    assert not any(one() for one in many)


def test_what_was_in_use_for_a_moment_is_freed_at_the_next_look(by_hand: None) -> None:
    attendant = Attendant()
    request = weakref.ref(Knot(10))

    assert not attendant.look()
    assert request() is None


def test_what_was_in_use_as_somebody_looked_is_freed_a_few_looks_later(by_hand: None) -> None:
    attendant = Attendant()
    knot = Knot(10)
    request = weakref.ref(knot)
    attendant.look()
    del knot

    for _ in range(YOUNG_LOOKS):
        assert not attendant.look()
    assert request() is None
