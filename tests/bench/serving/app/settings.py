"""One person's settings, with the bench's actor in place of Sally."""

from __future__ import annotations

from beachsite.settings.local import *

INSTALLED_APPS = [*INSTALLED_APPS, "tests.bench.serving.app"]
ROOT_URLCONF = "tests.bench.serving.app.urls"
BEACH_DEFAULT_ACTOR = "bench"
# All that is opened here is one browser's.
BEACH_MESSAGES_PER_MINUTE = BEACH_MESSAGES_PER_ADDRESS = 0
BEACH_SOCKETS_PER_CALLER = BEACH_STREAMS_PER_CALLER = BEACH_STREAMS = 1_000_000
