"""v0.8 to v0.9, by the adapter with which the engine reads it (rulebook 22)."""

from __future__ import annotations

from typing import Any

from a2ui.catalog.registry import Catalogs
from a2ui.engine import Engine
from a2ui.errors import A2uiError
from a2ui.programs.conversion.notes import Notes
from a2ui.programs.tree import is_pseudo, perform
from a2ui.protocol.adapters import adapter_for
from a2ui.protocol.dialects import V0_9, V08_VERBS
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

    @staticmethod
    def speaks(message: Any) -> bool:
        """Whether this is a message that no version but v0.8 has."""
        return isinstance(message, dict) and any(verb in message for verb in V08_VERBS)

    def messages(self, message: Any) -> list[Any]:
        """The messages of v0.9 that do the same as one of v0.8; any other one, and one that is refused, as it is."""
        if is_pseudo(message):
            perform(self._surfaces, message)
            return [message]
        adapter = adapter_for(message, self)
        if adapter is None:
            self._surfaces.apply(message)
            return [message]
        try:
            steps = adapter.translate(message, self)
        except A2uiError as error:
            self._notes.kept(f"It is refused: {error.message}")
            return [message]
        problems = self._surfaces.apply(message)
        refused = next((problem for problem in problems if problem.refused), None)
        if refused is not None:
            self._notes.kept(f"It is refused: {refused.message}")
            return [message]
        for problem in problems:
            self._notes.lost(problem.path, problem.message)
        verbs = ", ".join(next(key for key in step.message if key != "version") for step in steps)
        self._notes.rewritten("", f"v0.8 is translated: {verbs or 'nothing is left to do'}.")
        return [step.message | {"version": V0_9.version} for step in steps]
