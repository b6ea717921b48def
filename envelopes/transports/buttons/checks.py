"""System checks of buttons elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core import checks

from envelopes.conf import conf
from envelopes.transports.buttons.people import read
from envelopes.transports.signed_posts import is_secret


@checks.register()
def button_settings(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """A line that nobody can read would let nobody in, and nobody would know why."""
    found: list[checks.CheckMessage] = [
        checks.Error(
            f"BEACH_BUTTON_USERS has {line!r}, which names no door, person and user.",
            hint="Write it as slack:T0123/U0456=grace.",
            id="envelopes.E023",
        )
        for line in conf.BEACH_BUTTON_USERS
        if read(line) is None
    ]
    if conf.BEACH_BUTTON_SECRET and not is_secret(conf.BEACH_BUTTON_SECRET):
        told = "BEACH_BUTTON_SECRET is no secret of Standard Webhooks."
        hint = "It is whsec_ and at least 24 random bytes as base64."
        found.append(checks.Error(told, hint=hint, id="envelopes.E024"))
    return found
