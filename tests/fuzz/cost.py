"""What an input costs, in milliseconds of a machine that has nothing else to do.

Processor time of this thread, divided by what a fixed piece of work takes at the same moment: other processes, slow
machines and instrumented interpreters change both alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable

BOUND_MS = 50.0
"""What any hostile input may cost."""

MS_PER_KIB = 0.6
"""What each KiB of a large input may cost beyond it: reading it is linear."""

_LOOPS = 20_000
_LOOPS_MS = 2.0
"""What the loops below take on an ordinary machine."""


def _unit() -> float:
    began = time.thread_time()
    table: dict[str, int] = {}
    for number in range(_LOOPS):
        table[f"k{number % 97}"] = number
    return (time.thread_time() - began) * 1000 / _LOOPS_MS


def slowness() -> float:
    """How many times slower than an ordinary machine that has nothing else to do this one is now; 1 at least."""
    return max(1.0, _unit())


def cost(run: Callable[[], object], *, bound: float = BOUND_MS, tries: int = 4) -> float:
    """Milliseconds that `run` takes: the least of several tries, as soon as one is within the bound."""
    least = float("inf")
    for _ in range(tries):
        before = slowness()
        began = time.thread_time()
        run()
        took = (time.thread_time() - began) * 1000
        factor = max(before, slowness())
        least = min(least, took / factor)
        if least <= bound:
            break
    return least


def bound(size: int) -> float:
    """What an input of so many bytes may cost."""
    return BOUND_MS + MS_PER_KIB * size / 1024
