"""The sweep of expired approvals by hand or from cron, where no runner does it."""

from __future__ import annotations

from typing import Any

from a2ui.management.piping import PipedCommand
from envelopes.approvals.service import expire_due
from envelopes.management.tables import require_tables


class Command(PipedCommand):
    """``manage.py expire_approvals``."""

    help = "Expires the approvals whose time has passed, so that the turns that wait for them go on."

    def handle(self, *args: Any, **options: Any) -> None:
        """Prints how many there were."""
        require_tables()
        expired = expire_due()
        if expired:
            word = "approval has" if expired == 1 else "approvals have"
            self.stdout.write(self.style.WARNING(f"{expired} {word} expired. Nothing of it was run."))
        else:
            self.stdout.write("No approval has expired.")
