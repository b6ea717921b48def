"""The demo as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "beachsite.demo"
    label = "demo"
    verbose_name = "Demo travel desk"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Sally is there wherever the app is installed."""
        from beachsite.demo import sally

        sally.register()
