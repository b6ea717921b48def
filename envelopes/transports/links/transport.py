"""The door ``links``: nobody follows rows over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envelopes.registries.transports import Command, Transport, transports
from envelopes.transports.links.without_tokens import keep_out

if TYPE_CHECKING:
    from django.urls import URLPattern


def _routes() -> Sequence[URLPattern]:
    from django.urls import path

    from envelopes.transports.links.pages import approval_link

    return [path("approve/<str:token>", approval_link, name="approval-link")]


def _commands() -> Sequence[Command]:
    from envelopes.transports.links.commands import LinkCommand

    return [LinkCommand()]


LINKS = transports.register(Transport("links", "buffered", routes=_routes, commands=_commands))

keep_out()
