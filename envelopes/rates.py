"""How many messages somebody may send in a minute, by who they are and by the address that they come from: each may
ask a model, and be paid for.

Counted by the ``limits`` package in a moving window: in Redis where there is one, so for all processes together, else
in this one, as while Redis does not answer.
"""

from __future__ import annotations

import logging
import math
import time
from functools import lru_cache

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from envelopes import metrics
from envelopes.conf import conf
from envelopes.errors import TooManyMessages

PERSON, ADDRESS = "BEACH_MESSAGES_PER_MINUTE", "BEACH_MESSAGES_PER_ADDRESS"
"""The settings; 0 for no bound."""

PATIENCE = 1.0
"""Seconds in which Redis answers, or does not."""
AWAY_SECONDS = 10.0
"""How long it is not asked again then: every message would wait for it."""

logger = logging.getLogger(__name__)


class _Away:
    """``until`` when Redis is not asked, by the monotonic clock."""

    until = 0.0


def take_message(key: str, address: str = "") -> None:
    """One more message of whoever ``key`` names (``access.Principal.key``), from ``address``.

    Raises ``TooManyMessages`` with the setting as ``limit``, what is ``allowed``, and the seconds until the next one.
    What is refused counts for nothing.
    """
    for setting, who in ((PERSON, key), (ADDRESS, address)):
        allowed: int = getattr(conf, setting)
        if not who or not allowed:
            continue
        left = _wait(RateLimitItemPerMinute(allowed), setting, who)
        if left:
            metrics.REFUSED.labels(setting).inc()
            raise TooManyMessages(
                f"You have sent {allowed:,} messages within a minute, which is the limit. "
                f"Go on in {left} seconds.",
                limit=setting,
                allowed=allowed,
                retry_after=left,
            )


def _wait(item: RateLimitItem, *who: str) -> int:
    """Seconds until ``who`` may; 0 where they may now, which counts."""
    if conf.REDIS_URL and time.monotonic() >= _Away.until:
        try:
            return _left(_limiter(conf.REDIS_URL), item, *who)
        except StorageError as error:
            _Away.until = time.monotonic() + AWAY_SECONDS
            logger.warning(
                "Redis does not answer; messages are counted by each process: %r", error.storage_error
            )
    return _left(_limiter(""), item, *who)


def _left(limiter: MovingWindowRateLimiter, item: RateLimitItem, *who: str) -> int:
    if limiter.hit(item, *who):
        return 0
    return max(1, math.ceil(limiter.get_window_stats(item, *who).reset_time - time.time()))


@lru_cache(maxsize=4)
def _limiter(redis: str) -> MovingWindowRateLimiter:
    if not redis:
        return MovingWindowRateLimiter(MemoryStorage())
    patience = {"socket_connect_timeout": PATIENCE, "socket_timeout": PATIENCE}
    storage = storage_from_string(redis, wrap_exceptions=True, **patience)
    return MovingWindowRateLimiter(storage)


def forget() -> None:
    """Begin anew, for tests."""
    _Away.until = 0.0
    _limiter.cache_clear()
