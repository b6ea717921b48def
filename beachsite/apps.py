"""The site as a Django app: its check, its commands, and its settings beside Beach's own."""

from __future__ import annotations

from django.apps import AppConfig


class BeachsiteConfig(AppConfig):
    """Declares what the site's own settings are called."""

    name = "beachsite"
    verbose_name = "Beach"
    beach_settings = ("BEACH_DATA", "BEACH_DEMO_PACE")

    def ready(self) -> None:
        """Importing the module registers what is in it."""
        from beachsite import checks  # noqa: F401
