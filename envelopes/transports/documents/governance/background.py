"""A flag that is switched takes effect on what is on screen: looks at the flags, and has those documents drawn again
whose verdict has become another one. What another process has done already is left alone."""

from __future__ import annotations

import asyncio
import logging

from envelopes import flags
from envelopes.conf import conf
from envelopes.database_threads import later_in_session, read_beside_sessions
from envelopes.log.append import writing
from envelopes.models import Document
from envelopes.tasks import end
from envelopes.transports.documents.formats.experimental import read
from envelopes.transports.documents.governance.holding import look_again
from envelopes.transports.documents.governance.verdicts import verdict

logger = logging.getLogger(__name__)

AT_ONCE = 100
"""Documents that are looked at between two looks for the next ones."""
END_SECONDS = 5.0


class Flags:
    """``start`` and ``stop`` belong to one event loop. The first look is at all documents that have a flag: it may have
    been switched while no process ran."""

    def __init__(self) -> None:
        self._loop: asyncio.Task[None] | None = None
        self._known: dict[str, flags.Signature] | None = None

    async def start(self) -> None:
        """Begin."""
        if self._loop is None and flags.installed():
            self._loop = asyncio.create_task(self._forever())

    async def stop(self) -> None:
        """End; what is left another process does, or the next start."""
        if self._loop is not None:
            await end([self._loop], seconds=END_SECONDS)
            self._loop = None

    async def _forever(self) -> None:
        while True:
            try:
                await self.once()
            except asyncio.CancelledError:
                raise
            except Exception:
                logger.exception("Flags could not be looked at; the next look tries again.")
            await asyncio.sleep(conf.BEACH_FLAG_SECONDS)

    async def once(self) -> None:
        """Look at the flags, and at the documents of those that have changed since the last look."""
        now, before = await read_beside_sessions(flags.signatures), self._known
        if before is None:
            await self._redraw(None)
        else:
            for name in sorted(now.keys() | before.keys()):
                if now.get(name) != before.get(name):
                    await self._redraw(name)
        self._known = now

    async def _redraw(self, name: str | None) -> None:
        after = 0
        while batch := await read_beside_sessions(_documents, name, after):
            for document, session in batch:
                try:
                    await later_in_session(session, redraw, document)
                except Exception:
                    # One that cannot be drawn must not keep the others from it.
                    logger.exception("Document %s could not be drawn again.", document)
            after = batch[-1][0]


def _documents(name: str | None, after: int) -> list[tuple[int, int]]:
    found = Document.objects.exclude(flag="") if name is None else Document.objects.filter(flag=name)
    return list(found.filter(pk__gt=after).order_by("pk").values_list("pk", "session_id")[:AT_ONCE])


def redraw(pk: int) -> bool:
    """Draw one document again where its verdict has changed; whether it has. Asks before it locks."""
    found = Document.objects.select_related("session").filter(pk=pk).first()
    block = read(found.document) if found is not None else None
    if found is None or block is None or verdict(block, found.session, found.owner) == found.blocked:
        return False
    with writing(found.session_id) as writer:
        kept = Document.objects.select_related("turn").filter(pk=pk).first()
        return kept is not None and look_again(writer, kept)
