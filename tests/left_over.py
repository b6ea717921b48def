"""What is left to the garbage collector: circles of objects that nobody has any more."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def exceptions() -> Iterator[Callable[[], list[str]]]:
    """The collector stands still inside; call what it gives for the exceptions that came in here and that only a search
    frees. An error holds the frames that it came through, and with them what these work with."""

    def search() -> list[str]:
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            gc.collect()
            return [repr(thing) for thing in gc.garbage if isinstance(thing, BaseException)]
        finally:
            gc.set_debug(0)
            gc.garbage.clear()

    gc.collect()
    gc.disable()
    try:
        yield search
    finally:
        gc.enable()
