"""Where a connection of the live channel stands, and what may come in there (reading, section 2)."""

from __future__ import annotations

from envelopes.errors import TransitionRefused
from envelopes.transports.live.errors import LiveError

PENDING, SUBSCRIBING, SUBSCRIBED, CLOSED = "pending", "subscribing", "subscribed", "closed"

FROM: dict[str, tuple[str, ...]] = {
    PENDING: (SUBSCRIBING, CLOSED),
    SUBSCRIBING: (SUBSCRIBED, PENDING, CLOSED),
    # Whoever subscribes again leaves first.
    SUBSCRIBED: (SUBSCRIBING, CLOSED),
    CLOSED: (),
}

NEEDS_SUBSCRIPTION = frozenset({"action", "channel_subscribe", "host_context_observed"})


class State:
    """Of one connection."""

    def __init__(self) -> None:
        self.now = PENDING

    def go(self, to: str) -> None:
        """Raises ``TransitionRefused``."""
        if to not in FROM[self.now]:
            raise TransitionRefused("connection", got=self.now, to=to, expected=FROM[self.now])
        self.now = to

    def admit(self, frame_type: str) -> None:
        """Raises ``LiveError`` NOT_SUBSCRIBED for a frame that may not come yet."""
        if self.now != SUBSCRIBED and frame_type in NEEDS_SUBSCRIPTION:
            raise LiveError("NOT_SUBSCRIBED", "Subscribe to a session first.")
