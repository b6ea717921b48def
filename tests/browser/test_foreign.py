"""A front end that is not ours shows what the panel shows, and what is done on either is done on both (live channel).

The page is the official Lit renderer of A2UI v0.9; its packages are pinned in tests/browser/foreign. 200 steps are in
tests/long/test_foreign_steps.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.browser.conftest import Desk
from tests.browser.foreign.building import built
from tests.browser.foreign.pair import FOREIGN, Pair
from tests.liveserver import Server

STEPS = 25


@pytest.fixture
def pair(make_server: Callable[..., Server], desk: Desk) -> Pair:
    built()
    desk.allow("WebSocket connection|ERR_CONNECTION|Failed to load resource|Lit is in dev mode")
    return Pair(desk, make_server(environ=FOREIGN))


def test_both_show_the_same_through_steps_a_reconnect_and_a_restart(pair: Pair) -> None:
    chance = random.Random(11)
    pair.same()
    for number in range(STEPS):
        if number == STEPS // 3:
            pair.foreign.evaluate("cut()")
            pair.foreign.wait_for_selector("body[data-state=away]")
            pair.live()
        if number == 2 * STEPS // 3:
            pair.server.restart()
            pair.foreign.wait_for_selector("body[data-state=away]")
            pair.live()
        pair.step(chance)
