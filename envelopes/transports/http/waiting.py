"""Until a turn has settled or waits for a person, as long as its caller has patience."""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing

from envelopes.conf import conf
from envelopes.database_threads import in_session
from envelopes.delivery import Follower, Reader
from envelopes.models import Session, Turn
from envelopes.registries.statuses import TurnStatus
from envelopes.transports.http.transport import HTTP

OVER = (TurnStatus.SETTLED, TurnStatus.SUSPENDED)

_WAIT = re.compile(r"wait=(\d{1,5})")


def patience(prefer: str) -> float:
    """How many seconds to wait, by the header ``Prefer`` (RFC 7240): none with ``respond-async``, at most so many with
    ``wait=N``, never longer than ``BEACH_HTTP_WAIT_SECONDS``."""
    preferences = [word.strip().lower() for word in prefer.split(",")]
    if "respond-async" in preferences:
        return 0.0
    asked = [float(found[1]) for word in preferences if (found := _WAIT.fullmatch(word))]
    return float(min([conf.BEACH_HTTP_WAIT_SECONDS, *asked[:1]]))


async def standing(session: Session, number: int, seconds: float) -> Turn:
    """The turn with this number, or the one that goes on with it where it was passed on: once it is over, or as it is
    after ``seconds``."""
    turn = await in_session(session.pk, find, session, number)
    if seconds <= 0 or turn.status in OVER:
        return turn
    follower = Follower(session, HTTP, Reader())
    try:
        async with asyncio.timeout(seconds), aclosing(follower.follow(turn.session.last_seq)) as items:
            # The first is that all rows are there: whatever comes from here on is heard.
            async for _ in items:
                turn = await in_session(session.pk, find, session, number)
                if turn.status in OVER:
                    break
    except TimeoutError:
        pass
    finally:
        follower.close()
    return turn


def find(session: Session, number: int) -> Turn:
    """The turn with this number, or the one that another actor goes on with it in."""
    turn = Turn.objects.select_related("session").get(session=session, number=number)
    while turn.finalized_by == "passed" and turn.passed_to_id is not None:
        turn = Turn.objects.select_related("session").get(pk=turn.passed_to_id)
    return turn


def declared_in(turn: Turn) -> str:
    """The turn state in which a turn waits, or is at work."""
    waits = turn.status in (TurnStatus.SUSPENDED, TurnStatus.WAITING)
    return turn.turn_state if waits and turn.turn_state else "awaiting"
