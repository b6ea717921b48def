"""The codes with which the panel's socket is closed; docs/architecture.md says what the page does then."""

from __future__ import annotations

from dataclasses import dataclass

from envelopes.delivery.catching_up import Changed, NotInLog
from envelopes.delivery.follower import AWAY
from envelopes.errors import Forbidden, NotFound, TooOften, Unavailable
from envelopes.session_state import TooFarBack

NO_LOGIN, NOT_YOURS, RELOAD, WHO_NOW = 4401, 4403, 4410, 4411
"""The first two are final and said at the handshake only: what an open connection loses may come back with the cookies
that the browser has by now."""

LATER = 1013
"""Try again later, of the IANA registry of close codes."""

TOO_MANY = 4429
"""The same for who has as many pages open as one may: as 429 of HTTP. It says what helps, which 1013 does not."""


@dataclass(frozen=True)
class Close:
    code: int
    reason: str


def refused(error: Exception) -> Close | None:
    """How the handshake ends that failed with ``error``; None for one that nobody expects."""
    match error:
        case Forbidden():
            return Close(NO_LOGIN, error.message)
        case NotFound():
            return Close(NOT_YOURS, error.message)
        case TooOften():
            return Close(TOO_MANY, error.message)
        case _ if isinstance(error, AWAY):
            return Close(LATER, Unavailable().message)
        case _:
            return None


def ended(error: Exception) -> Close | None:
    """How an open connection ends with ``error``; None where it goes on."""
    match error:
        case Changed():
            return Close(WHO_NOW, error.message)
        case NotInLog() | TooFarBack():
            return Close(RELOAD, error.message)
        case _:
            return None
