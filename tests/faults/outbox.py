"""A person whose page keeps an outbox, as the real one does: what was not answered is sent again with the same id, over
as many connections as it takes, to a server that is started again whenever it has died."""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from collections.abc import Callable

from websockets.exceptions import WebSocketException

from envelopes.types import JsonObject
from tests.faults.conftest import Lab
from tests.visitor import Visitor

LOST = {4401, 4403, 4404, 4410}
"""Codes by which a server says that it knows less than the page."""


class Outbox:
    """``acks`` are the answers to what was sent, in order; ``deaths`` how often the server was started again."""

    def __init__(self, lab: Lab, visitor: Visitor) -> None:
        self.lab = lab
        self.visitor = visitor
        self.acks: list[JsonObject] = []
        self.deaths = 0
        self._name = uuid.uuid4().hex[:12]
        self._ids = itertools.count(1)

    async def say(self, text: str) -> JsonObject:
        return await self.insist({"type": "message", "text": text})

    async def insist(self, frame: JsonObject, *, seconds: float = 60) -> JsonObject:
        """Send a frame until it is answered for good; the answer."""
        name = f"{self._name}-{next(self._ids)}"
        deadline = time.monotonic() + seconds
        while True:
            after = len(self.visitor.frames)
            try:
                await self.visitor.send({**frame, "id": name})
            except WebSocketException:
                # Whoever reads hears of the end when the loop gets to them: a send that is refused waits for nothing.
                await asyncio.sleep(0.01)
            else:
                answer = await self._answer(name, after)
                if answer is not None and not answer.get("retry"):
                    self.acks.append(answer)
                    return answer
            assert time.monotonic() < deadline, f"{frame} was not answered"
            await self.connected()

    async def until(self, holds: Callable[[], bool], *, seconds: float = 60) -> None:
        """Until ``holds`` is true of the visitor, whatever happens to the server and to the connection."""
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, (
                f"It did not come. On the page:\n{self.visitor.page.text()[-2000:]}"
            )
            await self.connected()
            await asyncio.sleep(0.02)
            self.visitor.check()

    async def connected(self) -> None:
        """Return with a connection that has been greeted."""
        while not self.visitor.is_connected:
            assert self.visitor.close_code not in LOST, f"The server has lost rows: {self.visitor.close_code}"
            await self.visitor.drop()
            await self._revive()
            try:
                await self.visitor.dial()
                await self.visitor.hello()
            except (OSError, WebSocketException):
                await asyncio.sleep(0.1)
                continue
            while self.visitor.is_connected and not self.visitor.is_greeted:  # noqa: ASYNC110 - or it is closed
                await asyncio.sleep(0.01)

    async def _revive(self) -> None:
        process = self.lab.server.process
        if process is not None and process.poll() is not None:
            self.lab.server.process = None
            self.deaths += 1
            await self.lab.start()

    async def _answer(self, name: str, after: int) -> JsonObject | None:
        """None when the connection has ended before."""
        while True:
            for frame in self.visitor.frames[after:]:
                if frame.get("id") == name:
                    if frame.get("retry"):
                        await asyncio.sleep(0.1)
                    return frame
            if not self.visitor.is_connected:
                return None
            await asyncio.sleep(0.01)
