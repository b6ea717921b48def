"""The system check of the environment: the site's settings come from there, and a name that none of them asks for has
no effect."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from typing import Any

from django.core import checks

from beachsite.settings import env

ELSEWHERE = (
    "BEACH_NO_BOOTSTRAP",
    "BEACH_EXTRAS",
    "BEACH_REQUIRE",
    "BEACH_AGAIN",
    "BEACH_HSTS_SECONDS",
    "BEACH_DEBUG",
)
"""Read before there are settings, by the suite, or by other settings than these."""
OF_TESTS = "BEACH_TEST_"


@checks.register()
def environment(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Names in the environment that nothing reads: with the nearest one that something does."""
    known = env.asked | set(ELSEWHERE)
    return [
        checks.Warning(
            f"The environment has {name}, which nothing reads.",
            hint=f"Did you mean {near[0]}?" if near else "README.md has those that are read.",
            id="beachsite.W001",
        )
        for name in sorted(os.environ)
        if name.startswith("BEACH_") and not name.startswith(OF_TESTS) and name not in known
        for near in [difflib.get_close_matches(name, known, 1)]
    ]
