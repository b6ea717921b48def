from __future__ import annotations

from django.apps import AppConfig


class EnvelopesConfig(AppConfig):
    name = "envelopes"
    verbose_name = "Beach"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from envelopes import (
            signals,  # noqa: F401  (connects the receivers)
            transports,
        )

        transports.discover()
