"""The local settings, with the laboratory's agent answering."""

from __future__ import annotations

from beachsite.settings.local import *  # noqa: F403 - settings are layered this way

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.lab"]  # noqa: F405
BEACH_DEFAULT_ACTOR = "lab"
BEACH_DEMO_PACE = 0
BEACH_SCRIPT_PACE = 0
BEACH_SWEEP_SECONDS = 0.25
LAB_POLL_SECONDS = env.text("LAB_POLL_SECONDS")  # noqa: F405
LAB_END_SECONDS = env.text("LAB_END_SECONDS")  # noqa: F405
BEACH_WINDOW_ROWS = int(env.text("LAB_WINDOW_ROWS") or 100)  # noqa: F405
