"""What rows mean to a request that waits for its turn."""

from __future__ import annotations

from collections.abc import Sequence

from a2ui import SurfaceChange
from envelopes.protocol.rows import Row
from envelopes.types import Json


class Standing:
    """Of each row that changes where a turn stands, that it does."""

    busy = False

    def apply(self, row: Row, changes: Sequence[SurfaceChange], prev: int) -> str | None:
        return row.kind if row.kind in ("turn", "settled") else None

    def place(self, turn: int) -> None:
        return None

    def snapshot(self) -> Json:
        return None
