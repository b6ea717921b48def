"""Sending in a call, without a round of the event loop: what a server of ours offers its sockets beyond ASGI.

A frame that is awaited takes a round of the loop for the task that sends it, and a dozen calls on its way. Of streamed
text, that is more than all the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

EXTENSION = "beach.send_at_once"
"""Among the ``extensions`` of a scope (ASGI, section "Extensions")."""

SendAtOnce = Callable[..., bool]
"""Sends text frames behind everything that was sent before; without any it says whether that can be done now. False:
nothing was done, and they are to be sent as ASGI says, since their reader is behind or the socket not open."""


def offered(scope: Any) -> SendAtOnce | None:
    """None where the server does not."""
    send: SendAtOnce | None = scope.get("extensions", {}).get(EXTENSION)
    return send
