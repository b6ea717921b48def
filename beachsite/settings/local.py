"""One person's machine: loopback only, nothing to configure, all files under one data folder."""

from __future__ import annotations

from beachsite.settings import env
from beachsite.settings.base import *
from beachsite.settings.secret import stored_key

# Off by default, so that what a newcomer meets is what production shows.
DEBUG = env.flag("BEACH_DEBUG", default=False)
SECRET_KEY = env.text("SECRET_KEY") or stored_key(BEACH_DATA / "secret-key")
ALLOWED_HOSTS = ALLOWED_HOSTS or ["localhost", "127.0.0.1", "[::1]"]

BEACH_ANONYMOUS = env.flag("BEACH_ANONYMOUS", default=True)
BEACH_GALLERY = env.flag("BEACH_GALLERY", default=True)

# Files are served from where they are written, so an edit shows on reload and nothing has to be collected.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
WHITENOISE_MAX_AGE = 0
