"""One person's settings, with the bench's actor in place of Sally."""

from __future__ import annotations

from beachsite.settings.local import *

INSTALLED_APPS = [*INSTALLED_APPS, "tests.bench.serving.app"]
ROOT_URLCONF = "tests.bench.serving.app.urls"
BEACH_DEFAULT_ACTOR = "bench"
