"""The places that a runner keeps for turns which are claimed where they are opened (``turns.places``)."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial

from envelopes.database_threads import call_in, waiting_in_session
from envelopes.turns.leases import Claim
from envelopes.turns.places import Place, places

JOBS_BEFORE = 24
"""While more wait for the thread of a session, no turn is begun where it is opened: what is under way would wait longer
for its end."""


class KeptPlaces:
    """One place a session, from when it is asked for until the loop has heard what became of it.

    ``has_room(session)`` is asked from any thread, with ``lock`` held: whoever counts the same room holds it too.
    ``taken`` and ``given_back`` are called inside the loop, the latter for each place.
    """

    def __init__(
        self,
        owner: str,
        has_room: Callable[[int], bool],
        taken: Callable[[Claim], None],
        given_back: Callable[[int], None],
    ) -> None:
        self.lock = threading.Lock()
        self._owner, self._has_room = owner, has_room
        self._taken, self._given_back = taken, given_back
        self._sessions: set[int] = set()
        self._emptied: asyncio.Event | None = None

    def __contains__(self, session: int) -> bool:
        return session in self._sessions

    def __len__(self) -> int:
        return len(self._sessions)

    def offer(self) -> Callable[[], None]:
        """Let who opens turns ask for them; returns what ends that. Called inside the loop."""
        return places.offer(partial(self._keep, asyncio.get_running_loop(), contextvars.copy_context()))

    async def all_given_back(self, seconds: float) -> bool:
        """Wait until none is kept any more; whether that is so in time."""
        self._emptied = asyncio.Event()
        if self._sessions:
            try:
                await asyncio.wait_for(self._emptied.wait(), seconds)
            except TimeoutError:
                return False
        return True

    def _keep(
        self, loop: asyncio.AbstractEventLoop, context: contextvars.Context, session: int
    ) -> Place | None:
        if not loop.is_running() or waiting_in_session(session) > JOBS_BEFORE:
            return None
        with self.lock:
            if session in self._sessions or not self._has_room(session):
                return None
            self._sessions.add(session)

        def inside(call: Callable[..., None], *given: object) -> None:
            # What the context of whoever opens a turn says must not reach the turn.
            call_in(loop, partial(context.copy().run, call, *given))

        return Place(self._owner, partial(inside, self._take), partial(inside, self._give_back, session))

    def _take(self, claim: Claim) -> None:
        self._taken(claim)
        self._give_back(claim.session_pk)

    def _give_back(self, session: int) -> None:
        self._sessions.discard(session)
        self._given_back(session)
        if self._emptied is not None and not self._sessions:
            self._emptied.set()
