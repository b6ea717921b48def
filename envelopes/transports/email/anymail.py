"""Replies that a mail service posts, where django-anymail is installed: it checks who posts, and this reads them."""

from __future__ import annotations

import logging
from typing import Any

from django.apps import apps

from envelopes.errors import Unavailable

logger = logging.getLogger(__name__)


def connect() -> None:
    """Hear of inbound mail, if there is anybody to tell of it."""
    if apps.is_installed("anymail"):
        from anymail.signals import inbound

        inbound.connect(_received, dispatch_uid="envelopes.email")


def _received(sender: object, event: Any, esp_name: str, **more: object) -> None:
    from envelopes.transports.email.receiving import receive

    # What is raised here makes the service post it again.
    done = receive(event.message.as_bytes())
    if done.again:
        raise Unavailable
    logger.info("A mail from %s: %s", esp_name, done.told)
