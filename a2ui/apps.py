"""The renderer as a Django application."""

from django.apps import AppConfig


class A2uiConfig(AppConfig):
    """Gives Django the commands, template tags and gallery of the renderer; it has no models."""

    name = "a2ui"
    label = "a2ui"
    verbose_name = "A2UI"
    beach_settings = ("BEACH_GALLERY", "BEACH_SHARED")
    """Names of settings that this application reads, for the check of names that nobody reads."""
