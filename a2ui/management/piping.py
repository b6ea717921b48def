"""Commands whose output is read by another program, which may have read enough before they end."""

from __future__ import annotations

import io
import os
import select
import sys
from typing import TextIO

from django.core.management.base import BaseCommand

ENDED = 128 + 13
"""What a shell says of a program that SIGPIPE has ended."""


class PipedCommand(BaseCommand):
    """One that ends without a word when nobody reads what it prints any more (``... | head``), as other tools do."""

    def run_from_argv(self, argv: list[str]) -> None:
        """As Django calls it from the command line."""
        try:
            try:
                super().run_from_argv(argv)
            finally:
                # Now, and not as the interpreter ends, which would complain.
                for stream in (sys.stdout, sys.stderr):
                    stream.flush()
        except BrokenPipeError:
            unread = [stream for stream in (sys.stdout, sys.stderr) if _is_unread(stream)]
            if not unread:
                # Somebody else's pipe, or a socket.
                raise
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for stream in unread:
                os.dup2(nowhere, stream.fileno())
            raise SystemExit(ENDED) from None


def _is_unread(stream: TextIO) -> bool:
    try:
        number = stream.fileno()
    except (io.UnsupportedOperation, ValueError):
        return False
    watched = select.poll()
    watched.register(number, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _number, event in watched.poll(0))
