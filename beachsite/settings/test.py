"""The test suite: a database of its own, quick password hashes, nothing read from a data folder."""

from __future__ import annotations

import os

from beachsite.settings import env
from beachsite.settings.base import *
from beachsite.settings.database import database

DEBUG = False
SECRET_KEY = "only for tests"  # noqa: S105 - signs nothing outside a test run
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
BEACH_ANONYMOUS = True

# A file, since a live server is another process; named by process, since several runs may share the checkout.
# BEACH_TEST_DATABASE_URL and not DATABASE_URL: a developer's own database must never be what tests run on.
_RUN = BASE_DIR / "var" / "test"
DATABASES = {
    "default": database(
        env.text("BEACH_TEST_DATABASE_URL"), _RUN, durable=False, name="BEACH_TEST_DATABASE_URL"
    )
}
DATABASES["default"]["TEST"] = {
    "NAME": _RUN / f"{os.getpid()}.sqlite3"
    if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
    else f"test_beach_{os.getpid()}"
}
STORAGES["artifacts"]["OPTIONS"]["location"] = _RUN / f"{os.getpid()}.artifacts"
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
REDIS_URL = ""
ANTHROPIC_API_KEY = ""
ANTHROPIC_BASE_URL = ""
OPENAI_API_KEY = ""
# All of a test's people are one; what is about the bound sets it.
BEACH_MESSAGES_PER_MINUTE = BEACH_MESSAGES_PER_ADDRESS = 0
OPENAI_BASE_URL = ""
BEACH_EXECUTOR = "inprocess"
BEACH_LEASE_SECONDS = 2.0
BEACH_SCRIPT_PACE = 0
BEACH_DEMO_PACE = 0
BEACH_IMAGE_HOSTS = []
BEACH_INLINE_CATALOGS = []
BEACH_A2UI_CATALOGS = []
BEACH_GALLERY = False
BEACH_SHARED = ""

WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
WHITENOISE_MAX_AGE = 0

LOGGING = {"version": 1, "disable_existing_loggers": False}
