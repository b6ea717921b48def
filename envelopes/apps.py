from __future__ import annotations

import django_stubs_ext
from django.apps import AppConfig

# Makes `ModelAdmin[Session]` and its like, which the type checker asks for, mean something when they are run: before
# any of our classes is made.
django_stubs_ext.monkeypatch()


class EnvelopesConfig(AppConfig):
    name = "envelopes"
    verbose_name = "Beach"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from envelopes import (
            artifacts,  # noqa: F401  (connects a receiver)
            beach,  # noqa: F401  (registers what the protocol names, before any application)
            signals,  # noqa: F401  (connects the receivers)
            transports,
        )
        from envelopes.checks import project, registered, settings  # noqa: F401  (registers the checks)
        from envelopes.desk import is_here
        from envelopes.registries import catalogue
        from envelopes.registries.transports import transports as known
        from envelopes.search import receivers  # noqa: F401  (connects them, after those of signals)

        transports.discover()
        for transport in known:
            if transport.admin is not None and is_here():
                transport.admin()
        catalogue.fill()
