"""Small frames from browsers, each answered: a ping by a pong, an edit by an ack and a row."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

from tests.bench.serving.client import Conversation, Socket, closing, connect_all
from tests.bench.serving.plan import Plan
from tests.bench.serving.processes import BenchError, Process

HZ = 25.0
"""Of one socket; below what a server takes from it (BEACH_FRAMES_PER_SECOND)."""


async def ping_cost(process: Process, port: int, talks: Sequence[Conversation], plan: Plan) -> float:
    """Seconds of processor time of one ping and its answer."""
    cost, _ = await asked(process, port, talks, plan, lambda _: {"type": "ping"})
    return cost


async def asked(
    process: Process,
    port: int,
    talks: Sequence[Conversation],
    plan: Plan,
    frame: Callable[[int], dict[str, Any]],
) -> tuple[float, list[float]]:
    """Every socket sends `frame(n)` at its own pace; seconds of processor time of each that was answered, and how long
    the answers took. Raises BenchError for an answer that is an error."""
    said: dict[Socket, deque[float]] = defaultdict(deque)
    took: list[float] = []
    errors: list[str] = []

    def hear(socket: Socket, got: bytes) -> None:
        if got.startswith((b'{"type":"pong"', b'{"type":"ack"')):
            took.append(time.monotonic() - said[socket].popleft())
        elif got.startswith(b'{"type":"error"'):
            errors.append(got[:300].decode())

    async def ask(socket: Socket, wait: float) -> None:
        began = time.monotonic() + wait
        for number in range(10**9):
            await asyncio.sleep(max(0.0, began + number / HZ - time.monotonic()))
            said[socket].append(time.monotonic())
            socket.send(frame(number))

    sockets = await connect_all(port, talks, hear)
    with closing(sockets):
        async with asyncio.TaskGroup() as group:
            asking = [
                group.create_task(ask(one, number / len(sockets) / HZ)) for number, one in enumerate(sockets)
            ]
            await asyncio.sleep(plan.warm)
            took.clear()
            before = process.cpu()
            await asyncio.sleep(plan.seconds)
            used, answered = process.cpu() - before, list(took)
            for task in asking:
                task.cancel()
    if errors:
        raise BenchError(f"{len(errors)} frames were refused: {errors[0]}")
    return used / max(1, len(answered)), answered
