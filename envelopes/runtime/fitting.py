"""Whether a request has room with its model, and what is left out of one that its model does not take.

Tokens are estimated; what comes near the bound is counted by the provider, where it can (``count``).
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace

from envelopes.conf import conf
from envelopes.errors import ProviderError
from envelopes.models import Turn
from envelopes.providers.estimating import tokens_of
from envelopes.providers.failures import REFUSED, TOO_LONG, failed
from envelopes.providers.port import ModelRequest, Provider
from envelopes.providers.transcript import in_order, is_thinking, without_thinking
from envelopes.turns.history import left_out
from envelopes.turns.shortening import Shortened, shortened
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

NEAR = 0.7
"""Of what there is room for: estimates are wrong by less than the rest."""

LESS = 0.6
"""Of what was refused as too long is tried next."""

SHORTENED = 4
"""How often in a turn it is made shorter for a model that finds it too long: to an eighth in all."""

_OF_THINKING = re.compile(r"thinking|signature|reasoning", re.IGNORECASE)
"""In what is said of a request whose thinking the other side does not take back: it was another one that wrote it, its
keys have changed, or it never takes any."""

_OURS = "estimated"
"""The kind of an error that says that we found a request too long, not its model."""


@dataclass(frozen=True)
class Fitted:
    """``tokens``: of the request as it was, counted or estimated."""

    found: Shortened
    tokens: int


class Room:
    """What a turn's model takes, as far as that is known by now. ``sent``: the tokens of the last request."""

    def __init__(self) -> None:
        self._less: int | None = None
        self._is_thoughtless = False
        self._asked: ModelRequest | None = None
        self.sent = self._times = 0

    async def make(self, provider: Provider, turn: Turn, request: ModelRequest) -> JsonObject:
        """Leave out of ``turn``'s messages what has no room, stored with its next block; returns what the log has of
        that. Raises ``ProviderError`` where all that can be is left out, and it is still too long."""
        if self._is_thoughtless:
            request = replace(request, messages=without_thinking(request.messages))
        self._asked = request
        fitted = await fit(provider, request, self._less or room_of(provider))
        self.sent, found = fitted.tokens, fitted.found
        if not found.fits:
            who = provider.label
            raise failed(TOO_LONG, who, kind=_OURS, detail=f"{fitted.tokens} tokens have no room.")
        turn.messages = found.messages
        turn.told_from = found.told_from or turn.told_from
        told: JsonObject = {"toldFrom": found.told_from, "results": found.results}
        return {name: count for name, count in told.items() if count}

    def is_worth_less(self, error: ProviderError) -> bool:
        """Whether a model that refused its request, for its length or the thinking in it, is to be asked with less at
        once."""
        if _is_of_thinking(error) and self._asked is not None and _has_thinking(self._asked):
            self._is_thoughtless = True
            return True
        is_long = error.facts.get("why") == TOO_LONG.why and error.facts.get("kind") != _OURS
        if not is_long or self._times >= SHORTENED:
            return False
        self._times += 1
        self._less = int(min(self.sent, self._less or self.sent) * LESS)
        return True


def _has_thinking(request: ModelRequest) -> bool:
    return any(
        is_thinking(block)
        for message in request.messages
        if not isinstance(message["content"], str)
        for block in message["content"]
    )


def _is_of_thinking(error: ProviderError) -> bool:
    return error.facts.get("why") == REFUSED.why and bool(_OF_THINKING.search(str(error.facts.get("detail"))))


def room_of(provider: Provider) -> int:
    """How many tokens a request to ``provider`` may have."""
    room = getattr(provider, "room", None)
    return room if isinstance(room, int) and room > 0 else conf.BEACH_REQUEST_TOKENS


async def fit(provider: Provider, request: ModelRequest, room: int) -> Fitted:
    """``request``'s messages, shortened to ``room`` tokens where they have more."""
    fixed = tokens_of(request.system, request.tools)
    guessed = fixed + tokens_of(request.messages)
    if guessed <= NEAR * room:
        return Fitted(Shortened(request.messages, fits=True), guessed)
    counted = await _counted(provider, request) or guessed
    scale = counted / guessed

    def fits(messages: list[JsonObject]) -> bool:
        return (fixed + tokens_of(messages)) * scale <= room

    return Fitted(shortened(request.messages, fits, left_out), counted)


async def _counted(provider: Provider, request: ModelRequest) -> int | None:
    count = getattr(provider, "count", None)
    if count is None:
        return None
    try:
        counted: int = await count(replace(request, messages=in_order(request.messages)))
    except ProviderError as error:
        # The request itself will tell, if it matters.
        logger.info("Tokens could not be counted: %s", error.facts.get("kind"))
        return None
    return counted
