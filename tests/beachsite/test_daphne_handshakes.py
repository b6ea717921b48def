"""A handshake has one turn and gives it back once, whatever it comes over and however it ends."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from typing import Any

import pytest
from daphne.server import Server
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import StringTransport
from twisted.protocols.policies import WrappingFactory
from twisted.python.failure import Failure

from envelopes.serving.daphne_applications import Applications
from envelopes.serving.daphne_sockets import HANDSHAKES, Factory, Protocol, Request, Requests

OPENING = (
    b"GET /ws/ HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
OTHER = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"


Application = Callable[[Any, Any, Any], Awaitable[None]]


class Daphne(Applications, Server):  # type: ignore[misc]  # daphne ships no types
    """Its connections, without a port."""

    def __init__(self, application: Application) -> None:
        super().__init__(application, endpoints=["tcp:port=0"], server_name="")
        self.connections = {}
        self.ws_factory = Factory(self, server="")
        self.ws_factory.setProtocolOptions()
        self.http_factory = Requests(self)

    @property
    def free(self) -> int:
        return int(self.ws_factory.turns._free)

    def end(self) -> None:
        for known in self.connections.values():
            if "application_instance" in known:
                known["application_instance"].cancel()


async def _never_answers(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.get_running_loop().create_future()


@pytest.fixture
async def daphne() -> AsyncIterator[Daphne]:
    made = Daphne(_never_answers)
    yield made
    made.end()


class Visit:
    """A connection of a client, straight or through a wrapper, as TLS is one."""

    def __init__(self, daphne: Daphne, *, wrapped: bool = False) -> None:
        factory = WrappingFactory(daphne.http_factory) if wrapped else daphne.http_factory
        self._outer: Any = factory.buildProtocol(None)
        self._transport: Any = StringTransport()
        # As a transport of Twisted's has them; the one of tests does not.
        self._transport.protocol = self._outer
        self._transport.producerPaused = False
        self._outer.makeConnection(self._transport)

    def sends(self, data: bytes) -> None:
        self._transport.protocol.dataReceived(data)

    @property
    def heard(self) -> bytes:
        return bytes(self._transport.value())

    def lets_go(self) -> None:
        """Of what the connection began as; as a transport of Twisted's does."""
        del self._outer

    def goes(self) -> None:
        # As a transport of Twisted's, which does not know it any more.
        protocol, self._transport.protocol = self._transport.protocol, None
        protocol.connectionLost(Failure(ConnectionDone()))


@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "as TLS is"])
async def test_a_socket_has_its_turn_until_it_is_lost(daphne: Daphne, wrapped: bool) -> None:
    visit = Visit(daphne, wrapped=wrapped)
    visit.sends(OPENING)
    assert daphne.free == HANDSHAKES - 1
    visit.goes()
    assert daphne.free == HANDSHAKES


async def test_who_asks_for_something_else_has_none(daphne: Daphne) -> None:
    visit = Visit(daphne)
    visit.sends(OTHER)
    assert daphne.free == HANDSHAKES
    visit.goes()
    assert daphne.free == HANDSHAKES


async def test_who_asks_for_a_subprotocol_that_is_no_name_is_refused(
    daphne: Daphne, caplog: pytest.LogCaptureFixture
) -> None:
    visit = Visit(daphne)
    visit.sends(OPENING.replace(b"\r\n\r\n", b"\r\nSec-WebSocket-Protocol: caf\xc3\xa9\r\n\r\n"))
    assert visit.heard.startswith(b"HTTP/1.1 400 ")
    assert daphne.free == HANDSHAKES
    assert not caplog.records
    visit.goes()


async def test_an_open_socket_leaves_nothing_of_its_request_to_the_collector() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        opened.set()
        await asyncio.get_running_loop().create_future()

    daphne, opened = Daphne(application), asyncio.Event()
    visit = Visit(daphne)
    gc.disable()
    try:
        visit.sends(OPENING)
        await asyncio.wait_for(opened.wait(), 10)
        (request,) = [weakref.ref(one) for one in daphne.connections if isinstance(one, Request)]
        daphne.application_checker()
        visit.lets_go()
        assert request() is None
    finally:
        gc.enable()
        daphne.end()


async def test_a_socket_does_what_it_did_without_what_it_held_for_its_handshake() -> None:
    heard, opened, closed, over = list[Any](), asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        opened.set()
        for _ in range(2):
            heard.append(await receive())
            await send({"type": "websocket.send", "text": heard[-1]["text"]})
        await send({"type": "websocket.close", "code": 4410})
        closed.set()
        heard.append(await receive())
        over.set()

    daphne = Daphne(application)
    visit = Visit(daphne)
    visit.sends(OPENING)
    await asyncio.wait_for(opened.wait(), 10)
    for text in (b"one", b"two"):
        visit.sends(bytes((0x81, 0x80 | len(text))) + bytes(4) + text)
    await asyncio.wait_for(closed.wait(), 10)
    assert visit.heard.endswith(b"\x81\x03one\x81\x03two\x88\x02" + (4410).to_bytes(2, "big"))
    visit.goes()
    await asyncio.wait_for(over.wait(), 10)
    assert [one.get("text") for one in heard] == ["one", "two", None]
    assert heard[-1]["type"] == "websocket.disconnect"


async def test_a_socket_that_is_gone_leaves_nothing_to_the_collector() -> None:
    opened = asyncio.Event()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        opened.set()
        await receive()

    daphne = Daphne(application)
    visit = Visit(daphne)
    gc.disable()
    try:
        visit.sends(OPENING)
        await asyncio.wait_for(opened.wait(), 10)
        visit.lets_go()
        (socket,) = [weakref.ref(one) for one in daphne.connections if isinstance(one, Protocol)]
        over = daphne.connections[socket()]["application_instance"]
        visit.goes()
        await asyncio.wait_for(over, 10)
        del over, visit
        daphne.application_checker()
        assert not daphne.connections
        # What ran last is let go of when something else does.
        await asyncio.sleep(0)
        assert socket() is None
    finally:
        gc.enable()


class _NotLookedAt(dict[str, Any]):
    def get(self, key: str, default: Any = None) -> Any:
        raise AssertionError("An open connection was looked at.")


async def test_only_connections_of_which_something_has_ended_are_looked_at(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls: list[asyncio.Future[None]] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        calls.append(asyncio.get_running_loop().create_future())
        await calls[-1]

    daphne = Daphne(application)
    open_, gone, failed = [Visit(daphne) for _ in range(3)]
    known = []
    for visit in (open_, gone, failed):
        visit.sends(OPENING)
        known.append(
            next(one for one in daphne.connections if isinstance(one, Protocol) and one not in known)
        )
        await asyncio.sleep(0)
    daphne.application_checker()
    daphne.connections[known[0]] = _NotLookedAt(daphne.connections[known[0]])

    gone.goes()
    calls[1].set_result(None)
    calls[2].set_exception(LookupError("of the application"))
    for _ in range(3):
        await asyncio.sleep(0)
    daphne.application_checker()

    assert [one in daphne.connections for one in known] == [True, False, True]
    assert "of the application" in caplog.text
    assert (1011).to_bytes(2, "big") in failed.heard
    failed.goes()
    daphne.application_checker()
    assert known[2] not in daphne.connections
    assert known[0] in daphne.connections
    calls[0].set_result(None)


async def test_a_request_that_comes_while_ended_ones_are_looked_at_is_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The one behind it on the same connection begins as soon as one that has failed is answered."""
    paths: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        paths.append(scope["path"])
        if scope["path"] == "/fails":
            raise LookupError("of the application")
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    daphne = Daphne(application)
    visit = Visit(daphne)
    for path in (b"/fails", b"/works"):
        visit.sends(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for _ in range(3):
        await asyncio.sleep(0)
    assert paths == ["/fails"]
    daphne.application_checker()
    for _ in range(3):
        await asyncio.sleep(0)

    assert paths == ["/fails", "/works"]
    assert b"HTTP/1.1 500 " in visit.heard
    assert b"HTTP/1.1 204 " in visit.heard
    assert "of the application" in caplog.text
    daphne.application_checker()
    assert not daphne.connections
    visit.goes()


async def test_those_that_went_away_while_they_waited_have_none(daphne: Daphne) -> None:
    at_work, gone = [Visit(daphne) for _ in range(HANDSHAKES)], [Visit(daphne) for _ in range(500)]
    for visit in (*at_work, *gone):
        visit.sends(OPENING)
    assert daphne.free == 0
    for visit in (*gone, *at_work):
        visit.goes()
    assert daphne.free == HANDSHAKES


async def test_a_server_that_ends_takes_those_that_wait_for_no_application(daphne: Daphne) -> None:
    for _ in range(HANDSHAKES + 1):
        Visit(daphne).sends(OPENING)
    await asyncio.sleep(0)
    at_work = [known for known in daphne.connections.values() if "application_instance" in known]
    await asyncio.wait_for(daphne.kill_all_applications().asFuture(asyncio.get_running_loop()), 10)
    assert len(at_work) == HANDSHAKES
    assert all(known["application_instance"].cancelled() for known in at_work)


async def test_who_waited_has_nothing_of_whoever_let_them_in() -> None:
    whose: ContextVar[str] = ContextVar("whose", default="nobody's")
    found, all_are_here = list[str](), asyncio.Event()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        found.append(whose.get())
        if len(found) > HANDSHAKES:
            all_are_here.set()
        whose.set("somebody's")
        await receive()
        await send({"type": "websocket.accept"})
        await asyncio.get_running_loop().create_future()

    daphne = Daphne(application)
    for _ in range(HANDSHAKES + 1):
        Visit(daphne).sends(OPENING)
    await asyncio.wait_for(all_are_here.wait(), 10)
    daphne.end()
    assert set(found) == {"nobody's"}
