"""What every row is given: how much to measure, floors, and sites that are made when they are first asked for."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path

from tests.bench.report import Target
from tests.bench.serving.chainlit import Chainlit
from tests.bench.serving.client import Conversation, run
from tests.bench.serving.climb import climb
from tests.bench.serving.database import Kind
from tests.bench.serving.floors import Floors
from tests.bench.serving.load import Carried
from tests.bench.serving.plan import SMALL, Plan
from tests.bench.serving.processes import BenchError
from tests.bench.serving.server import Server, Site

Found = tuple[float | None, str]
"""A value and what it is made of; no value and why not."""


@dataclass(frozen=True)
class Row:
    """A line of the report before it is measured. The value is to be at most the target, or at ``least``; one without a
    target is for information."""

    name: str
    unit: str
    target: float | None
    least: bool = False

    def shown(self, found: Found) -> Target:
        value, about = found
        if value is None:
            return Target.not_run(self.name, self.unit, self.target, about)
        if self.target is None:
            return Target.known(self.name, value, self.unit, about)
        make = Target.at_least if self.least else Target.at_most
        return make(self.name, value, self.unit, self.target, about)


class Bench:
    """One run; what it has made is gone when `stack` is closed."""

    def __init__(
        self,
        plan: Plan,
        rows: Sequence[str],
        folder: Path,
        command: str,
        chainlit: Chainlit | None,
        stack: ExitStack,
    ) -> None:
        self.plan, self.folder, self.chainlit = plan, folder, chainlit
        self.floors = Floors(plan, folder)
        self.failed = False
        self._rows = rows
        self._climbed: dict[str, Carried] = {}
        self._fell = ""
        self._command, self._stack = command, stack
        self._sites: dict[Kind, Site] = {}

    def site(self, kind: Kind) -> Site:
        """Raises BenchError where the database is not there."""
        if kind not in self._sites:
            most = self.plan.most
            self._sites[kind] = Site(kind, self.folder, self._command, most, self._stack)
        return self._sites[kind]

    def climb(self, step: str) -> Carried:
        """What was measured at a step of `climb`; all that this run needs are made at once. Raises BenchError."""
        if step not in self._climbed and not self._fell:
            self._climb()
        if step not in self._climbed:
            raise BenchError(f"{step}: not reached; {self._fell}")
        return self._climbed[step]

    def _climb(self) -> None:
        further = "rate" in self._rows
        wanted = (SMALL, max(self.plan.most[SMALL] if further else 0, self.plan.updates), 0)

        async def follow(server: Server, talks: Sequence[Conversation]) -> None:
            async with aclosing(climb(self.plan, server, talks)) as steps:
                async for step, carried in steps:
                    self._climbed[step] = carried
                    if not further:
                        return

        self._fell = "it is one of no row that was asked for"
        with self.site("sqlite").serving(wanted) as (server, (talks,)):
            try:
                run(follow(server, talks))
            except BenchError as error:
                # What was reached before counts.
                self._fell = str(error)

    def measure(self, rows: Sequence[Row], find: Callable[[], Sequence[Found]]) -> Iterator[Target]:
        """The rows with what `find` returns for each. A measurement that fails is told, and the others go on."""
        try:
            found = find()
        except Exception as error:  # noqa: BLE001  # told in the row, on standard error, and by the exit code
            self.failed = True
            if not isinstance(error, BenchError):
                traceback.print_exc()
            sys.stderr.write(f"{rows[0].name}: {error}\n")
            found = [(None, f"failed: {str(error).splitlines()[0] if str(error) else repr(error)}")] * len(
                rows
            )
        for row, one in zip(rows, found, strict=True):
            yield row.shown(one)
