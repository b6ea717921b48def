"""Whether an agent is at work in a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from envelopes.registries.statuses import BUSY

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import TurnMemory


class Working:
    """The turns in which one is, or will be without anybody doing anything."""

    def __init__(self, turns: Iterable[TurnMemory] = ()) -> None:
        self._busy: set[int] = set()
        # Those that another one waits for, until they have settled.
        self._asked: dict[int, TurnMemory] = {}
        for turn in turns:
            self.take(turn)

    def take(self, turn: TurnMemory) -> None:
        """``turn`` stands elsewhere by now."""
        if turn.status in BUSY:
            self._busy.add(turn.number)
        else:
            self._busy.discard(turn.number)
        if turn.asker and turn.status != "settled":
            self._asked[turn.number] = turn
        else:
            self._asked.pop(turn.number, None)

    def __bool__(self) -> bool:
        # Who has asked another one does nothing while that waits for a person.
        paused = {turn.asker for turn in self._asked.values() if turn.status == "suspended"}
        if not paused:
            return bool(self._busy)
        return not self._busy <= paused | {
            turn.number for turn in self._asked.values() if turn.asker in paused
        }
