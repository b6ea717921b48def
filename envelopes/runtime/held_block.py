"""The last complete block of a reply, held for a moment: what comes right after it is mostly the end of the reply, and
then both are stored in one transaction."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

from envelopes.database_threads import in_session
from envelopes.errors import LeaseLost
from envelopes.models import Turn
from envelopes.turns import reply, steps
from envelopes.turns.deciding import Prepared, ReplyEnd
from envelopes.turns.leases import Claim

logger = logging.getLogger(__name__)

HOLD_SECONDS = 0.05
"""So long a block is held at most, and so much is lost at most of what was complete when a process is killed."""


class HeldBlock:
    """Stores the blocks of one reply, in order, and its end. A block stays here until its commit is known."""

    def __init__(self, claim: Claim, turn: Turn) -> None:
        self._claim = claim
        self._turn = turn
        self._block: reply.Block | None = None
        self._timer: asyncio.TimerHandle | None = None
        # What is on its way to the database: the block, or the end of the reply with it.
        self._storing: asyncio.Future[Any] | None = None
        self._ending: asyncio.Future[steps.Next] | None = None

    def hold(self, block: reply.Block) -> None:
        """``block`` is complete. Called when ``store`` has returned: everything before it is stored."""
        self._block = block
        self._timer = asyncio.get_running_loop().call_later(HOLD_SECONDS, self._begin)

    async def store(self) -> steps.Next | None:
        """Returns when everything that was complete is stored; what follows, if the end of the reply is among it.
        Raises what storing it raised, ``LeaseLost`` too."""
        self._begin()
        await self._stored()
        return self._ending.result() if self._ending is not None else None

    async def end(self, over: ReplyEnd, prepared: Prepared | None = None) -> steps.Next:
        """Store the end of the reply, with what is held. Raises as ``store`` does. It is stored even where whoever
        waits here is cancelled; ``store`` then waits for it, and tells what follows."""
        await self._stored()
        self._stop_timer()
        self._storing = self._ending = ending = in_session(
            self._claim.session_pk,
            steps.end_reply,
            self._claim,
            self._turn,
            over,
            self._block,
            prepared=prepared,
        )
        await self._stored()
        return ending.result()

    async def rescue(self) -> None:
        """After an error: store what was complete and is not stored yet, on the turn as the database has it. Raises
        what that raises, but nothing where somebody else has the turn by now."""
        self._stop_timer()
        with contextlib.suppress(LeaseLost):
            try:
                await self._stored()
            except LeaseLost:
                raise
            except Exception:
                logger.exception("A block could not be stored; it is tried once more.")
            block, self._block = self._block, None
            if block is not None:
                model = self._turn.model
                await in_session(self._claim.session_pk, reply.record_anew, self._claim, block, model)

    def close(self) -> None:
        """Store nothing more."""
        self._stop_timer()
        self._block = None

    def _begin(self) -> None:
        self._stop_timer()
        if self._block is not None and self._storing is None:
            self._storing = in_session(
                self._claim.session_pk, reply.record, self._claim, self._turn, self._block
            )

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _stored(self) -> None:
        if self._storing is None:
            return
        try:
            # It goes on when whoever waits here is cancelled: then it is waited for again.
            await asyncio.shield(self._storing)
        except Exception:
            # The block stays: whether it was stored after all, only the database knows.
            self._storing = self._ending = None
            raise
        self._storing = self._block = None
