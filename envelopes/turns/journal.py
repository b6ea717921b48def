"""The process log of turns: one line for each beginning, each end and each failure, in web and worker alike.

Numbers and names only: what people and models say belongs in the session's log.
"""

from __future__ import annotations

import logging
from datetime import datetime

from envelopes.errors import ProviderError
from envelopes.models import Turn

logger = logging.getLogger(__name__)


def name_of(turn: Turn, session: str) -> str:
    """How every line about a turn begins. ``session``: its public id."""
    return f"Turn {turn.number} of session {session}"


def started(turn: Turn, session: str, reason: str) -> None:
    """``reason``: started, resumed or recovered."""
    logger.info(
        "%s: %s, actor=%s attempt=%d",
        name_of(turn, session),
        reason,
        turn.actor,
        turn.attempt,
    )


def settled(turn: Turn, session: str, now: datetime) -> None:
    """``ms`` from when it was asked for, waiting for people included."""
    logger.info(
        "%s: settled, actor=%s state=%s by=%s steps=%d attempt=%d ms=%d",
        name_of(turn, session),
        turn.actor,
        turn.turn_state,
        turn.finalized_by,
        turn.steps,
        turn.attempt,
        (now - turn.created_at).total_seconds() * 1000,
    )


def provider_failed(turn: Turn, session: str, error: ProviderError, *, again: bool) -> None:
    """What the model's provider said, with the id under which it knows the request."""
    facts = error.facts
    logger.warning(
        "%s: the model failed, actor=%s kind=%s status=%s request=%s again=%s",
        name_of(turn, session),
        turn.actor,
        facts.get("kind", error.code),
        facts.get("status", "-"),
        facts.get("request_id") or "-",
        "yes" if again else "no",
    )


def failed(turn: Turn, session: str, code: str) -> None:
    """It ended without an answer."""
    logger.warning("%s: failed, actor=%s code=%s", name_of(turn, session), turn.actor, code)
