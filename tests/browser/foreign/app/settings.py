"""The local settings, with the list keeper answering."""

from __future__ import annotations

from beachsite.settings.local import *  # noqa: F403 - settings are layered this way

INSTALLED_APPS = [*INSTALLED_APPS, "tests.browser.foreign.app"]  # noqa: F405
BEACH_DEFAULT_ACTOR = "keeper"
# One person at each front end, and as quick as the pages are.
BEACH_MESSAGES_PER_MINUTE = BEACH_MESSAGES_PER_ADDRESS = 0
