"""Problems of one surface that show only while it is rendered (rulebook 5.2)."""

from __future__ import annotations

from collections.abc import Iterable

from a2ui.errors import A2uiError, Diagnostic
from a2ui.safety.limits import Limits


class Reports:
    """Takes note of each cause once, until its component is redefined; of so many as the limit `errors` allows."""

    __slots__ = ("_allowed", "_count", "_known", "_problems", "_surface_id")

    def __init__(self, surface_id: str, limits: Limits) -> None:
        self._surface_id = surface_id
        self._allowed = limits.errors
        self._known: dict[str, set[tuple[str, str]]] = {}
        self._count = 0
        self._problems: list[Diagnostic] = []

    def add(self, error: A2uiError, component_id: str) -> None:
        """A problem of a component, "" for none in particular."""
        known = self._known.setdefault(component_id, set())
        cause = (error.code, error.message)
        if cause in known or self._count > self._allowed:
            return
        known.add(cause)
        self._count += 1
        if self._count > self._allowed:
            message = f"More than {self._allowed} problems; no more are reported for this surface."
            self._problems.append(Diagnostic("TOO_MANY_ERRORS", message, surface_id=self._surface_id))
            return
        facts = {**error.facts, "component": component_id}
        self._problems.append(
            Diagnostic(error.code, error.message, error.path, self._surface_id, facts=facts)
        )

    def forget(self, components: Iterable[str]) -> None:
        """The components were defined anew: what is wrong with them is news again."""
        if self._known:
            for component_id in components:
                self._known.pop(component_id, None)

    def take(self) -> list[Diagnostic]:
        """The problems since the last call."""
        problems, self._problems = self._problems, []
        return problems
