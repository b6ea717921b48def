"""Many random sessions, short and long ones: `BEACH_LONG_SESSIONS` of each, from `BEACH_LONG_FROM` on.

One that fails names its seed: `play(seed, steps, version=version, asking=asking)` runs it again.
"""

from __future__ import annotations

import os

import pytest

from tests.fuzz.sessions import play

COUNT = int(os.environ.get("BEACH_LONG_SESSIONS", "20000"))
FIRST = int(os.environ.get("BEACH_LONG_FROM", "1000"))
AT_ONCE = 250


@pytest.mark.parametrize("start", range(FIRST, FIRST + COUNT, AT_ONCE))
@pytest.mark.parametrize("steps", [14, 80])
@pytest.mark.parametrize(("version", "asking"), [("v0.9", False), ("1.0", False), ("1.0", True)])
def test_sessions(start, steps, version, asking):
    for seed in range(start, start + AT_ONCE):
        play(seed, steps, version=version, asking=asking)
