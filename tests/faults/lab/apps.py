"""The laboratory as a Django app."""

from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings


class LabConfig(AppConfig):
    name = "tests.faults.lab"
    label = "lab"

    def ready(self) -> None:
        """Where a test wants to see that rings travel, the poll is out of the way;
        where it holds a process that was asked to end, that need not be for long; and a process may be told to die at
        a commit."""
        from envelopes.log import poll
        from envelopes.runtime import ending
        from tests.faults.lab import dying
        from tests.faults.lab.dying import Dying

        dying.install(Dying(settings.BEACH_DATA))
        if settings.LAB_POLL_SECONDS:
            poll.SECONDS = float(settings.LAB_POLL_SECONDS)
        if settings.LAB_END_SECONDS:
            ending.END_SECONDS = float(settings.LAB_END_SECONDS)
