"""Rows that are on their way into the log, and already in the surfaces of this process: kept, or undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from a2ui import Attempt, SurfaceChange
from envelopes.log.backends.port import Stored
from envelopes.protocol.rows import Row


@dataclass(eq=False, slots=True)
class Pending:
    """What a session would be after ``rows``, which follow one another from row ``seq`` + 1.

    ``changes`` is what each did to the surfaces. ``attempt`` undoes all of it. ``stored`` says that the log has them;
    their ``at`` is that of ``stored``.
    """

    seq: int
    rows: Sequence[Row]
    changes: Sequence[Sequence[SurfaceChange]]
    attempt: Attempt
    stored: Stored | None = None
