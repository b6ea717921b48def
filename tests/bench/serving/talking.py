"""Whole turns through a socket: say something, wait until it has settled, again."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Sequence

from tests.bench.serving.client import Conversation, Socket, closing, connect_all, run, until

_ids = itertools.count(1)


def message(words: str) -> dict[str, str]:
    """The frame of a message that nobody sent before."""
    # Its id comes back in frames, where a long number would be taken for a token.
    return {"type": "message", "id": f"m{next(_ids)}-{os.getpid()}", "text": words}


class Talk:
    """What one socket hears of its turns. Times are seconds from saying something, by the monotonic clock."""

    def __init__(self) -> None:
        self.begin()
        self.ended: list[float] = []
        """When turns were settled."""
        self.took: list[float] = []
        self.acked: list[float] = []
        self.frames = 0
        self.refused = ""

    def begin(self) -> None:
        self._said = time.monotonic()
        self._busy = False

    def hear(self, frame: bytes) -> bool:
        """Whether this frame says that the turn is over."""
        if frame.startswith(b'{"type":"ack"'):
            self.acked.append(time.monotonic() - self._said)
        elif frame.startswith(b'{"type":"error"'):
            self.refused = frame[:300].decode()
        elif b'"busy":true' in frame[-40:]:
            self.frames += 1
            self._busy = True
        elif b'"busy":false' in frame[-40:]:
            self.frames += 1
            if self._busy:
                now = time.monotonic()
                self.ended.append(now)
                self.took.append(now - self._said)
                self._busy = False
                return True
        return False


async def say_all(sockets: Sequence[Socket], talks: dict[Socket, Talk], words: str) -> None:
    """All of them say it at once; returns when the last one has settled. Raises BenchError."""
    before = sum(len(talk.ended) for talk in talks.values())
    for one in sockets:
        talks[one].begin()
        one.send(message(words))
    settled = before + len(sockets)
    await until(lambda: sum(len(talk.ended) for talk in talks.values()) >= settled, f"{words!r} to settle")


def converse(port: int, talk: Conversation, said: Sequence[str]) -> None:
    """Say one thing after the other, each when the one before has settled."""

    async def main() -> None:
        heard = Talk()
        sockets = await connect_all(port, [talk], lambda _, frame: heard.hear(frame))
        with closing(sockets):
            for words in said:
                await say_all(sockets, {sockets[0]: heard}, words)

    run(main())
