"""Everybody comes back at once, as after a restart."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.serving.client import Conversation, Socket, close_all
from tests.bench.serving.processes import BenchError

_PATIENCE = 120.0
_PROBE_SECONDS = 0.1


@dataclass(frozen=True)
class Greeted:
    """Seconds until the last one was welcomed, and what each request for /healthz took meanwhile."""

    seconds: float
    health: list[float]


async def greet(port: int, talks: Sequence[Conversation]) -> Greeted:
    """Connect all of them now. Raises BenchError when one is refused, or waits for two minutes."""
    sockets = [Socket(port, talk) for talk in talks]
    probes: list[float] = []
    over = asyncio.Event()
    probing = asyncio.create_task(_probe(port, probes, over))
    began = time.monotonic()
    try:
        async with asyncio.timeout(_PATIENCE):
            await asyncio.gather(*(one.connect() for one in sockets))
            took = time.monotonic() - began
            over.set()
            # The one that is on its way counts.
            await probing
    except (OSError, TimeoutError) as error:
        raise BenchError(f"Not all of {len(sockets)} sockets were greeted: {error!r}") from error
    finally:
        probing.cancel()
        close_all(sockets)
    return Greeted(took, probes)


async def _probe(port: int, took: list[float], over: asyncio.Event) -> None:
    while not over.is_set():
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        await reader.read()
        writer.close()
        took.append(time.monotonic() - began)
        await asyncio.sleep(_PROBE_SECONDS)
