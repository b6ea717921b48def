"""Keeping the text that streams, for whoever connects meanwhile (D35): many streams of a process in one statement."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from itertools import islice

from envelopes.database_threads import beside_sessions
from envelopes.tasks import end
from envelopes.turns.leases import Claim, save_live
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

SAVE_SECONDS = 0.25

SHARE = 100
"""A write is followed by a pause that is so many times as long, where ``SAVE_SECONDS`` would be less: many long texts
would keep the database busy for nothing else."""

MOST_SECONDS = 2.0
"""How long a text waits for its next write because of such pauses: whoever opens a page in another process has to wait
for the text of now."""

AT_ONCE = 20
"""One write stores at most so many texts, first those that have waited longest. While it is put together the event loop
gets half of the interpreter's time: the texts of two hundred long replies in one write held it up for as long as
70 ms."""

STOP_SECONDS = 0.5
"""How long a write that is on its way may take when the process ends. What it would save is not shown again: whoever
carries the turn on writes its reply anew."""

Write = Callable[[Mapping[Claim, JsonObject]], set[Claim]]


class LiveSaver:
    """Writes what streams have grown to, each at most every ``SAVE_SECONDS``, seldom where that is much, one write at
    a time.

    A stream says only that it grew and goes on; how slow the database is, or whether it is there, is not its business.
    What could not be written is tried again in the next round, with the text of then. Belongs to one event loop.
    """

    def __init__(self, write: Write = save_live) -> None:
        """``write``: synchronous; returns whose text it stored."""
        self._write = write
        self._grown: dict[Claim, Callable[[], JsonObject]] = {}
        # What a write has taken, which of that is tried again where it is not stored, and whether the write has ended.
        self._on_its_way: frozenset[Claim] = frozenset()
        self._again: dict[Claim, Callable[[], JsonObject]] = {}
        self._landed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._due_at = 0.0
        self._failing = self._stopped = False

    @property
    def idle(self) -> bool:
        """Whether nothing is being written or waits to be."""
        return not self._grown and not self._on_its_way

    def start(self) -> None:
        """It may be used again after a stop; before the first one nothing has to be started."""
        self._stopped = False

    async def stop(self) -> None:
        """Take nothing more, and let a write that is on its way end, within a bound."""
        self._stopped = True
        self._grown.clear()
        self._again.clear()
        task = self._task
        if task is None:
            return
        if self._on_its_way:
            await asyncio.wait({task}, timeout=STOP_SECONDS)
        await end([task], seconds=STOP_SECONDS)

    def grew(self, claim: Claim, text: Callable[[], JsonObject]) -> None:
        """``text`` gives what there is to save, when it is about to be saved."""
        if self._stopped:
            return
        self._grown[claim] = text
        if self._task is None:
            # A reply that is over at once is never saved.
            self._due_at = max(self._due_at, asyncio.get_running_loop().time() + SAVE_SECONDS)
            self._task = asyncio.create_task(self._rounds())

    def forget(self, claim: Claim) -> None:
        """Do not save its text any more. A write that is on its way may still store what it has taken."""
        self._grown.pop(claim, None)
        self._again.pop(claim, None)

    async def over(self, claim: Claim) -> None:
        """After this nothing is stored over what is stored next: to be awaited before the text is taken off the turn,
        which keeps its attempt, so that no fence would tell a late write from one that is in time."""
        self.forget(claim)
        if claim in self._on_its_way:
            await self._landed.wait()

    async def _rounds(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._grown:
                if (early := self._due_at - loop.time()) > 0:
                    await asyncio.sleep(early)
                    continue
                began = loop.time()
                # The others have their turn before these have it again.
                part = min(1, AT_ONCE / len(self._grown))
                await self._save()
                pause = min(part * MOST_SECONDS, SHARE * (loop.time() - began))
                self._due_at = began + max(part * SAVE_SECONDS, pause)
        finally:
            self._task = None

    async def _save(self) -> None:
        self._again = dict(islice(self._grown.items(), AT_ONCE))
        for claim in self._again:
            del self._grown[claim]
        self._on_its_way = frozenset(self._again)
        self._landed.clear()
        try:
            stored = await self._stored({claim: text() for claim, text in self._again.items()})
            # What is left is locked by somebody just now, or its lease is lost and its stream about to end.
            for claim, text in self._again.items():
                if claim not in stored:
                    self._grown.setdefault(claim, text)
        finally:
            self._again, self._on_its_way = {}, frozenset()
            self._landed.set()

    async def _stored(self, live: Mapping[Claim, JsonObject]) -> set[Claim]:
        try:
            stored = await beside_sessions(self._write, live)
        except Exception:
            if not self._failing:
                # Once, and not four times a second for as long as a database is away.
                logger.exception("Streamed text could not be saved; it is tried again.")
            self._failing = True
            return set()
        if self._failing:
            logger.info("Streamed text is saved again.")
        self._failing = False
        return stored
