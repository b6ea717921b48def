"""The garbage collector stays out of the way while thousands of objects are made that are there to stay."""

from __future__ import annotations

import gc


class gc_paused:  # noqa: N801 - used like a function, as those of contextlib
    """No collections inside. Applying a large message makes nothing that a collection could free, but many would be
    due, each looking at everything made so far."""

    __slots__ = ("_ours",)

    def __enter__(self) -> None:
        # Where it is off, somebody else did that, or this on another thread: not ours to switch on.
        self._ours = gc.isenabled()
        if self._ours:
            gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._ours:
            gc.enable()
