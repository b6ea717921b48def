"""Frames leave at once, and in order where a client reads slowly."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from twisted.internet.protocol import Protocol
from twisted.internet.tcp import Connection

from envelopes.serving.daphne_frames import written
from envelopes.serving.daphne_sockets import Factory

FRAME = b"\x81\x05hello"


class Reactor:
    """Knows who wants to write, and lets them when it is told to."""

    def __init__(self) -> None:
        self.writers: set[Any] = set()

    def addWriter(self, writer: Any) -> None:  # noqa: N802 - Twisted's name
        self.writers.add(writer)

    def removeWriter(self, writer: Any) -> None:  # noqa: N802 - Twisted's name
        self.writers.discard(writer)


@pytest.fixture
def ends() -> Iterator[tuple[Any, Reactor, socket.socket]]:
    ours, theirs = socket.socketpair()
    reactor = Reactor()
    connection: Any = Connection(ours, Protocol(), reactor)  # type: ignore[arg-type]
    connection.connected = True
    with ours, theirs:
        yield connection, reactor, theirs


@pytest.fixture
def sends(ends: tuple[Any, Reactor, socket.socket]) -> Any:
    """The protocol of an open socket over that connection."""
    factory = Factory(None, server="beach")
    factory.setProtocolOptions()
    protocol: Any = factory.protocol()
    protocol.factory = factory
    protocol.factory.log = protocol.log
    protocol.transport = ends[0]
    protocol._connectionMade()
    protocol.state = protocol.STATE_OPEN
    return protocol


def test_a_frame_leaves_at_once(sends: Any, ends: tuple[Any, Reactor, socket.socket]) -> None:
    _, reactor, theirs = ends
    sends.sendMessage(b"hello")

    assert not reactor.writers
    assert theirs.recv(100) == FRAME


def test_what_a_slow_client_does_not_take_is_kept_in_order(
    sends: Any, ends: tuple[Any, Reactor, socket.socket]
) -> None:
    connection, reactor, theirs = ends
    large = b"x" * 3_000_000
    sends.sendMessage(large)
    assert reactor.writers == {connection}
    sends.sendMessage(b"hello")
    assert written(connection, b"more") == 0

    read = b""
    theirs.settimeout(10)
    while not read.endswith(FRAME):
        read += theirs.recv(1 << 20)
        if connection in reactor.writers:
            assert connection.doWrite() is None
    assert read == b"\x81\x7f" + len(large).to_bytes(8, "big") + large + FRAME
    assert not reactor.writers


def test_a_connection_that_is_gone_or_going_is_left_to_the_reactor(
    sends: Any, ends: tuple[Any, Reactor, socket.socket]
) -> None:
    connection, reactor, theirs = ends
    theirs.close()
    sends.sendMessage(b"hello")
    assert reactor.writers == {connection}
    connection.disconnecting = True
    assert written(connection, b"more") == 0


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_a_frame_that_is_sent_at_once_is_the_one_that_is_sent_in_turn(
    sends: Any, ends: tuple[Any, Reactor, socket.socket], size: int
) -> None:
    _, _, theirs = ends
    theirs.setblocking(False)
    assert sends.send_at_once("x" * size)
    at_once = theirs.recv(1 << 20)
    sends.sendMessage(b"x" * size)
    assert theirs.recv(1 << 20) == at_once
    sends.sendFrame(opcode=1, payload=b"x" * size)
    assert theirs.recv(1 << 20) == at_once


def test_nothing_is_sent_at_once_to_a_reader_that_is_behind_or_gone(
    sends: Any, ends: tuple[Any, Reactor, socket.socket]
) -> None:
    _, _, theirs = ends
    theirs.setblocking(False)
    sends._room = object()
    assert not sends.send_at_once("hello")
    sends._room = None
    for state in (sends.STATE_CONNECTING, sends.STATE_CLOSING, sends.STATE_CLOSED):
        sends.state = state
        assert not sends.send_at_once("hello")
    with pytest.raises(BlockingIOError):
        theirs.recv(1)
