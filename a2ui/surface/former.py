"""Ids of surfaces that were deleted: 1.0 asks for ids that are unique as long as the renderer lives (3.1).

Here one may come again once it is free, which is told once.
"""

from __future__ import annotations

from typing import Any, Final

from a2ui.errors import Diagnostic
from a2ui.journal import Journal

SURFACE_ID_REUSED: Final = "SURFACE_ID_REUSED"

_REMEMBERED = 200


class FormerIds:
    """The last few hundred, by owner and id, and of each whether it was told that it came again."""

    __slots__ = ("_journal", "_told")

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._told: dict[tuple[str, str], bool] = {}

    def add(self, owner: str, surface_id: str) -> None:
        """A surface was deleted."""
        if (owner, surface_id) in self._told:
            return
        if self._journal.on:
            self._journal.entries(self._told)
        self._told[owner, surface_id] = False
        if len(self._told) > _REMEMBERED:
            del self._told[next(iter(self._told))]

    def again(self, owner: str, surface_id: str) -> list[Diagnostic]:
        """What is told of a new surface with this id."""
        if self._told.get((owner, surface_id)) is not False:
            return []
        if self._journal.on:
            self._journal.item(self._told, (owner, surface_id))
        self._told[owner, surface_id] = True
        message = (
            f"The id {surface_id[:60]!r} belonged to a surface that was deleted. Use a new one for each."
        )
        return [Diagnostic(SURFACE_ID_REUSED, message, "/surfaceId", surface_id)]

    def snapshot(self) -> dict[str, Any]:
        """Part of the snapshot of a session."""
        return {"former": [[*names, told] for names, told in self._told.items()]} if self._told else {}

    def load(self, snapshot: Any) -> None:
        """See `snapshot`."""
        self._told = {(owner, surface_id): told for owner, surface_id, told in snapshot.get("former", ())}
