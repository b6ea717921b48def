"""How often a model is asked again after it failed, and when: the one layer that does (SDKs are told not to).

Only what is likely to work is tried again, and each time later. What the other side asks us to wait is waited, up to a
bound: beyond it the turn ends, and the person is told from when on to ask.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from math import inf

from envelopes.conf import conf
from envelopes.errors import ProviderError
from envelopes.protocol.time import instant_at
from envelopes.protocol.zones import zone_of
from envelopes.types import JsonObject

FIRST_SECONDS = 1.0
"""Before the second attempt; each further wait is twice as long. A quarter more or less, so that turns which failed
together are not asked for together."""

LONGEST_SECONDS = 6 * 24 * 3600.0
"""Until when a day of the week says which one."""

MODE = "model"
"""Among the modes of a retry (``protocol.rows.TurnData``): the model is asked again within its turn."""

_random = secrets.SystemRandom()


@dataclass(frozen=True)
class Again:
    """Attempt ``number`` of ``of`` further ones, in ``seconds``."""

    number: int
    of: int
    seconds: float

    def told(self, error: ProviderError, label: str, now: float) -> JsonObject:
        """As the row has it: when, and of whom and why. ``now`` in seconds since 1970."""
        who, why = error.facts.get("who", label), error.facts.get("why", "trouble")
        at = instant_at(now + self.seconds)
        return {"number": self.number, "of": self.of, "mode": MODE, "at": at, "who": who, "why": why}


def again(error: ProviderError, failures: int) -> Again | None:
    """What follows the failure after ``failures`` others in a row; None where nothing does."""
    of, longest = conf.BEACH_MODEL_RETRIES, conf.BEACH_MODEL_RETRY_SECONDS
    asked = _asked(error)
    if not error.retryable or failures >= of or asked > longest:
        return None
    # The exponent is bounded by what is left of a float.
    wait = min(FIRST_SECONDS * 2.0 ** min(failures, 64), longest) * _random.uniform(0.75, 1.25)
    return Again(failures + 1, of, max(asked, min(wait, longest)))


def given_up(error: ProviderError, timezone: str, now: float) -> str:
    """The sentence for people once it is not tried again. ``timezone`` is theirs, ``now`` seconds since 1970."""
    asked = _asked(error)
    if error.retryable and asked > conf.BEACH_MODEL_RETRY_SECONDS:
        who = error.facts.get("who", "The model")
        zone = zone_of(timezone)
        if asked > LONGEST_SECONDS:
            return f"{who} is very busy and cannot answer for the next six days."
        at = datetime.fromtimestamp(now + asked, zone)
        day = "" if at.date() == datetime.fromtimestamp(now, zone).date() else f" on {at:%A}"
        return f"{who} is very busy and cannot answer before {at:%H:%M}{day}."
    return error.message


def _asked(error: ProviderError) -> float:
    """The seconds that the other side asks us to wait."""
    asked = error.facts.get("retry_after")
    return float(asked) if isinstance(asked, int | float) and 0 <= asked < inf else 0.0
