"""SIGTERM and SIGINT at awkward moments: web and worker end within ten seconds, and the turn goes on elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests import nursery
from tests.faults.conftest import Lab, OwnRedis
from tests.visitor import Visitor

BOUND = 10
"""Seconds, as container runtimes give."""


class Worker:
    """``manage.py run_worker`` beside a server, on its data."""

    def __init__(self, lab: Lab, log: Path) -> None:
        self.lab = lab
        self.log = log
        with log.open("ab") as out:
            self.process = nursery.start(["run_worker"], lab.server.environ, out)

    async def ready(self) -> Worker:
        for _ in range(800):
            if "runs turns" in self.log.read_text():
                return self
            assert self.process.poll() is None, self.log.read_text()
            await asyncio.sleep(0.05)
        raise AssertionError(f"The worker did not come up:\n{self.log.read_text()}")

    async def ends(self, *signals: signal.Signals) -> None:
        await _ends(self.process, *signals, log=self.log)


async def _ends(process: nursery.Process, *signals: signal.Signals, log: Path) -> None:
    for number in signals:
        process.send_signal(number)
        await asyncio.sleep(0.02)
    try:
        await asyncio.to_thread(process.wait, BOUND)
    except subprocess.TimeoutExpired:
        told = await asyncio.to_thread(log.read_text)
        raise AssertionError(f"It did not end within {BOUND} seconds. Its log:\n{told}") from None


async def _server_ends(lab: Lab, *signals: signal.Signals) -> None:
    process = lab.server.process
    assert process is not None
    await _ends(process, *signals, log=lab.server.log)
    lab.server.process = None


@pytest.fixture
def make_worker(tmp_path: Path) -> Iterator[Callable[[Lab], Worker]]:
    workers: list[Worker] = []

    def make(lab: Lab) -> Worker:
        workers.append(Worker(lab, tmp_path / f"worker{len(workers)}.log"))
        return workers[-1]

    try:
        yield make
    finally:
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.process.pid, signal.SIGKILL)
            worker.process.wait()


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a Redis that takes connections and never says anything."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


@pytest.mark.redis
async def test_s1_web_and_worker_end_during_a_turn_with_redis_and_the_next_one_carries_on(
    own_redis: OwnRedis, make_lab: Callable[..., Lab], make_worker: Callable[[Lab], Worker]
) -> None:
    # A lease that was not given back could not have run out.
    lab = await asyncio.to_thread(make_lab, {"REDIS_URL": own_redis.url, "BEACH_LEASE_SECONDS": "60"})
    worker = await make_worker(lab).ready()
    visitor = await (await Visitor.arrive(lab.server)).connect()
    lab.gates.shut("words")
    await visitor.say("Count to three")
    await lab.gates.wait("words")
    # Whoever has it first: the other takes it over, and has to let go of it as well.
    ((owner,),) = lab.query("SELECT lease_owner FROM envelopes_turn")
    ends = [worker.ends, partial(_server_ends, lab)]
    if f":{worker.process.pid}:" not in owner:
        ends.reverse()
    await ends[0](signal.SIGTERM)
    await lab.gates.wait("words", 2)
    await ends[1](signal.SIGINT)
    assert await visitor.ended() == 1012

    await lab.start()
    await lab.gates.wait("words", 3)
    lab.gates.open("words")
    await visitor.connect()
    await visitor.settles()
    assert visitor.page.text().count("third of three") == 1
    await visitor.is_as_reloaded()
    await visitor.drop()


async def test_s1_a_redis_that_never_answers_holds_nobody(
    silent: str, make_lab: Callable[..., Lab], make_worker: Callable[[Lab], Worker]
) -> None:
    lab = await asyncio.to_thread(make_lab, {"REDIS_URL": silent})
    # That Redis does not answer is logged, with its traceback.
    lab.server.may_fail = True
    worker = make_worker(lab)
    lab.gates.shut("words")
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say("Count to three")
    await lab.gates.wait("words")
    await worker.ready()
    # Twice, as whoever is in a hurry does: that changes nothing.
    await asyncio.gather(
        _server_ends(lab, signal.SIGTERM, signal.SIGTERM), worker.ends(signal.SIGTERM, signal.SIGINT)
    )
    assert await visitor.ended() == 1012
    assert lab.query(
        "SELECT lease_until < strftime('%Y-%m-%d %H:%M:%f', 'now', '+1 second') FROM envelopes_turn"
    ) == [(1,)]


async def test_s1_a_locked_database_and_a_tool_that_does_not_end_hold_nobody(
    make_lab: Callable[..., Lab],
) -> None:
    """And whoever comes meanwhile is sent on: the old server is not ready and takes no messages."""
    lab = await asyncio.to_thread(make_lab, {"LAB_END_SECONDS": "3"})
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say("Be stubborn")
    await lab.gates.wait("stubborn")
    database = sqlite3.connect(lab.server.data / "beach.sqlite3")
    try:
        database.execute("BEGIN EXCLUSIVE")
        ending = asyncio.create_task(_server_ends(lab, signal.SIGTERM))
        assert await visitor.ended() == 1012
        assert await asyncio.to_thread(_ready, lab) == 503
        assert await (await visitor.tab().dial()).ended() == 1012
        await ending
    finally:
        database.close()
    assert "ending without what still runs" in lab.server.tail()


def _ready(lab: Lab) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", lab.server.port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status
    finally:
        connection.close()
