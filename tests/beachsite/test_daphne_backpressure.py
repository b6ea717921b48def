"""Whoever sends waits for a reader that is behind, and a reader that takes nothing is cut off."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from twisted.internet.error import ConnectionDone
from twisted.internet.protocol import Protocol
from twisted.internet.tcp import Connection

from envelopes.serving import daphne_backpressure as module
from envelopes.serving.daphne_backpressure import FRAMES_WAITING, HELD_BYTES, Backpressure, Inbox, Unread
from tests.beachsite.test_daphne_sockets import Reactor

LARGE = b"x" * 3_000_000


class ReadingReactor(Reactor):
    """Nobody asks it for what they send."""

    def removeReader(self, reader: Any) -> None:  # noqa: N802 - Twisted's name
        pass


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Ends:
    """A connection, its reactor that writes when it is told to, and the socket of whoever reads."""

    def __init__(self, ours: socket.socket, theirs: socket.socket) -> None:
        self.reactor = ReadingReactor()
        self.connection: Any = Connection(ours, Protocol(), self.reactor)  # type: ignore[arg-type]
        self.connection.connected = True
        self.theirs = theirs
        self.aborted = False
        self.ended: object = None
        self.connection.abortConnection = self._abort

    def _abort(self) -> None:
        self.aborted = True

    def write(self) -> None:
        if self.connection in self.reactor.writers:
            self.ended = self.connection.doWrite()

    def read(self, size: int) -> None:
        """They read so much, and our end writes on."""
        while size > 0:
            size -= len(self.theirs.recv(min(size, 1 << 16)))
            self.write()


@pytest.fixture
def ends() -> Iterator[Ends]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.settimeout(10)
    with ours, theirs:
        yield Ends(ours, theirs)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """That of those who are behind."""
    clock = Clock()
    monkeypatch.setattr(module, "unread", Unread(clock))
    return clock


class Sender(Backpressure):
    def __init__(self, ends: Ends) -> None:
        self.transport = ends.connection
        self.transport.registerProducer(self, True)


async def test_who_sends_waits_until_all_of_it_has_been_taken(ends: Ends, clock: Clock) -> None:
    sender = Sender(ends)
    ends.connection.write(b"x" * HELD_BYTES)
    await asyncio.wait_for(sender.room(), 10)
    ends.connection.write(LARGE)
    waiting = [asyncio.ensure_future(sender.room()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    ends.write()
    ends.read(1_000_000)
    await asyncio.sleep(0.01)
    assert [one.done() for one in waiting] == [True, False, False]

    ends.read(HELD_BYTES + len(LARGE) - 1_000_000)
    await asyncio.wait_for(asyncio.gather(*waiting[1:]), 10)
    assert not len(module.unread)


async def test_who_sends_does_not_wait_for_a_reader_that_is_gone(ends: Ends, clock: Clock) -> None:
    sender = Sender(ends)
    ends.connection.write(LARGE)
    waiting = asyncio.ensure_future(sender.room())
    await asyncio.sleep(0)
    sender.stopProducing()
    await asyncio.wait_for(waiting, 10)
    assert not len(module.unread)


async def test_a_reader_that_takes_nothing_is_cut_off(ends: Ends, clock: Clock, settings: Any) -> None:
    settings.BEACH_READER_SECONDS = 30
    Sender(ends)
    ends.connection.write(LARGE)
    ends.write()
    clock.now = 1
    module.unread.check()
    clock.now = 30
    module.unread.check()
    assert not ends.aborted
    clock.now = 31
    module.unread.check()
    assert ends.aborted
    assert not len(module.unread)


async def test_a_reader_that_is_slow_is_not(ends: Ends, clock: Clock, settings: Any) -> None:
    settings.BEACH_READER_SECONDS = 30
    Sender(ends)
    ends.connection.write(LARGE)
    ends.write()
    for clock.now in range(0, 400, 20):
        module.unread.check()
        ends.read(100_000)
    assert not ends.aborted
    assert len(module.unread) == 1


async def test_a_connection_that_is_to_close_closes_once_the_rest_has_been_taken(
    ends: Ends, clock: Clock
) -> None:
    Sender(ends)
    ends.connection.write(LARGE)
    ends.connection.loseConnection()
    ends.write()
    assert ends.ended is None
    ends.read(len(LARGE))
    ends.write()
    assert isinstance(ends.ended, ConnectionDone)


async def test_a_socket_is_not_read_while_its_application_is_busy(ends: Ends) -> None:
    asked: list[str] = []

    class Transport:
        def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
            asked.append("pause")

        def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
            asked.append("resume")

    inbox = Inbox(Transport())
    for number in range(FRAMES_WAITING - 1):
        inbox.put_nowait(number)
    assert asked == []
    # What has been read by then is kept.
    inbox.put_nowait("last")
    inbox.put_nowait("more")
    assert asked == ["pause"]
    got = [await inbox.get() for _ in range(FRAMES_WAITING)]
    assert asked == ["pause"]
    assert [*got, await inbox.get()] == [*range(FRAMES_WAITING - 1), "last", "more"]
    assert asked == ["pause", "resume"]
