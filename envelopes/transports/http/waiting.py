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
    """The turn that ``find`` gives: once it has settled or waits for a person, or as it is after ``seconds``."""
    turn, is_over = await in_session(session.pk, _looked_at, session, number)
    if seconds <= 0 or is_over:
        return turn
    follower = Follower(session, HTTP, Reader())
    try:
        async with asyncio.timeout(seconds), aclosing(follower.follow(turn.session.last_seq)) as items:
            # The first is that all rows are there: whatever comes from here on is heard.
            async for _ in items:
                turn, is_over = await in_session(session.pk, _looked_at, session, number)
                if is_over:
                    break
    except TimeoutError:
        pass
    finally:
        follower.close()
    return turn


def _looked_at(session: Session, number: int) -> tuple[Turn, bool]:
    turn = find(session, number)
    return turn, turn.status == TurnStatus.SETTLED or paused(turn) is not None


def find(session: Session, number: int) -> Turn:
    """The turn with this number, or the one that another actor goes on with it in; of one that another turn waits for,
    that one, where all of it is read; of one whose message has joined another turn, that one (D66)."""
    turns = Turn.objects.select_related("session")
    turn = turns.get(session=session, number=number)
    if turn.joined_id is not None:
        turn = turns.get(pk=turn.joined_id)
    if turn.delegated_from_id is not None:
        turn = turns.get(session=session, number=turn.shown_in)
    while turn.finalized_by == "passed" and turn.passed_to_id is not None:
        turn = turns.get(pk=turn.passed_to_id)
    return turn


def paused(turn: Turn) -> Turn | None:
    """The turn that waits for a person: ``turn``, or that of an actor which it has asked. None where there is none."""
    if turn.status != TurnStatus.WAITING:
        return turn if turn.status == TurnStatus.SUSPENDED else None
    asked = turn.delegations.exclude(status=TurnStatus.SETTLED).first()
    return paused(asked) if asked is not None else None


def declared_in(turn: Turn) -> str:
    """The turn state in which a turn waits, or is at work."""
    waits = turn.status in (TurnStatus.SUSPENDED, TurnStatus.WAITING)
    return turn.turn_state if waits and turn.turn_state else "awaiting"
