"""Subscribers who are cut off at random and come back, while others produce."""

from __future__ import annotations

import asyncio
import random
import secrets
from dataclasses import dataclass, field

from envelopes.models import Session
from envelopes.types import JsonObject
from tests.envelopes.transports.live.client import Channel


@dataclass
class Follower:
    """One of them: everything that it got, over all of its connections."""

    session: Session
    token: str
    wanted: int
    dice: random.Random
    got: list[JsonObject] = field(default_factory=list)
    cuts: int = 0

    async def follow(self) -> None:
        """Until it has as many messages as are wanted."""
        while self.messages < self.wanted:
            channel = await Channel(token=self.token, keeps_up=lambda: self.dice.random() < 0.7).open()
            # Some do not wait for the ack before they go.
            most = self.dice.choice([0, 1, 2, 5, 13, 40, 10**6])
            await channel.subscribe(self.session, fromSeq=self.got[-1]["seq"] if self.got else 0)
            while most > 0 and self.messages < self.wanted:
                frame = await channel.next()
                if frame["type"] == "data":
                    self.got.append(frame["payload"])
                    most -= 1
            await channel.close()
            self.cuts += 1

    @property
    def messages(self) -> int:
        return sum(one["channel"] == "beach:message" for one in self.got)

    def check(self, texts: list[str]) -> None:
        """Each envelope once, in order: as the log has them."""
        assert [one["seq"] for one in self.got] == list(range(1, len(self.got) + 1))
        told = [one["payload"]["text"] for one in self.got if one["channel"] == "beach:message"]
        assert told == texts


async def race(session: Session, token: str, subscribers: int, wanted: int) -> list[Follower]:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    made = [Follower(session, token, wanted, random.Random(seed + number)) for number in range(subscribers)]
    await asyncio.gather(*(one.follow() for one in made))
    return made
