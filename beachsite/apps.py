"""The site as a Django app: its checks and its commands."""

from __future__ import annotations

from django.apps import AppConfig


class BeachsiteConfig(AppConfig):
    """Registers the checks of the site's own settings."""

    name = "beachsite"
    verbose_name = "Beach"

    def ready(self) -> None:
        """Importing the module registers what is in it."""
        from beachsite import checks  # noqa: F401
