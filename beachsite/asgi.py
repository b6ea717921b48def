"""The ASGI entry point: Beach's, with probes answered before Django."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

from envelopes.asgi import wrap

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "beachsite.settings.local")
# Sets Django up: nothing that imports a model may stand above this line.
django = get_asgi_application()

from envelopes.serving import health  # noqa: E402

application = wrap(health.answering(django))
