"""Trying a tool again by itself: on which exceptions, how often, after how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from envelopes.errors import RegistrationError
from envelopes.registries.policies import check_seconds

MOST_TIMES = 10
LONGEST_WAIT = 60.0
"""Seconds between two tries, at most, however often the wait has doubled."""


@dataclass(frozen=True)
class Retry:
    """``on`` are the exceptions that pass by themselves, such as ``ConnectionError``: after one of them, or of a class
    derived from it, the tool is run again, ``times`` times at most, after ``wait`` seconds, then after twice as many.

    All tries share the time limit of the tool; a wait that would not leave any of it is not begun, and the exception
    stands. Raises ``RegistrationError`` for what cannot be meant.
    """

    on: tuple[type[Exception], ...]
    times: int = 2
    wait: float = 0.5

    def __post_init__(self) -> None:
        on: Any = self.on
        times: Any = self.times
        if not isinstance(on, tuple) or not on:
            raise RegistrationError(f"`on` of a retry is a tuple of exceptions, not {on!r:.60}.")
        for kind in on:
            if not isinstance(kind, type) or not issubclass(kind, Exception):
                raise RegistrationError(f"{kind!r:.60} in `on` of a retry is no class of exceptions.")
            if kind is Exception:
                raise RegistrationError(
                    "`on` of a retry names what passes by itself: Exception is every fault."
                )
        if not isinstance(times, int) or isinstance(times, bool) or not 0 < times <= MOST_TIMES:
            raise RegistrationError(f"`times` of a retry is 1 to {MOST_TIMES}, not {times!r:.60}.")
        check_seconds("`wait` of a retry", self.wait, ())
        if not 0 <= self.wait <= LONGEST_WAIT:
            raise RegistrationError(f"`wait` of a retry is 0 to {LONGEST_WAIT:g} seconds, not {self.wait!r}.")

    def pause(self, failed: int) -> float:
        """Seconds to wait after ``failed`` tries, from 1."""
        return float(min(LONGEST_WAIT, self.wait * 2 ** (failed - 1)))
