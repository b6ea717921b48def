"""The application, as Django installs it."""

from django.apps import AppConfig


class ForeignConfig(AppConfig):
    name = "tests.browser.foreign.app"
    label = "foreign"
