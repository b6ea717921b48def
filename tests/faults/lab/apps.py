"""The laboratory as a Django app."""

from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings


class LabConfig(AppConfig):
    name = "tests.faults.lab"
    label = "lab"

    def ready(self) -> None:
        """Its agent is there beside Sally; where a test wants to see that rings travel, the poll is out of the way."""
        from envelopes.log import poll
        from tests.faults.lab.actor import register

        register()
        if settings.LAB_POLL_SECONDS:
            poll.SECONDS = float(settings.LAB_POLL_SECONDS)
