"""200 steps of the panel and a front end that is not ours, side by side (tests/browser/test_foreign.py)."""

from __future__ import annotations

import random

from tests.browser.foreign.pair import Pair
from tests.browser.test_foreign import pair, walk

__all__ = ["pair"]


def test_both_show_the_same_through_200_steps(pair: Pair) -> None:
    walk(pair, random.Random(12), 200)
