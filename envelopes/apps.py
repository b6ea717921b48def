from __future__ import annotations

from django.apps import AppConfig


class EnvelopesConfig(AppConfig):
    name = "envelopes"
    verbose_name = "Beach"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from envelopes import (
            artifacts,  # noqa: F401  (connects a receiver)
            beach,  # noqa: F401  (registers what the protocol names, before any application)
            checks,  # noqa: F401  (registers the checks)
            signals,  # noqa: F401  (connects the receivers)
            transports,
        )
        from envelopes.registries import catalogue
        from envelopes.registries.transports import transports as registered
        from envelopes.search import receivers  # noqa: F401  (connects them, after those of signals)

        transports.discover()
        for transport in registered:
            if transport.admin is not None:
                transport.admin()
        catalogue.fill()
