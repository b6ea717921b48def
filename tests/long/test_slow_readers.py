"""Readers that take little or nothing of what they asked for: the server keeps a bounded amount for each, and not for
ever."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import httpx

from tests.faults.conftest import Lab, make_lab
from tests.faults.test_sockets import connect_and_never_read, masked
from tests.visitor import Visitor

__all__ = ["make_lab"]

LONG = 500_000
"""Characters of one message."""

MESSAGES = 8
READERS = 20

INSISTING_MB = 2
"""What a socket holds that asks on and on: of what it asks 64 KiB as frames that wait for their turn, which are 2,000
of the smallest and half a megabyte as messages; 64 KiB of answers, and the one that has crossed these. A page of rows,
a megabyte at most, all of them share. What was refused leaves nothing behind: as circles for the garbage collector,
80,000 objects a second, it made four megabytes of each."""

_SETUP = f"""
from envelopes import artifacts, peers
from envelopes.log.append import writing
from envelopes.testing import create_session
peer, token = peers.add("slow", ["chat", "read"], rate=100000)
session = create_session(peers.principal_of_peer(peer), "lab")
for number in range({MESSAGES}):
    with writing(session.pk) as writer:
        writer.add("message", {{"text": str(number) * {LONG}, "name": "slow"}})
print("MADE", session.public_id, token)
"""


class Caller(NamedTuple):
    lab: Lab
    session: str
    token: str
    cookie: str = ""

    @property
    def path(self) -> str:
        return f"/api/sessions/{self.session}/parts"

    def asks(self, path: str = "", *, room: int = 4096) -> socket.socket:
        """A connection that has asked and reads nothing yet; the kernel keeps little of the answer for it."""
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        raw.settimeout(30)
        raw.connect(("127.0.0.1", self.lab.server.port))
        who = self.cookie or f"Authorization: Bearer {self.token}"
        head = f"GET {path or self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{who}\r\n\r\n"
        raw.sendall(head.encode())
        return raw


async def caller(make_lab: Callable[[Mapping[str, str]], Lab], **environ: str) -> Caller:
    lab = await asyncio.to_thread(make_lab, environ)
    made = re.search(r"MADE (\S+) (\S+)", await lab.shell(_SETUP))
    assert made is not None
    return Caller(lab, made[1], made[2])


def memory(lab: Lab) -> int:
    """What the server has ever had in memory, in MB."""
    assert lab.server.process is not None
    status = Path(f"/proc/{lab.server.process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) // 1024


def open_at(lab: Lab) -> int:
    """Connections that are established at the server's end."""
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return sum(row[1].endswith(f":{lab.server.port:04X}") and row[3] == "01" for row in rows)


async def until(holds: Callable[[], bool], *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)


def _text(raw: socket.socket) -> bytes:
    """What comes until all messages are there, or the end."""
    read = b""
    while b"upToDate" not in read and (piece := raw.recv(65_536)):
        read += piece
    return read


async def test_readers_that_do_not_read_cost_little_and_are_cut_off(
    make_lab: Callable[[Mapping[str, str]], Lab],
) -> None:
    """Of each 4 MB would be waiting: 80 in all."""
    slow = await caller(make_lab, BEACH_READER_SECONDS="6")
    # What everybody shares is there.
    with slow.asks(room=1 << 20) as first:
        await asyncio.to_thread(_text, first)
    before = memory(slow.lab)
    idle = [slow.asks() for _ in range(READERS)]
    await until(lambda: open_at(slow.lab) >= READERS)
    # All of them are cut off, and none has got all of it.
    await until(lambda: open_at(slow.lab) == 0)
    assert slow.lab.server.log.read_text().count("Cut off a reader") == READERS
    assert memory(slow.lab) - before < 30
    for raw in idle:
        raw.close()
    assert await asyncio.to_thread(slow.lab.server.answers)


async def test_a_reader_that_is_slow_gets_all_of_it_in_order(
    make_lab: Callable[[Mapping[str, str]], Lab],
) -> None:
    slow = await caller(make_lab, BEACH_READER_SECONDS="6")

    def read() -> bytes:
        with slow.asks() as raw:
            # Behind as soon as it has asked, and taking a little all along.
            got = b""
            while b"upToDate" not in got[-400:]:
                got += raw.recv(16_384)
                if len(got) < 1_000_000:
                    time.sleep(0.05)
            return got

    got = await asyncio.to_thread(read)
    # Without the frames of chunked encoding, which are lengths in hexadecimal on lines of their own.
    body = re.sub(rb"\r\n[0-9a-f]+\r\n", b"", got)
    events = [line for line in body.split(b"\n") if line.startswith(b"data: ")]
    texts = [json.loads(event.removeprefix(b"data: "))["text"] for event in events[:MESSAGES]]
    assert texts == [str(number) * LONG for number in range(MESSAGES)]


async def test_one_stream_too_many_is_refused_until_another_has_ended(
    make_lab: Callable[[Mapping[str, str]], Lab],
) -> None:
    slow = await caller(make_lab, BEACH_STREAMS_PER_CALLER="3", BEACH_READER_SECONDS="4")
    async with httpx.AsyncClient(
        base_url=slow.lab.server.url, headers={"Authorization": f"Bearer {slow.token}"}, timeout=30
    ) as client:
        # Those that go in the middle are not counted.
        for _ in range(5):
            async with client.stream("GET", slow.path) as stream:
                assert stream.status_code == 200
                await anext(stream.aiter_raw())
            await until(lambda: open_at(slow.lab) == 0)
        idle = [slow.asks() for _ in range(3)]
        for raw in idle:
            assert await asyncio.to_thread(raw.recv, 15) == b"HTTP/1.1 200 OK"
        refused = await client.get(slow.path)
        assert refused.status_code == 429
        assert refused.headers["Retry-After"] == "5"
        assert refused.json() == {
            "code": "too_often",
            "message": "You have 3 streams open, which is the limit. Close one first.",
            "limit": "BEACH_STREAMS_PER_CALLER",
            "allowed": 3,
            "retry_after": 5,
        }
        # They take nothing, so they end, and there is room.
        await until(lambda: open_at(slow.lab) <= 1)
        for _ in range(100):
            async with client.stream("GET", slow.path) as stream:
                if stream.status_code == 200:
                    break
            await asyncio.sleep(0.1)
        assert stream.status_code == 200
        for raw in idle:
            raw.close()


_FILES = f"""
import os
from envelopes import artifacts
from envelopes.artifacts.writing import Chunk
from envelopes.models import Session
from django.db import transaction

session = Session.objects.get(public_id={{session!r}})
with artifacts.stored(session.public_id, os.urandom({LONG} * {MESSAGES})) as there, artifacts.kept(there) as kept:
    with transaction.atomic():
        part = artifacts.record(session, "lab", Chunk(name="large.bin", mime_type="text/plain"), kept)
print("MADE", part["data"]["url"])
"""


async def test_a_slow_download_holds_little_and_no_connection_to_the_database(
    postgres_url: str, make_lab: Callable[[Mapping[str, str]], Lab]
) -> None:
    """More of them than the pool has connections, which are sixteen."""
    lab = await asyncio.to_thread(make_lab, {"DATABASE_URL": postgres_url, "BEACH_READER_SECONDS": "30"})
    visitor = await Visitor.arrive(lab.server)
    found = re.search(r"MADE (\S+)", await lab.shell(_FILES.format(session=visitor.session)))
    assert found is not None
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    slow = Caller(lab, visitor.session, "", f"Cookie: {cookie}")
    idle = [slow.asks(found[1]) for _ in range(READERS)]
    for raw in idle:
        assert await asyncio.to_thread(raw.recv, 15) == b"HTTP/1.1 200 OK"
    before = memory(lab)
    async with httpx.AsyncClient(base_url=lab.server.url, timeout=60, cookies=visitor.cookies) as client:
        for _ in range(3):
            assert (await client.get("/readyz")).status_code == 200

        # One that reads gets all of it beside them.
        whole = await client.get(found[1])
        assert len(whole.content) == LONG * MESSAGES
    assert memory(lab) - before < 30
    for raw in idle:
        raw.close()


async def test_a_socket_that_does_not_read_costs_little_and_is_cut_off(
    make_lab: Callable[[Mapping[str, str]], Lab],
) -> None:
    """Also where it goes on asking."""
    lab = await asyncio.to_thread(make_lab, {"BEACH_READER_SECONDS": "4"})
    visitor = await Visitor.arrive(lab.server)
    # An exchange, so that there is something to show again and again.
    watching = await visitor.connect()
    await watching.say("hello")
    await watching.settles()
    idle = [await connect_and_never_read(visitor) for _ in range(3)]
    before = memory(lab)
    hello = masked(b'{"type": "hello", "after": 0}')

    def insist(raw: socket.socket) -> None:
        raw.settimeout(60)
        with suppress(ConnectionError):
            while True:
                raw.sendall(hello * 100)

    await asyncio.wait_for(asyncio.gather(*(asyncio.to_thread(insist, raw) for raw in idle)), 60)
    assert lab.server.log.read_text().count("Cut off a reader") == len(idle)
    assert memory(lab) - before <= INSISTING_MB * len(idle)
    # Others have not noticed.
    await watching.say("hello")
    await watching.settles(2)
    await watching.drop()
    for raw in idle:
        raw.close()
