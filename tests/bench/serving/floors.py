"""What figures are held against, measured in the same run, each when it is first asked for."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.bench.report import Target
from tests.bench.serving.client import Conversation, Socket, closing, connect_all, run
from tests.bench.serving.database import Kind, scratch_postgres
from tests.bench.serving.figures import late
from tests.bench.serving.pings import ping_cost
from tests.bench.serving.plan import Plan
from tests.bench.serving.processes import SERVER_CORE, Process, clean_environment
from tests.bench.serving.processes import run as run_command
from tests.bench.serving.storm import Greeted, greet
from tests.liveserver import free_port

STAMP = re.compile(rb"@(\d+)@(\d+)@")
"""When a value was due and when it was sent, in nanoseconds of the monotonic clock."""


@dataclass(frozen=True)
class ByHand:
    """Seconds of processor time, without a server."""

    row: float
    turn: float
    engine: float


@dataclass(frozen=True)
class Sent:
    """Frames of a bare consumer: seconds of processor time each, and how late they came."""

    cost: float
    late: list[float]


class Floors:
    """All of one run."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self._plan, self._folder = plan, folder
        self.told: list[Target] = []
        """Those that were measured."""
        self.by_hand = cache(self._by_hand)
        self.send = cache(self._send)
        self.echo = cache(self._echo)
        self.accept = cache(self._accept)

    def update(self, kind: Kind) -> float:
        """One row, one update in the engine, one frame: seconds."""
        hand = self.by_hand(kind)
        return hand.row + hand.engine + self.send(self._plan.updates, self._plan.updates_hz).cost

    def turn(self, kind: Kind) -> float:
        """A turn of six rows by hand, and its four frames: seconds."""
        return self.by_hand(kind).turn + 4 * self.send(self._plan.updates, self._plan.updates_hz).cost

    def _by_hand(self, kind: Kind) -> ByHand:
        if kind == "sqlite":
            found = self._run_by_hand(kind, str(self._folder / f"by-hand-{time.monotonic_ns()}.sqlite3"))
        else:
            with scratch_postgres() as url:
                found = self._run_by_hand(kind, url)
        self._tell(f"row, {kind}", found.row, "of fifty in a transaction, SQL by hand")
        self._tell(f"a turn's rows, {kind}", found.turn, "6 rows, 12 statements, 3 transactions")
        self._tell("engine", found.engine, "apply and flush")
        return found

    def _run_by_hand(self, kind: Kind, where: str) -> ByHand:
        command = [sys.executable, "-m", "tests.bench.serving.by_hand", kind, where, str(self._plan.by_hand)]
        return ByHand(**json.loads(run_command(command, clean_environment({}), core=SERVER_CORE)))

    def _bare(self) -> BareServer:
        return BareServer(self._folder / "bare.log")

    def _send(self, count: int, hz: float) -> Sent:
        with self._bare() as server:
            sent = run(self._frames(server, count, hz))
        self._tell(f"send, {count} x {hz:g}", sent.cost, late(sent.late))
        return sent

    async def _frames(self, server: BareServer, count: int, hz: float) -> Sent:
        waits: list[float] = []

        def hear(_socket: Socket, frame: bytes) -> None:
            if found := STAMP.search(frame):
                waits.append((time.monotonic_ns() - int(found[1])) / 1e9)

        plan = self._plan
        sockets = await connect_all(server.port, strangers(count), hear)
        with closing(sockets):
            order = {"type": "go", "hz": hz, "seconds": plan.warm + plan.seconds + 2}
            for number, one in enumerate(sockets):
                one.send({**order, "wait": number / count / hz})
            await asyncio.sleep(plan.warm + 0.5)
            waits.clear()
            before = server.cpu()
            await asyncio.sleep(plan.seconds)
            used, heard = server.cpu() - before, list(waits)
        return Sent(used / max(1, len(heard)), heard)

    def _echo(self, count: int) -> float:
        with self._bare() as server:
            cost = run(ping_cost(server, server.port, strangers(count), self._plan))
        self._tell("echo", cost, f"a ping and its answer, {count} sockets")
        return cost

    def _accept(self, count: int) -> Greeted:
        with self._bare() as server:
            before = server.cpu()
            greeted = run(greet(server.port, strangers(count)))
            cost = (server.cpu() - before) / count
        about = f"{count} at once in {greeted.seconds:.2f} s"
        self._tell("accept", cost, about)
        return greeted

    def _tell(self, name: str, seconds: float, about: str) -> None:
        self.told.append(Target.known(f"floor: {name}", seconds * 1e6, "us", about))


class BareServer(Process):
    """The bare consumer under daphne, with a listen backlog that no storm fills."""

    def __init__(self, log: Path) -> None:
        self.port = free_port()
        where = f"tcp:port={self.port}:interface=127.0.0.1:backlog=2048"
        command = [sys.executable, "-m", "daphne", "-e", where, "tests.bench.serving.bare:application"]
        super().__init__(command, clean_environment({}), log)
        try:
            self.answers(self.port)
        except BaseException:
            self.stop()
            raise


def strangers(count: int) -> list[Conversation]:
    """For a server that asks nobody who they are."""
    return [Conversation(f"s{number}") for number in range(count)]
