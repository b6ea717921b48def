"""The conversation as its people saw it at one row (``session_state.replay``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from envelopes.admin.conversation.folds import Piece, folded
from envelopes.admin.conversation.rows import Near, near
from envelopes.models import Session
from envelopes.registries.transports import Draws
from envelopes.session_state import live_sessions
from envelopes.session_state.replay import at_row

SEEN_BY = "panel"
"""The transport whose page is shown."""

RAIL = 96
"""The marks of the rail lie within so many hundredths of its width."""


@dataclass(frozen=True)
class Mark:
    """A mark on the rail: ``x`` in hundredths of its width."""

    x: str
    kind: str


@dataclass(frozen=True)
class Moment:
    """``reached`` is the row that is shown: ``near.at``, or an earlier one that one request came to. ``earlier`` is the
    row at which what stands above the first piece is to be seen; None where nothing does."""

    pieces: Sequence[Piece]
    near: Near
    reached: int
    earlier: int | None

    @property
    def is_last(self) -> bool:
        return self.near.at >= self.near.last

    @property
    def whole(self) -> bool:
        return self.reached >= self.near.at

    def rail(self) -> list[Mark]:
        length = max(1, self.near.last - 1)
        return [Mark(f"{1 + (seq - 1) / length * RAIL:.1f}%", kind) for seq, kind in self.near.marks()]


def moment_of(session: Session, asked: int | None) -> Moment:
    """``session`` at the row that was asked for, within the log; at its last one where none was."""
    live_sessions.check(session)
    at = session.last_seq if asked is None else max(1, min(asked, session.last_seq))
    if not session.last_seq:
        return Moment([], Near([], 0, 1, 0), 0, None)
    rows = near(session, at)
    with at_row(session, SEEN_BY, at) as reached:
        presenter: object = reached.presented.presenter
        blocks = (
            list(presenter.drawn(reached.presented.state.surfaces)) if isinstance(presenter, Draws) else []
        )
        seq = reached.seq
    pieces = folded(blocks, [row for row in rows.rows if row.seq <= seq])
    first = next((block.seq for block in blocks if block.seq), 0)
    above = any(block.html and not block.seq for block in blocks)
    return Moment(pieces, rows, seq, first - 1 if above and first > 1 else None)
