"""The process log of turns: one line for each beginning, each end and each failure, in web and worker alike.

Numbers and names only: what people and models say belongs in the session's log. Each line has its facts beside it
(``json_log``), and is counted (``metrics``).
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

from envelopes import metrics
from envelopes.errors import ProviderError
from envelopes.json_log import FACTS
from envelopes.models import Turn

logger = logging.getLogger(__name__)


def name_of(turn: Turn, session: str) -> str:
    """How every line about a turn begins. ``session``: its public id."""
    return f"Turn {turn.number} of session {session}"


def started(turn: Turn, session: str, reason: str) -> None:
    """``reason``: started, resumed or recovered."""
    _tell(logging.INFO, turn, session, reason, attempt=turn.attempt)


def settled(turn: Turn, session: str, now: datetime) -> None:
    """``ms`` from when it was asked for, waiting for people included."""
    seconds = (now - turn.created_at).total_seconds()
    metrics.settled(turn.actor, turn.finalized_by, seconds)
    spent = {"tokens": turn.tokens} if turn.tokens else {}
    cost = {"cost": round(turn.cost, 6)} if turn.cost else {}
    _tell(
        logging.INFO,
        turn,
        session,
        "settled",
        state=turn.turn_state,
        by=turn.finalized_by,
        steps=turn.steps,
        attempt=turn.attempt,
        **spent,
        **cost,
        ms=int(seconds * 1000),
    )


def provider_failed(turn: Turn, session: str, error: ProviderError, *, again: bool) -> None:
    """What the model's provider said, with the id under which it knows the request."""
    facts = error.facts
    kind = str(facts.get("kind", error.code))
    metrics.model_failed(kind, again=again)
    _tell(
        logging.WARNING,
        turn,
        session,
        "the model failed",
        kind=kind,
        status=facts.get("status", "-"),
        request=facts.get("request_id") or "-",
        again="yes" if again else "no",
    )


def failed(turn: Turn, session: str, code: str) -> None:
    """It ended without an answer."""
    _tell(logging.WARNING, turn, session, "failed", code=code)


def _tell(level: int, turn: Turn, session: str, what: str, **facts: Any) -> None:
    told = {"actor": turn.actor, **facts}
    words = " ".join(f"{name}={value}" for name, value in told.items())
    beside = {"what": what, "session": session, "turn": turn.number, **told}
    logger.log(level, "%s: %s, %s", name_of(turn, session), what, words, extra={FACTS: beside})
