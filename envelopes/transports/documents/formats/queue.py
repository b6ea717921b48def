"""Patches that wait for one document: so many operations a tick, each patch whole (reading 8.1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from envelopes.transports.documents.formats.errors import BudgetExceeded, DocumentError
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS, DocumentLimits
from envelopes.transports.documents.formats.normalise import normalise
from envelopes.transports.documents.formats.patches import PatchDocument, apply
from envelopes.transports.documents.formats.reports import Report
from envelopes.types import Json, JsonObject

OnFailure = Literal["skip", "clear"]


@dataclass(frozen=True, slots=True)
class Ticked:
    """What one tick did. ``document`` is the same object as before where nothing was applied. ``rejected`` are patches
    that failed, by their place in the queue, with the error of each."""

    document: JsonObject
    applied: int
    remaining: int
    elapsed_ms: float
    rejected: tuple[tuple[int, DocumentError], ...]
    report: Report

    @property
    def exhausted(self) -> bool:
        """Whether patches remain for the next tick."""
        return self.remaining > 0


class PatchQueue:
    """The patches of one document, which is in its normal form and stays so.

    ``on_failure``: a patch that fails is rejected alone (``skip``), or empties the queue and leaves the document as it
    was before the tick (``clear``). ``clock`` gives seconds: time decides when a patch is applied, never whether.
    """

    def __init__(
        self,
        document: JsonObject,
        clock: Callable[[], float],
        limits: DocumentLimits = DEFAULT_LIMITS,
        *,
        on_failure: OnFailure = "skip",
    ) -> None:
        self.document = document
        self._clock = clock
        self._limits = limits
        self._on_failure = on_failure
        self._waiting: deque[PatchDocument] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, patch: PatchDocument) -> None:
        """Raises ``BudgetExceeded`` where the queue is full."""
        if len(self._waiting) >= (most := self._limits.queue_depth):
            raise BudgetExceeded(f"{most:,} patches wait already.", reason="BudgetExceeded", allowed=most)
        self._waiting.append(patch)

    def replace(self, document: Json) -> Report:
        """Take another document, and forget what waits. Raises ``InvalidInput``; then all is as before."""
        fresh = normalise(document, self._limits)
        self._waiting.clear()
        self.document = fresh.document
        return fresh.report

    def tick(self) -> Ticked:
        """Apply patches as long as there is room for the next one, the first in any case.

        With ``skip`` the document is normalised after each patch, so that one after which nothing could be shown is
        rejected alone; with ``clear`` once, at the end.
        """
        began = self._clock()
        report = Report()
        rejected: list[tuple[int, DocumentError]] = []
        state: Json = self.document
        applied = place = used = 0
        each = self._on_failure == "skip"
        while self._waiting and (place == 0 or self._has_room(used + len(self._waiting[0].ops), began)):
            patch = self._waiting.popleft()
            used += len(patch.ops)
            try:
                after = apply(state, patch, self._limits)
                state = self._normalised(after, report) if each else after
                applied += 1
            except DocumentError as error:
                rejected.append((place, error))
                if not each:
                    return self._cleared(rejected, began)
            place += 1
        if applied and not each:
            try:
                state = self._normalised(state, report)
            except DocumentError as error:
                return self._cleared([(place - 1, error)], began)
        self.document = state
        return Ticked(self.document, applied, len(self), self._since(began), tuple(rejected), report)

    def _cleared(self, rejected: list[tuple[int, DocumentError]], began: float) -> Ticked:
        self._waiting.clear()
        return Ticked(self.document, 0, 0, self._since(began), tuple(rejected), Report())

    def _normalised(self, state: Json, report: Report) -> JsonObject:
        fresh = normalise(state, self._limits)
        report.extend(fresh.report)
        return fresh.document

    def _has_room(self, operations: int, began: float) -> bool:
        return operations <= self._limits.tick_operations and self._since(began) < self._limits.tick_ms

    def _since(self, began: float) -> float:
        return (self._clock() - began) * 1_000
