"""A public server behind a proxy that ends TLS. What has no safe default must be given."""

from __future__ import annotations

from beachsite.settings import env
from beachsite.settings.base import *

DEBUG = False
SECRET_KEY = env.required("SECRET_KEY", "a long random text that signs cookies; keep it secret and keep it.")
if not ALLOWED_HOSTS:
    env.required("ALLOWED_HOSTS", "the public host names, separated by commas.")

BEACH_ANONYMOUS = env.flag("BEACH_ANONYMOUS", default=False)
BEACH_GALLERY = env.flag("BEACH_GALLERY", default=False)

# The proxy must set this header itself and drop what a client sent (docs/deploy.md).
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# For a proxy that cannot pass on the browser's Host; it must set X-Forwarded-Host itself and drop what a client sent.
USE_X_FORWARDED_HOST = env.flag("USE_X_FORWARDED_HOST", default=False)
SECURE_SSL_REDIRECT = True
# Probes come from inside, over plain HTTP.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = env.number("BEACH_HSTS_SECONDS", 31_536_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True

STORAGES["staticfiles"] = {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"}
