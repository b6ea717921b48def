"""The garbage collector as a server of ours sets it."""

from __future__ import annotations

import gc

_THRESHOLDS = (300_000, 20, 50)
"""Allocations before the youngest generation is searched, and how many such searches before the next older one.
A message of five thousand components and their surface are about a hundred thousand objects that stay: with Python's
700 the collector looks at each of them many times while they are made and finds nothing, which takes longer than making
them."""


def settle() -> None:
    """To be called once after start-up: what is there by now (modules, models, catalogs, locale data) is never
    looked at again, and searches come less often. Reference counting, which frees nearly everything, is not
    touched."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
