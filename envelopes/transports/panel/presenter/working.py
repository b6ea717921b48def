"""Whether an agent is at work in a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from envelopes.registries.statuses import TurnStatus, is_busy

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import TurnMemory


class Working:
    """The turns that have not settled. True where an agent is at work in one, as ``is_busy`` says it. ``taken``: what
    the member of staff is called who has the conversation, "" where its agent has it."""

    def __init__(self, turns: Iterable[TurnMemory] = (), *, taken: str = "") -> None:
        self.taken = taken
        self._turns: dict[int, TurnMemory] = {}
        for turn in turns:
            self.take(turn)

    def take(self, turn: TurnMemory) -> None:
        """``turn`` stands elsewhere by now."""
        if turn.status == TurnStatus.SETTLED:
            self._turns.pop(turn.number, None)
            if not self._turns:
                # One that had something keeps the room for it.
                self._turns = {}
        else:
            self._turns[turn.number] = turn

    def __bool__(self) -> bool:
        turns = [(turn.number, turn.status, turn.asker) for turn in self._turns.values()]
        return is_busy(turns, taken=bool(self.taken))
