"""Timing on a machine that others use too: CPU time, rounds in turn, medians."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter, process_time

Run = Callable[[], object]


def per_call(run: Run, calls: int) -> float:
    """CPU seconds a call. What earlier calls left for the collector is not on this one's account; neither are short
    calls charged for the caches of the processor, which the collector's walk has emptied."""
    gc.collect()
    if calls > 1:
        run()
    began = process_time()
    kept = [run() for _ in range(calls)]
    taken = process_time() - began
    # What was made is let go when nobody looks at the clock.
    kept.clear()
    return taken / calls


def in_turn(runs: Sequence[Callable[[], float]], seconds: float, least: int = 7) -> list[float]:
    """Median of what each measurement returns. They take turns for `seconds`, so that whatever else the machine does
    meets all of them."""
    found: list[list[float]] = [[] for _ in runs]
    end = perf_counter() + seconds
    while len(found[0]) < least or perf_counter() < end:
        for results, run in zip(found, runs, strict=True):
            results.append(run())
    return [median(results) for results in found]
