"""Lists of sessions that change while somebody looks at them: who has to be told that one of theirs did.

A ring of the doorbell with news names a session; whose it is costs one query for all that rang within a moment, and
none while nobody looks.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from django.db import DatabaseError, InterfaceError

from envelopes.access import owner_keys
from envelopes.database_threads import read_beside_sessions
from envelopes.log.doorbell import Doorbell, doorbell

logger = logging.getLogger(__name__)

GATHER_SECONDS = 0.5
"""How long sessions are gathered before anybody is told: a turn that begins and ends at once is one piece of news."""

Told = Callable[[], None]


@dataclass
class _Desk:
    """Who looks in one event loop, and what rang since they were last told."""

    stop: Callable[[], None]
    lookers: dict[Told, tuple[str, int]] = field(default_factory=dict)
    rung: set[int] = field(default_factory=set)
    telling: asyncio.Task[None] | None = None


class Listing:
    """Tells those who look at a list. One desk for each event loop."""

    def __init__(self, bell: Doorbell = doorbell) -> None:
        self.bell = bell
        self._lock = threading.Lock()
        self._desks: dict[asyncio.AbstractEventLoop, _Desk] = {}

    def watch(self, key: str, session: int, told: Told) -> Callable[[], None]:
        """Call ``told`` when a session of ``key`` (``Principal.key``) other than ``session`` has changed in the list;
        returns what ends that. Called inside the loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            desk = self._desks.get(loop)
            if desk is None:
                desk = self._desks[loop] = _Desk(self.bell.on_news(self._rang))
            desk.lookers[told] = (key, session)
        return partial(self._forget, loop, desk, told)

    def _forget(self, loop: asyncio.AbstractEventLoop, desk: _Desk, told: Told) -> None:
        with self._lock:
            desk.lookers.pop(told, None)
            if desk.lookers or self._desks.get(loop) is not desk:
                return
            del self._desks[loop]
        desk.stop()
        if desk.telling is not None:
            desk.telling.cancel()

    def _rang(self, session: int) -> None:
        desk = self._desks.get(asyncio.get_running_loop())
        if desk is None:
            return
        desk.rung.add(session)
        if desk.telling is None or desk.telling.done():
            desk.telling = asyncio.create_task(self._tell(desk))

    async def _tell(self, desk: _Desk) -> None:
        while desk.rung:
            await asyncio.sleep(GATHER_SECONDS)
            rung, desk.rung = desk.rung, set()
            if all(rung == {own} for _, own in desk.lookers.values()):
                # Each has that one open: whose it is changes nothing.
                continue
            try:
                keys = await read_beside_sessions(owner_keys, rung)
            except (DatabaseError, InterfaceError) as error:
                # A list is asked for again when somebody comes back to it.
                logger.warning("Nobody is told of %d sessions that changed: %r", len(rung), error)
                continue
            for told, (key, own) in list(desk.lookers.items()):
                if any(session != own for session in keys.get(key, ())):
                    told()


listing = Listing()
"""The lists of this process."""
