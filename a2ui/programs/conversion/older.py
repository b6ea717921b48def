"""v0.8 to v0.9, by the adapter with which the engine reads it (rulebook 22)."""

from __future__ import annotations

from typing import Any

from a2ui.catalog.registry import Catalogs
from a2ui.engine import Engine
from a2ui.errors import A2uiError
from a2ui.programs.conversion.notes import Notes
from a2ui.programs.tree import perform
from a2ui.protocol.adapters import adapter_for
from a2ui.protocol.dialects import V0_9
from a2ui.surface.surface import Surface


class Older:
    """Translates the messages of one program, in order: what one of them comes to depends on the surfaces so far, which
    are played along."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._engine = Engine()
        self._surfaces = self._engine.surfaces()

    @property
    def catalogs(self) -> Catalogs:
        """See `Host`."""
        return self._engine.catalogs

    def surface(self, surface_id: object) -> Surface | None:
        """See `Host`."""
        return self._surfaces.get("", surface_id) if isinstance(surface_id, str) else None

    def messages(self, message: Any) -> list[dict[str, Any]] | None:
        """The messages of v0.9 that do the same as one of v0.8; None for a message that is none, or is refused."""
        adapter = adapter_for(message, self)
        if adapter is None:
            return None
        try:
            steps = adapter.translate(message, self)
        except A2uiError as error:
            self._notes.kept(f"It is refused: {error.message}")
            return None
        problems = self._surfaces.apply(message)
        for problem in problems:
            if problem.refused:
                self._notes.kept(f"It is refused: {problem.message}")
                return None
            self._notes.lost(problem.path, problem.message)
        verbs = ", ".join(next(key for key in step.message if key != "version") for step in steps)
        self._notes.rewritten("", f"v0.8 is translated: {verbs or 'nothing is left to do'}.")
        return [step.message | {"version": V0_9.version} for step in steps]

    def edited(self, message: dict[str, Any]) -> None:
        """A person's edit that stands in the program."""
        perform(self._surfaces, message)
