"""A long run of the model of the short way: ``BEACH_FUZZ=50 pytest tests/long/test_short_way.py``.

An example takes a second and a half of processor time, whichever it is: each of its steps is held against a replay of
both logs. Fifty make six or seven minutes of it.
"""

from __future__ import annotations

import pytest

from tests.a2ui.strategies import FUZZ
from tests.envelopes.turns.test_short_way import run

pytestmark = pytest.mark.django_db(transaction=True)


def test_live_surfaces_are_a_replay_of_the_log_whatever_happens() -> None:
    run(15 + 5 * FUZZ, 50)
