"""What a receiver makes of a stream (5.3 to 5.5): each delivery once, folded channel by channel. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from envelopes.transports.live.contracts.reserved import is_known
from envelopes.types import Json, JsonObject

KEPT_RESERVED: Final = 256
"""Deliveries of each of the server's own channels that late listeners get."""


@dataclass(slots=True)
class Folded:
    """A channel as the deliveries so far make it. Complete with the payload that said so; later ones are folded too."""

    all: deque[Json] = field(default_factory=deque)
    latest: Json = None
    complete: bool = False


class Receiver:
    """One client's side of a stream. ``resume`` is what it sends as ``fromSeq`` when it comes back."""

    def __init__(self, from_seq: int = 0) -> None:
        """:param from_seq: what it subscribed with; 0 on a fresh subscription"""
        self.channels: dict[str, Folded] = {}
        self._mark = from_seq
        self._resume = from_seq

    @property
    def resume(self) -> int:
        return self._resume

    def acknowledged(self, stream_seq: int) -> None:
        """The ack of a subscription: how far the stream was. What is replayed may have lower numbers (5.3)."""
        self._resume = max(self._resume, stream_seq)

    def take(self, envelope: JsonObject) -> bool:
        """Folds a delivery by its own mode; False, and nothing changes, where it came before."""
        seq = envelope.get("seq")
        if seq is not None:
            if seq <= self._mark:
                return False
            self._mark = seq
            self._resume = max(self._resume, seq)
        channel = str(envelope["channel"])
        folded = self.channels.get(channel)
        if folded is None:
            kept = deque[Json](maxlen=KEPT_RESERVED if is_known(channel) else None)
            folded = self.channels[channel] = Folded(kept)
        if envelope["mode"] == "replace":
            folded.all.clear()
        folded.all.append(envelope["payload"])
        folded.latest = envelope["payload"]
        folded.complete = folded.complete or envelope.get("complete") is True
        return True
