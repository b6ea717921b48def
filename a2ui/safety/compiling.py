"""google-re2 with a bound on memory, and without its own store of patterns, which counts them only."""

from __future__ import annotations

import re2


def compiled(text: str, memory: int) -> re2._Regexp[str]:
    """A pattern that keeps about `memory` bytes at most. Raises re2.error where it is none, or too large for that."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = memory
    try:
        return re2.compile(text, options)
    finally:
        re2.purge()
