"""What of a stream is kept for those who come back (5.2, 5.3). Pure: whoever stores a stream stores ``as_json``."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from envelopes.errors import ValidationFailed
from envelopes.transports.live.contracts.contract import Channel
from envelopes.transports.live.contracts.entries import ReplayPolicy
from envelopes.transports.live.contracts.reserved import is_known, is_reserved
from envelopes.types import Json, JsonObject

RING: Final = 256
"""Deliveries that are kept of all channels with the policy ``all`` together."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Envelopes in the order of ``seq``, and whether some before them are gone."""

    envelopes: tuple[JsonObject, ...]
    truncated: bool


def policy_of(channel: str, channels: Mapping[str, Channel] | None) -> ReplayPolicy:
    """How deliveries on a channel are kept: the server's own all, those that nobody declares not at all."""
    if is_known(channel):
        return "all"
    declared = None if is_reserved(channel) else (channels or {}).get(channel)
    return declared.replay if declared else "none"


class StreamBuffer:
    """The outbound sequence of one stream, gap-free from 1, and what is kept of it."""

    def __init__(self, capacity: int = RING) -> None:
        """:raises ValueError: the ring has no room"""
        if isinstance(capacity, bool) or capacity < 1:
            raise ValueError(f"A ring keeps at least one delivery, not {capacity}.")
        self.capacity = capacity
        self.clear()

    def clear(self) -> None:
        """Nothing is kept any more, and the sequence begins again at 1."""
        self.seq = 0
        self._ring: deque[JsonObject] = deque()
        self._latest: dict[str, JsonObject] = {}
        self._evicted = 0

    def record(self, envelope: JsonObject, channels: Mapping[str, Channel] | None) -> JsonObject:
        """The envelope with its number, which it uses up whatever its policy, and with nobody there too.

        :param channels: what the contract says now (``Contract.channels``)
        """
        self.seq += 1
        stamped = {**envelope, "seq": self.seq}
        match policy_of(str(envelope["channel"]), channels):
            case "latest":
                self._latest[str(envelope["channel"])] = stamped
            case "all":
                self._ring.append(stamped)
                if len(self._ring) > self.capacity:
                    self._evicted = int(self._ring.popleft()["seq"])
            case _:
                pass
        return stamped

    def replay(
        self,
        from_seq: int | None,
        channels: Mapping[str, Channel] | None,
        *,
        until: int | None = None,
    ) -> Replay:
        """What follows ``from_seq`` and is kept, up to ``until``. Without ``from_seq`` only the server's own channels.

        :param channels: what the contract says now; a channel that it does not declare is not replayed
        """
        after, last = from_seq or 0, self.seq if until is None else until

        def wanted(envelope: JsonObject, policy: ReplayPolicy) -> bool:
            channel = str(envelope["channel"])
            if from_seq is None and not is_known(channel):
                return False
            return after < int(envelope["seq"]) <= last and policy_of(channel, channels) == policy

        found = [
            *(envelope for envelope in self._ring if wanted(envelope, "all")),
            *(envelope for envelope in self._latest.values() if wanted(envelope, "latest")),
        ]
        keeps_all = any(channel.replay == "all" for channel in (channels or {}).values())
        return Replay(
            tuple(sorted(found, key=lambda envelope: int(envelope["seq"]))),
            from_seq is not None and from_seq < self._evicted and keeps_all,
        )

    def as_json(self) -> JsonObject:
        """``{seq, evicted, ring, latest}``; ``of`` makes the same buffer of it."""
        return {
            "seq": self.seq,
            "evicted": self._evicted,
            "ring": list(self._ring),
            "latest": dict(self._latest),
        }

    @classmethod
    def of(cls, stored: JsonObject, capacity: int = RING) -> StreamBuffer:
        """The buffer that was stored. A ring that is smaller now lets the oldest go."""
        made = cls(capacity)
        made.seq, made._evicted = int(stored["seq"]), int(stored["evicted"])
        made._ring, made._latest = deque(stored["ring"]), dict(stored["latest"])
        while len(made._ring) > capacity:
            made._evicted = int(made._ring.popleft()["seq"])
        return made


def cursor(value: Json, name: str = "fromSeq") -> int:
    """A cursor as a client sends it.

    :raises ValidationFailed: it is no whole number from 0 up; true is none
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValidationFailed(f"{name} is a whole number from 0 up.", path=name)
    return value
