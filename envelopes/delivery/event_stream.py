"""A conversation followed over server-sent events: what each such stream does, whatever its events say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import TypeAlias

from django.http import StreamingHttpResponse

from envelopes.delivery.follower import Follower
from envelopes.delivery.items import Item

HEARTBEAT_SECONDS = 15.0
"""After so long without a word a comment is sent: proxies take a silent connection for a dead one."""

RECHECK_SECONDS = 30.0
"""How long whoever only listens is believed to be who it was."""

RETRY_MILLISECONDS = 2_000
"""After how long a client comes back by itself."""

BEGIN = f"retry: {RETRY_MILLISECONDS}\n\n"

HEADERS = {
    "Cache-Control": "no-store",
    # nginx would keep events until it has a page full of them.
    "X-Accel-Buffering": "no",
}

Tell: TypeAlias = Callable[[AsyncGenerator[Item]], AsyncGenerator[str]]
"""Makes events of what a follower gives."""


async def new_events(follower: Follower, tell: Tell) -> AsyncGenerator[str]:
    """What ``tell`` makes of whatever comes from here on, and comments as long as nothing does. It has no end but what
    following raises: ``Changed``, ``NotInLog``, ``TooFarBack``."""
    while True:
        try:
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                await follower.ready()
        except TimeoutError:
            yield ": still here\n\n"
        async with aclosing(tell(follower.new())) as told:
            async for event in told:
                yield event


def event_response(events: AsyncIterator[str]) -> StreamingHttpResponse:
    """``events`` as they come."""
    return StreamingHttpResponse(events, content_type="text/event-stream", headers=HEADERS)
