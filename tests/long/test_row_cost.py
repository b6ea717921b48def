"""What one row costs does not grow with the conversation (R11)."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import process_time

from tests.bench.timing import in_turn
from tests.long.replay import Replay, rows

SHORT, LONG = 1_200, 24_000
PIECE, PIECES = 50, 24


def test_a_row_of_a_long_conversation_costs_what_one_of_a_short_one_does() -> None:
    """It was 7.5 times as much: the state of all turns, the segments of one, its approvals and cards were looked for
    among everything that had ever been said."""
    replays, following = [], []
    for length in (SHORT, LONG):
        log = rows(length + PIECE * PIECES)
        replay = Replay()
        replay.apply(log[:length])
        replays.append(replay)
        following.append(log[length:])
    taken = [0.0, 0.0]
    # A piece of each in turn, so that whatever else the machine does meets both.
    for at in range(0, PIECE * PIECES, PIECE):
        for which in (0, 1):
            taken[which] += replays[which].apply(following[which][at : at + PIECE])
    assert taken[1] / taken[0] <= 1.3, taken


def test_a_page_of_a_long_conversation_is_drawn_as_quickly_as_one_of_a_short_one() -> None:
    """It was drawn whole: in two seconds the first time, and in one whenever its texts had left a cache of 1,024."""

    def drawing(length: int) -> Callable[[], float]:
        replay = Replay()
        replay.apply(rows(length))

        def drawn() -> float:
            began = process_time()
            for _ in range(20):
                replay.html()
            return process_time() - began

        return drawn

    short, long = in_turn([drawing(SHORT), drawing(LONG)], seconds=0, least=5)
    assert long <= 1.5 * short


def test_page_and_snapshot_of_20_000_rows_are_as_large_as_those_of_a_hundred() -> None:
    """Both were as long as the conversation: 2.6 MB with 53,591 elements, drawn in two seconds."""
    sizes = []
    for length in (100, 20_000):
        replay = Replay()
        replay.apply(rows(length))
        html = replay.html()
        sizes.append((len(html), html.count("</"), len(json.dumps(replay.panel.snapshot()))))
    for short, long in zip(*sizes, strict=True):
        assert long <= 1.5 * short, sizes
