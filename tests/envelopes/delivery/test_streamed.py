"""Streamed text among rows: at once where nothing is due, never before its place, never after its end."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from envelopes.delivery.deltas import Delta
from envelopes.delivery.streamed import (
    HELD,
    WAITING,
    WAITING_CHARACTERS,
    Standing,
    StreamedText,
)
from envelopes.protocol.bubbles import ENDED

PLACED = {1: Standing("t1-0p")}


def delta(block: int, offset: int = 0, *, turn: int = 1, part_type: str = "response") -> Delta:
    return Delta(f"L{turn}-1-0-0-{block}-0", turn, part_type, offset, "word ")


def ready(turns: dict[int, Standing] | None = None) -> StreamedText:
    text = StreamedText(lambda part_type: part_type == "response")
    text.read(PLACED if turns is None else turns)
    return text


def taken(text: StreamedText) -> list[tuple[str, int]]:
    return [(one.delta.live, one.delta.offset) for one in text.take()]


def test_text_goes_on_at_once_and_in_order() -> None:
    text = ready()

    assert all([text.came(delta(0)), text.came(delta(0, 5)), text.came(delta(1))])

    assert taken(text) == [("L1-1-0-0-0-0", 0), ("L1-1-0-0-0-0", 5), ("L1-1-0-0-1-0", 0)]
    assert text.take() == []


def test_a_type_that_the_reader_does_not_get_is_not_even_kept() -> None:
    text = ready()

    assert not text.came(delta(0, part_type="llm-context"))
    assert text.take() == []


def test_text_stands_behind_the_rows_that_were_due_before_it() -> None:
    text = ready()
    text.came(delta(0))
    text.due()
    text.came(delta(1))

    assert taken(text) == [("L1-1-0-0-0-0", 0)]
    text.reading()
    text.came(delta(2))
    text.read(PLACED)

    assert taken(text) == [("L1-1-0-0-1-0", 0), ("L1-1-0-0-2-0", 0)]


def test_rows_that_become_due_while_others_are_read_come_before_what_follows_them() -> None:
    text = ready()
    text.due()
    text.reading()
    text.came(delta(0))
    text.due()
    text.came(delta(1))
    text.read(PLACED)

    assert taken(text) == [("L1-1-0-0-0-0", 0)]
    text.reading()
    text.read(PLACED)
    assert taken(text) == [("L1-1-0-0-1-0", 0)]


def test_rows_that_could_not_be_read_are_still_due() -> None:
    for rung_before in (True, False):
        text = ready()
        if rung_before:
            text.due()
        text.reading()
        text.due()
        text.came(delta(0))
        text.failed()

        assert text.take() == []
        text.reading()
        text.read(PLACED)
        assert taken(text) == [("L1-1-0-0-0-0", 0)]


def test_text_waits_for_the_row_that_makes_its_place() -> None:
    text = ready({})
    text.came(delta(0))

    assert text.take() == []
    assert text.turns == {1}
    text.due()
    text.reading()
    text.read(PLACED)
    assert [one.place for one in text.take()] == ["t1-0p"]


def test_text_that_a_row_has_ended_does_not_appear_again() -> None:
    text = ready({1: Standing("t1-0p", over=(1, 0, 0, 1, 0))})
    text.came(delta(0))
    text.came(delta(1))
    text.came(delta(2))

    assert taken(text) == [("L1-1-0-0-2-0", 0)]
    # Somebody who knows less, having begun later, does not take that back.
    text.read({1: Standing("t1-0p")})
    text.came(delta(1))
    assert text.take() == []


def test_a_turn_that_has_ended_is_forgotten_once_nothing_of_it_waits() -> None:
    text = ready()
    text.due()
    text.came(delta(0))
    assert text.take() == []
    text.reading()
    text.read({1: Standing("t1-0p", ENDED)})

    assert text.take() == []
    assert text.turns == set()
    assert not text.knows(1)


def test_text_of_no_turn_that_anybody_knows_does_not_pile_up() -> None:
    text = ready()
    for number in range(HELD * 3):
        text.came(delta(0, number, turn=7))
        assert text.take() == []
    text.came(delta(0))

    assert taken(text) == [("L1-1-0-0-0-0", 0)]
    text.read({7: Standing("t7-0p")})
    assert len(text.take()) == HELD


steps = st.lists(
    st.one_of(
        st.tuples(st.just("text"), st.integers(1, 2), st.integers(0, 3)),
        st.tuples(st.just("row"), st.integers(1, 2), st.sampled_from(["place", "end"])),
        st.tuples(st.just("look"), st.booleans(), st.integers(0, 2)),
    ),
    max_size=30,
)


@given(steps)
def test_whatever_happens_when_text_is_shown_where_it_belongs(many: list[tuple[Any, ...]]) -> None:
    """Rows and text are made in one order; the reader looks now and then, and sometimes the log cannot be read."""
    text = StreamedText(lambda part_type: True)
    made: dict[int, Standing] = {}  # as of the last row
    blocks = {1: 0, 2: 0}
    texts: dict[Delta, int] = {}  # how many rows were made before it
    rows = seen = offset = 0
    told: list[tuple[int, Delta]] = []

    def look() -> None:
        for one in text.take():
            assert one.place == f"place of {one.delta.turn}"
            # No row that was made before it is missing.
            assert texts[one.delta] <= seen
            told.append((seen, one.delta))

    for kind, number, what in many:
        if kind == "text":
            offset += 1
            one = delta(blocks[number], offset, turn=number)
            texts[one] = rows
            text.came(one)
        elif kind == "row":
            rows += 1
            known = made.get(number, Standing(None))
            if what == "place":
                made[number] = Standing(f"place of {number}", known.over)
            else:
                made[number] = Standing(known.place, (1, 0, 0, blocks[number], 0))
                blocks[number] += 1
            text.due()
        else:
            look()
            text.reading()
            if number:
                text.failed()
            else:
                text.read(made)
                seen = rows
                look()
    text.reading()
    text.read(made)
    seen = rows
    look()

    assert len({one for _, one in told}) == len(told)
    for turn in (1, 2):
        offsets = [one.offset for _, one in told if one.turn == turn]
        assert offsets == sorted(offsets)
        open_now = [
            one for one in texts if one.turn == turn and one.live == delta(blocks[turn], turn=turn).live
        ]
        if turn in made and made[turn].place is not None:
            # What is still being written is all there.
            assert set(open_now) <= {one for _, one in told}


def test_what_is_made_of_a_delta_is_made_once_for_each_form() -> None:
    one, calls = delta(0), []

    def encode() -> str:
        calls.append(1)
        return "frame"

    assert [one.encoded("panel", encode), one.encoded("panel", encode), one.encoded("plain", encode)] == [
        "frame"
    ] * 3
    assert len(calls) == 2
    assert one == delta(0)


def test_text_that_nobody_takes_is_left_out_at_last() -> None:
    for words, count in (("word ", WAITING), ("x" * 1_000, WAITING_CHARACTERS // 1_000)):
        text = ready()
        text.due()
        for number in range(count):
            text.came(Delta("L1-1-0-0-0-0", 1, "response", number * len(words), words))
        assert not text.lost
        assert len(text._texts) == count
        text.came(Delta("L1-1-0-0-0-0", 1, "response", count * len(words), words))
        assert text.lost
        assert text._texts == []
        # What follows stands behind the rows that are due still.
        text.came(delta(1))
        assert text.take() == []
        text.reading()
        text.read(PLACED)
        assert taken(text) == [("L1-1-0-0-1-0", 0)]


def test_text_that_is_taken_is_not_counted_any_more() -> None:
    text = ready()
    for _ in range(3):
        text.came(Delta("L1-1-0-0-0-0", 1, "response", 0, "x" * (WAITING_CHARACTERS // 2)))
        text.take()
    assert not text.lost
