"""Applies a message of another version: all of its steps, or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from a2ui.catalog.registry import Catalogs
from a2ui.errors import A2uiError, Diagnostic
from a2ui.protocol.adapters.port import NOT_CARRIED_OVER, Adapter
from a2ui.protocol.messages import ServerMessage, read
from a2ui.safety.limits import Limits
from a2ui.state.surface import Surface


@dataclass(slots=True)
class Run:
    """One message being translated and applied; the `Host` of its adapter.

    `find` and `apply` see the surfaces of the agent that sent the message; `undo` brings back those that there were.
    """

    catalogs: Catalogs
    limits: Limits
    find: Callable[[str], Surface | None]
    apply: Callable[[ServerMessage], list[Diagnostic]]
    undo: Callable[[], None]
    problems: list[Diagnostic] = field(default_factory=list)

    def surface(self, surface_id: object) -> Surface | None:
        """See `Host.surface`."""
        return self.find(surface_id) if isinstance(surface_id, str) else None

    def left_out(self, surface_id: str, what: str, path: str) -> None:
        """See `Host.left_out`."""
        message = f"{what} has no counterpart in this renderer and was left out."
        self.problems.append(Diagnostic(NOT_CARRIED_OVER, message, path, surface_id))

    def run(self, adapter: Adapter, message: dict[str, Any]) -> list[Diagnostic]:
        """Every problem of the message; with a refused one it has changed nothing."""
        said = next((body.get("surfaceId") for body in message.values() if isinstance(body, dict)), None)
        surface_id = said if isinstance(said, str) else ""
        try:
            steps = adapter.translate(message, self)
        except A2uiError as error:
            return [*self.problems, Diagnostic.from_error(error, surface_id=surface_id, refused=True)]
        for step in steps:
            found = self._step(step.message, adapter.version, surface_id)
            if not step.needed:
                found = [replace(problem, refused=False) for problem in found]
            self.problems += found
            if any(problem.refused for problem in found):
                self.undo()
                break
        return self.problems

    def _step(self, message: dict[str, Any], version: str, surface_id: str) -> list[Diagnostic]:
        typed = read(message, self.limits)
        if isinstance(typed, list):
            return typed
        try:
            return self.apply(typed._replace(version=version))
        except A2uiError as error:
            return [Diagnostic.from_error(error, surface_id=surface_id, refused=True)]
