"""How many messages somebody may send in a minute, by who they are and by the address that they come from: each may
ask a model, and be paid for.

Counted by the ``limits`` package in a moving window: in Redis where there is one, so for all processes together, else
in this one.
"""

from __future__ import annotations

import math
import time
from functools import lru_cache

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage, Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from envelopes import metrics
from envelopes.conf import conf
from envelopes.errors import TooManyMessages

PERSON, ADDRESS = "BEACH_MESSAGES_PER_MINUTE", "BEACH_MESSAGES_PER_ADDRESS"
"""The settings; 0 for no bound."""


def take_message(key: str, address: str = "") -> None:
    """One more message of whoever ``key`` names (``access.Principal.key``), from ``address``.

    Raises ``TooManyMessages`` with the setting as ``limit``, what is ``allowed``, and the seconds until the next one.
    What is refused counts for nothing.
    """
    for setting, who in ((PERSON, key), (ADDRESS, address)):
        allowed: int = getattr(conf, setting)
        if not who or not allowed:
            continue
        item = RateLimitItemPerMinute(allowed)
        limiter = _limiter(conf.REDIS_URL)
        if not limiter.hit(item, setting, who):
            metrics.REFUSED.labels(setting).inc()
            left = max(1, math.ceil(limiter.get_window_stats(item, setting, who).reset_time - time.time()))
            raise TooManyMessages(
                f"You have sent {allowed:,} messages within a minute, which is the limit. "
                f"Go on in {left} seconds.",
                limit=setting,
                allowed=allowed,
                retry_after=left,
            )


@lru_cache(maxsize=4)
def _limiter(redis: str) -> MovingWindowRateLimiter:
    storage: Storage = storage_from_string(redis) if redis else MemoryStorage()  # type: ignore[assignment]
    return MovingWindowRateLimiter(storage)


def forget() -> None:
    """Begin anew, for tests."""
    _limiter.cache_clear()
