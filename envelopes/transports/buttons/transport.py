"""The door ``buttons``: nobody follows rows over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envelopes.registries.transports import Transport, transports
from envelopes.transports.buttons import checks  # noqa: F401  (registers the checks)

if TYPE_CHECKING:
    from django.urls import URLPattern


def _routes() -> Sequence[URLPattern]:
    from django.urls import path

    from envelopes.transports.buttons import views

    return [
        path("buttons/webhook", views.webhook, name="buttons-webhook"),
        path("buttons/slack", views.slack, name="buttons-slack"),
        path("buttons/whatsapp", views.whatsapp, name="buttons-whatsapp"),
    ]


BUTTONS = transports.register(Transport("buttons", "buffered", routes=_routes))
