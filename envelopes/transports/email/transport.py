"""The transport ``email``: so far a door for approvals, over which nobody follows rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envelopes.registries.transports import Background, Command, Transport, transports
from envelopes.transports.email import (
    anymail,
    checks,  # noqa: F401  (registers the checks)
)

if TYPE_CHECKING:
    from django.urls import URLPattern


def _routes() -> Sequence[URLPattern]:
    from django.urls import path

    from envelopes.transports.email.inbound import inbound

    return [path("mail/inbound", inbound, name="mail-inbound")]


def _commands() -> Sequence[Command]:
    from envelopes.transports.email.commands import ReceiveCommand

    return [ReceiveCommand()]


def _background() -> Background:
    from envelopes.transports.email.background import Mails

    return Mails()


EMAIL = transports.register(
    Transport("email", "buffered", routes=_routes, commands=_commands, background=_background)
)

anymail.connect()
