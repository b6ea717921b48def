"""The laboratory as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class LabConfig(AppConfig):
    name = "tests.faults.lab"
    label = "lab"

    def ready(self) -> None:
        """Its agent is there beside Sally."""
        from tests.faults.lab.actor import register

        register()
