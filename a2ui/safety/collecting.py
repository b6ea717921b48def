"""The garbage collector stays out of the way while thousands of objects are made that are there to stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """No collections inside. Applying a large message makes nothing that a collection could free, but many would be
    due, each looking at everything made so far."""
    if not gc.isenabled():
        # Switched off by somebody else, or by this on another thread: not ours to switch on.
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
