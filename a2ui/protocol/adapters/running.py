"""Applies a message of another version: all of its steps, or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from a2ui.catalog.registry import Catalogs
from a2ui.errors import A2uiError, Diagnostic
from a2ui.journal import Journal
from a2ui.protocol.adapters.port import Adapter, Step
from a2ui.protocol.messages import ServerMessage, read
from a2ui.safety.limits import Limits
from a2ui.surface.surface import Surface


@dataclass(slots=True)
class Run:
    """One message being translated and applied; the `Host` of its adapter.

    `find` and `apply` see the surfaces of the agent that sent the message; `journal` undoes what `apply` did.
    """

    catalogs: Catalogs
    limits: Limits
    find: Callable[[str], Surface | None]
    apply: Callable[[ServerMessage], list[Diagnostic]]
    journal: Journal
    problems: list[Diagnostic] = field(default_factory=list)

    def surface(self, surface_id: object) -> Surface | None:
        """See `Host.surface`."""
        return self.find(surface_id) if isinstance(surface_id, str) else None

    def run(self, adapter: Adapter, message: dict[str, Any]) -> list[Diagnostic]:
        """Every problem of the message; with a refused one it has changed nothing."""
        said = next((body.get("surfaceId") for body in message.values() if isinstance(body, dict)), None)
        surface_id = said if isinstance(said, str) else ""
        try:
            steps = adapter.translate(message, self)
        except A2uiError as error:
            return [*self.problems, Diagnostic.from_error(error, surface_id=surface_id, refused=True)]
        self.journal.begin()
        done = False
        try:
            done = all(self._done(step, adapter.version, surface_id) for step in steps)
        finally:
            if done:
                self.journal.keep()
            else:
                self.journal.undo()
        return self.problems

    def _done(self, step: Step, version: str, surface_id: str) -> bool:
        """Applies a step; False where that refuses the message."""
        found = self._step(step.message, version, surface_id)
        if not step.needed:
            found = [replace(problem, refused=False) for problem in found]
        self.problems += found
        return not any(problem.refused for problem in found)

    def _step(self, message: dict[str, Any], version: str, surface_id: str) -> list[Diagnostic]:
        typed = read(message, self.limits)
        if isinstance(typed, list):
            return typed
        try:
            return self.apply(typed._replace(version=version))
        except A2uiError as error:
            return [Diagnostic.from_error(error, surface_id=surface_id, refused=True)]
