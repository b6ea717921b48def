"""Applies a message of another version: all of its steps, or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from a2ui.catalog.registry import Catalogs
from a2ui.errors import A2uiError, Diagnostic
from a2ui.protocol.adapters.port import NOT_CARRIED_OVER, Adapter
from a2ui.protocol.messages import CreateSurface, ServerMessage, read
from a2ui.safety.limits import Limits
from a2ui.state.surface import Surface


@dataclass(slots=True)
class Run:
    """One message being translated and applied; the `Host` of its adapter.

    `find` and `apply` see the surfaces of the agent that sent the message; `delete` takes a surface away again.
    """

    catalogs: Catalogs
    limits: Limits
    find: Callable[[str], Surface | None]
    apply: Callable[[ServerMessage], list[Diagnostic]]
    delete: Callable[[Surface], None]
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
        made = False
        try:
            for step in adapter.translate(message, self):
                typed = read(step, self.limits)
                found = (
                    typed if isinstance(typed, list) else self.apply(typed._replace(version=adapter.version))
                )
                self.problems += found
                if any(problem.refused for problem in found):
                    break
                made = made or isinstance(typed, CreateSurface)
            else:
                return self.problems
        except A2uiError as error:
            self.problems.append(Diagnostic.from_error(error, surface_id=surface_id, refused=True))
        surface = self.find(surface_id)
        if made and surface is not None:
            self.delete(surface)
        return self.problems
