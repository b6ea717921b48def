"""The lifespan protocol, for servers that speak it. Daphne does not, so nothing may depend on it."""

from __future__ import annotations

from typing import Any


async def lifespan(scope: Any, receive: Any, send: Any) -> None:
    """Say yes to start and stop."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return
