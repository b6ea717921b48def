"""The garbage collector as a server of ours sets it."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable

from envelopes.serving import allocator

_THRESHOLDS = (300_000, 20, 50)
"""Allocations before the youngest generation is searched, and how many such searches before the next older one.
A message of five thousand components and their surface are about a hundred thousand objects that stay: with Python's
700 the collector looks at each of them many times while they are made and finds nothing, which takes longer than making
them."""

SECONDS = 1.0
"""How often `attend` looks whether there may be something to free."""
LEAST_BLOCKS = 10_000
"""So many more blocks of memory than after the last search, about a megabyte, are worth one."""
SHARE = 0.25
"""And so large a part of what has come since the start: a process that has much does not look at it all the time."""
BUSY = 0.5
"""A process that has used a larger part of the time since the last look for work is not searched now: nothing else runs
meanwhile, and whoever comes back with a thousand others would wait for it too."""
PATIENCE = 2
"""But for one that has grown by so many times as much: it may never have less to do."""
BLOCKS_A_CONTAINER = 10
"""Only what holds other objects can be part of a circle. Where fewer of these have come than one for so many blocks,
most is text, such as answers that are being written, and a search would stop everybody for nothing."""

YOUNG_LOOKS = 10
"""Each look searches what has come since the one before, each of so many what has come since the one that did so: each
request leaves its page in a circle of Django's tasks, which are freed so before they have made others place."""

REST_LOOKS = 300
"""After so many looks without a search of all, one that is not busy has it anyway, where the last one took no longer
than ``REST_SECONDS``. Only that lets go of what Python itself keeps of freed tuples, thousands of each size."""
REST_SECONDS = 0.1
"""Of processor time: beside others that are busy a short search may take long as well, and would be the last one."""

TRIM_LOOKS = 60
"""Once in so many looks what the C library has free is given back, by a process that is not busy."""


def settle() -> None:
    """To be called once after start-up: what is there by now (modules, models, catalogs, locale data) is never
    looked at again, and searches come less often. Reference counting, which frees nearly everything, is not
    touched."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


class Attendant:
    """Searches what is young all the time, and all generations when memory has grown. After `settle` nobody else does,
    for days: surfaces are cycles, and a server that only serves makes few objects that stay."""

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._at_start = self._after = sys.getallocatedblocks()
        # When all was searched last, and how long that took.
        self._looks = self._searched = 0
        self._took = 0.0
        # Containers that have come since the last search of all, but for those that went before the next search of the
        # youngest: what went later is not taken off.
        self._came = 0

    def count(self, phase: str, info: dict[str, int]) -> None:
        """For ``gc.callbacks``: counts containers, which the collector itself does between two searches only."""
        if phase == "start":
            self._came += gc.get_count()[0]
        else:
            self._came -= info["collected"]

    def look(self, *, busy: float = 0.0) -> bool:
        """Whether it was time to search all; ``busy`` is the part of the time since the last look that went into
        work."""
        self._looks += 1
        gc.collect(0 if self._looks % YOUNG_LOOKS else 1)
        least = max(LEAST_BLOCKS, SHARE * (self._after - self._at_start))
        enough = least * PATIENCE if busy > BUSY else least
        has_grown = (
            sys.getallocatedblocks() - self._after >= enough and self._came * BLOCKS_A_CONTAINER >= enough
        )
        is_time = self._looks - self._searched >= REST_LOOKS and self._took <= REST_SECONDS
        if not (has_grown or (is_time and busy <= BUSY)):
            return False
        began = self._clock()
        gc.collect()
        self._took = self._clock() - began
        self._after, self._came, self._searched = sys.getallocatedblocks(), 0, self._looks
        return True


_attending = threading.Lock()


def attend() -> None:
    """Have a thread of this process do that from now on. Further calls change nothing."""
    if _attending.acquire(blocking=False):
        threading.Thread(target=_attend, name="beach-collector", daemon=True).start()


def _attend() -> None:
    attendant, never = Attendant(), threading.Event()
    gc.callbacks.append(attendant.count)
    used, looks = time.process_time(), 0
    while not never.wait(SECONDS):
        before, used = used, time.process_time()
        busy, looks = (used - before) / SECONDS, looks + 1
        attendant.look(busy=busy)
        if looks >= TRIM_LOOKS and busy <= BUSY:
            allocator.trim()
            looks = 0
        # The search itself is no reason not to make the next one.
        used = time.process_time()
