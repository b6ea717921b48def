"""Rows that this process has committed, for whoever keeps sessions at hand: what was just written need not be read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from envelopes.log.new_row import NewRow
from envelopes.log.reading import reader_for
from envelopes.protocol.rows import Row

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Committed:
    """What one transaction appended to the log of a session, in order, from number ``first`` on."""

    session_pk: int
    first: int
    new: Sequence[NewRow]
    at: datetime

    def rows(self) -> list[Row]:
        """The rows as everybody reads them, whatever the database makes of what was written."""
        read = reader_for()
        return [row.numbered(seq, self.at, read(row.text)) for seq, row in enumerate(self.new, self.first)]


Taker = Callable[[Committed], None]

_takers: list[Taker] = []


def hand_to(taker: Taker) -> None:
    """Call ``taker`` with everything that ``writing`` and ``reserving`` commit, in the thread that did, before the bell
    rings."""
    _takers.append(taker)


def hand_over(committed: Committed) -> None:
    """Called after the commit. A taker that raises costs its readers a look into the log, and nothing else."""
    for taker in _takers:
        try:
            taker(committed)
        except Exception:
            logger.exception("Rows of session %s were not taken over.", committed.session_pk)
