"""What connections that have not subscribed may take (reading, 2.2): how many, how long, how large a frame. 0 takes a
cap off."""

from __future__ import annotations

from dataclasses import dataclass

from envelopes.conf import conf


@dataclass(frozen=True)
class Close:
    code: int
    reason: str


NO_LOGIN = Close(4401, "Sign in first, or bring a token that counts.")
WHO_NOW = Close(4411, "Who you are, or what you may do here, has changed.")
BEGIN_AGAIN = Close(4410, "The log was set back, or you are too far behind: subscribe anew.")
ENDED = Close(1000, "")
IDLE = Close(1008, "Nothing was subscribed to in time.")
TOO_BIG = Close(1009, "This frame is too long before a subscription.")
LATER = Close(1013, "Too many connections wait to subscribe, or the database is away. Try again later.")


class Pending:
    """How many connections of this process have subscribed to nothing."""

    def __init__(self) -> None:
        self.count = 0

    def enter(self) -> bool:
        """False where there is no room."""
        most = conf.BEACH_LIVE_PENDING
        if most and self.count >= most:
            return False
        self.count += 1
        return True

    def leave(self) -> None:
        self.count -= 1


pending = Pending()
"""Of this process."""


def too_big(text: str | None) -> bool:
    most = conf.BEACH_LIVE_PENDING_BYTES
    return bool(most) and text is not None and len(text.encode("utf-8", "surrogatepass")) > most
