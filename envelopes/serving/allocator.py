"""The C library's memory as a server of ours sets it (glibc; others are left as they are).

It keeps a heap for each thread, and what one thread has given back is no use to another: a server with a handful of
database threads holds several megabytes that nobody uses, and more the longer it runs.
"""

from __future__ import annotations

import ctypes
import platform
from typing import Any

_M_ARENA_MAX = -8
"""``mallopt(3)``."""


def _glibc() -> Any:
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None


def share() -> None:
    """Have all threads that begin from now on take memory from the same heap. To be called before there are any; only
    one of them runs Python at a time anyway, and each has what it uses most for itself (tcache)."""
    libc = _glibc()
    if libc is not None:
        libc.mallopt(_M_ARENA_MAX, 1)


def trim() -> None:
    """Give back to the system what of it is free: a few milliseconds, in which whoever wants memory of it waits."""
    libc = _glibc()
    if libc is not None:
        libc.malloc_trim(0)
