"""``manage.py beach receive-mail``: one raw mail on standard input, as mail servers hand it to a program."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from django.db import InterfaceError, OperationalError

from envelopes.transports.email.reading import MAIL_BYTES
from envelopes.transports.email.receiving import receive

TRY_AGAIN = 75
"""EX_TEMPFAIL of ``sysexits.h``: the mail server keeps the mail and comes again."""


class ReceiveCommand:
    """Says what became of it. Ends well whatever that is: a mail that is refused must not be sent back."""

    name = "receive-mail"
    help = "reads a mail on standard input that answers one about an approval"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """None."""

    def handle(self, options: dict[str, Any]) -> Iterable[str]:
        """Raises ``SystemExit`` with ``TRY_AGAIN`` where the database cannot be reached."""
        raw = sys.stdin.buffer.read(MAIL_BYTES + 1)
        try:
            done = receive(raw)
        except (OperationalError, InterfaceError) as error:
            raise SystemExit(TRY_AGAIN) from error
        if done.again:
            raise SystemExit(TRY_AGAIN)
        return [f"{done.state}: {done.told}"]
