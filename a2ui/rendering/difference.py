"""What is different between two orders of the same things: what went, what came, and the least that has to move."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from a2ui.rendering.list_state import ListState


def difference(state: ListState, old: list[str], new: Any) -> tuple[list[str], set[str], set[str]]:
    """(gone, moved, new) tokens: what brings a page from the `old` keys to the `new` ones."""
    if state.journal is not None and state.visible >= state.count:
        present = {key for key in state.journal if state.holds(key)}
        existed = {key for key, known in state.journal.items() if known}
        return (
            [key for key in state.journal if key in existed - present],
            present & existed,
            present - existed,
        )
    new_set, old_set = set(new), set(old)
    return [key for key in old if key not in new_set], moved(old, new), new_set - old_set


def moved(old: Sequence[str], new: Sequence[str]) -> set[str]:
    """The smallest set of tokens that have to move so that the common ones of `old` come in the order of `new`.

    Everything but a longest increasing run of old positions, read in the new order.
    """
    position = {token: index for index, token in enumerate(old)}
    common = [token for token in new if token in position]
    tails: list[int] = []
    tail_at: list[int] = []
    before = [-1] * len(common)
    for index, token in enumerate(common):
        value = position[token]
        place = bisect_left(tails, value)
        before[index] = tail_at[place - 1] if place else -1
        if place == len(tails):
            tails.append(value)
            tail_at.append(index)
        else:
            tails[place] = value
            tail_at[place] = index
    stay: set[str] = set()
    index = tail_at[-1] if tail_at else -1
    while index >= 0:
        stay.add(common[index])
        index = before[index]
    return set(common) - stay
