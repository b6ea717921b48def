"""The demo as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "beachsite.demo"
    label = "demo"
    verbose_name = "Demo travel desk"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from beachsite.demo import erasing  # noqa: F401  (connects a receiver)
