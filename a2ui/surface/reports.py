"""Problems of one surface that show only while it is rendered (rulebook 5.2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from a2ui.errors import A2uiError, Diagnostic
from a2ui.journal import Journal
from a2ui.safety.limits import Limits


class Reports:
    """Takes note of each cause once, until its component is redefined; of so many as the limit `errors` allows."""

    __slots__ = ("_allowed", "_count", "_journal", "_known", "_problems", "_surface_id")

    def __init__(self, surface_id: str, limits: Limits, journal: Journal) -> None:
        self._journal = journal
        self._surface_id = surface_id
        self._allowed = limits.errors
        self._known: dict[str, set[tuple[str, str]]] = {}
        self._count = 0
        self._problems: list[Diagnostic] = []

    def add(self, error: A2uiError, component_id: str) -> None:
        """A problem of a component, "" for none in particular."""
        cause = (error.code, error.message)
        if cause in self._known.get(component_id, ()) or self._count > self._allowed:
            return
        if self._journal.on:
            self._journal.state(self)
        self._known.setdefault(component_id, set()).add(cause)
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
            if self._journal.on:
                self._journal.state(self)
            for component_id in components:
                self._known.pop(component_id, None)

    def take(self) -> list[Diagnostic]:
        """The problems since the last call."""
        if self._journal.on and self._problems:
            self._journal.state(self)
        problems, self._problems = self._problems, []
        return problems

    def saved(self) -> tuple[Any, ...]:
        """See `journal.Saved`."""
        known = {component_id: causes.copy() for component_id, causes in self._known.items()}
        return known, self._count, self._problems.copy()

    def load(self, saved: Any) -> None:
        """See `journal.Saved`."""
        self._known, self._count, self._problems = saved
