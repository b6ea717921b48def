"""What hypothesis makes up: in the suite the same in every run, on every machine and in every order of the tests.

A landing fails for what it changed and not by a draw of lots. New examples are for a long run: BEACH_FUZZ=50 draws
them at random, and as many times more in the tests that say so (`FUZZ` in tests/a2ui/strategies.py).
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers


def repeatable() -> None:
    """Derive every example from the source of its test and from nothing else.

    Hypothesis sows constants that it finds in the modules of the project among its values: with them, examples
    change with every edit anywhere and with what other tests had imported before. There is no setting for it.
    """
    settings.register_profile(
        "suite",
        max_examples=50,  # the same ones each time: twice as many find hardly anything more
        derandomize=True,
        database=None,
        deadline=None,  # a busy machine must not turn a slow example into a failure
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("suite")
    none = providers._local_constants
    assert not len(none), "hypothesis has looked at modules already"
    assert callable(providers._get_local_constants)
    providers._get_local_constants = lambda: none


def at_random() -> None:
    """New examples each time; those that failed are tried again first."""
    settings.register_profile("long", settings.get_profile("default"), deadline=None)
    settings.load_profile("long")


def load() -> None:
    """By what BEACH_FUZZ says."""
    if int(os.environ.get("BEACH_FUZZ", "1")) > 1:
        at_random()
    else:
        repeatable()
