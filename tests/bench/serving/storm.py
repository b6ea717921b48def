"""Everybody comes back at once, as after a restart."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.serving.client import Conversation, Socket, close_all
from tests.bench.serving.processes import BenchError

_PATIENCE = 120.0


@dataclass(frozen=True)
class Greeted:
    """Seconds until the last one was welcomed, and what each request for /healthz took meanwhile."""

    seconds: float
    health: list[float]


async def greet(port: int, talks: Sequence[Conversation]) -> Greeted:
    """Connect all of them now. Raises BenchError when one is refused, or waits for two minutes."""
    sockets = [Socket(port, talk) for talk in talks]
    supervisor = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.bench.serving.supervisor", str(port), stdin=PIPE, stdout=PIPE
    )
    try:
        assert supervisor.stdout is not None
        await supervisor.stdout.readline()
        began = time.monotonic()
        async with asyncio.timeout(_PATIENCE):
            await asyncio.gather(*(one.connect() for one in sockets))
            took = time.monotonic() - began
            # The request that is on its way counts.
            told, _ = await supervisor.communicate(b"\n")
    except (OSError, TimeoutError) as error:
        raise BenchError(f"Not all of {len(sockets)} sockets were greeted: {error!r}") from error
    finally:
        if supervisor.returncode is None:
            supervisor.kill()
            await supervisor.wait()
        close_all(sockets)
    return Greeted(took, json.loads(told))
