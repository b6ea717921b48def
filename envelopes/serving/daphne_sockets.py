"""Daphne's sockets, with what it offers no option for: every close code and its reason, limits that hold for what
comes in only, frames that leave at once, and handshakes that take turns. Whoever sends, here and in a reply, waits for
a reader that is behind (``daphne_backpressure``).

Measured with daphne 4.2, autobahn 26 and Twisted 26: codes under 3000 raise, so nobody can be told to come back; a
message over the limit cuts the connection without a code; the same limit raises for what the server itself sends; each
frame waits for a round of the event loop in which its socket is found to be writable (30 us, where writing it at once
takes 10); each connection copies the factory's options, prints them for a log that nobody reads (a tenth of a
handshake), and keeps the request that it came with.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import partial
from inspect import isfunction
from typing import Any

from autobahn.websocket.protocol import TrafficStats
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol

from envelopes.conf import conf
from envelopes.serving.daphne_backpressure import Backpressure, unread
from envelopes.serving.daphne_frames import head, written

HANDSHAKES = 8
"""So many are under way at once, each until the application has let it in. The others wait with what they have asked,
so that a request which comes while a thousand pages come back does not wait for all of them."""

READ_FRAMES = 8
"""A frame may be so many times larger than ``BEACH_FRAME_BYTES`` and is still read, to be answered with its id."""

REASON_BYTES = 123
"""RFC 6455, section 5.5: what is left of a control frame."""


_OF_HANDSHAKES = frozenset({
    "_results", "_transport_details", "_valid_events", "_wskey", "application_deferred", "clean_headers",
    "http_headers", "http_request_data", "http_request_host", "http_request_params", "http_request_path",
    "http_request_uri", "http_response_data", "http_status_line", "protocol_to_accept", "send_queue", "server_addr",
    "trafficStats", "websocket_extensions", "websocket_extensions_in_use", "websocket_origin", "websocket_protocols",
})  # fmt: skip
"""What nobody asks a connection for once it is open: a third of what it would hold."""


_TRAFFIC: Any = TrafficStats()  # type: ignore[no-untyped-call]


class Turns:
    """At most ``count`` are under way, the others wait in the order in which they came."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[Callable[[], object]] = deque()
        self._is_going_on = False

    def ask(self, begin: Callable[[], object]) -> None:
        """Call ``begin`` when it may begin, maybe at once. One ``done`` is owed for it then."""
        # In the context of now: what begins later is called by whoever is done, and an application that starts there
        # would have what that one's has set.
        self._waiting.append(partial(copy_context().run, begin))
        self._go_on()

    def done(self) -> None:
        """One is over."""
        self._free += 1
        self._go_on()

    def _go_on(self) -> None:
        # One that is over as soon as it begins comes back here. A thousand such, of pages that went away while they
        # waited, must not be calls inside of each other.
        if self._is_going_on:
            return
        self._is_going_on = True
        try:
            while self._free and self._waiting:
                self._free -= 1
                self._waiting.popleft()()
        finally:
            self._is_going_on = False


class Protocol(Backpressure, WebSocketProtocol):  # type: ignore[misc]  # daphne ships no types
    """One connection."""

    # On the class, by ``Factory``.
    CONFIG_ATTRS = ()
    maxMessagePayloadSize: int

    # Of all that are open.
    trafficStats: Any = _TRAFFIC
    send_queue: Sequence[Any] = ()

    _has_turn = True

    def connectionMade(self) -> None:  # noqa: N802 - twisted's name
        # Of the HTTP connection that this one was: it would be kept for as long as the transport knows it.
        self.transport.unregisterProducer()
        super().connectionMade()

    def attach(self) -> None:
        """There is an application that can wait."""
        self.transport.registerProducer(self, True)

    def onOpen(self) -> None:  # noqa: N802 - autobahn's name
        """The handshake is over, and what it came with is in the scope."""
        super().onOpen()
        self.request.headers = None
        kind, kept = type(self), dict[str, Any]()
        for name, value in vars(self).items():
            if name in _OF_HANDSHAKES:
                continue
            # Of most that can happen to a connection autobahn notes that it has not.
            if (value is None or value is False) and not hasattr(kind, name):
                setattr(kind, name, value)
            if getattr(kind, name, self) is not value:
                kept[name] = value
        self.__dict__ = kept

    def connectionLost(self, *args: Any) -> None:  # noqa: N802 - twisted's name
        try:
            super().connectionLost(*args)
        finally:
            self._give_turn_back()
            # It has the connection itself as its result: a circle, for the garbage collector.
            self.is_closed = None
            self.transport.unregisterProducer()

    def onClose(self, *args: Any) -> None:  # noqa: N802 - autobahn's name
        """As daphne's, which raises for what its server does not know: a handshake that was wrong, or refused a while
        ago."""
        if self in self.factory.server_class.connections:
            super().onClose(*args)

    def _give_turn_back(self) -> None:
        if self._has_turn:
            self._has_turn = False
            self.factory.turns.done()

    def handle_reply(self, message: Any) -> None:
        """As daphne's; a close goes out with the code that the application chose."""
        try:
            self._reply(message)
        finally:
            if self.state != self.STATE_CONNECTING:
                self._give_turn_back()

    def _reply(self, message: Any) -> None:
        if message.get("type") != "websocket.close" or self.state == self.STATE_CONNECTING:
            super().handle_reply(message)
            return
        reason = str(message.get("reason") or "").encode()[:REASON_BYTES].decode(errors="ignore").encode()
        self.sendCloseFrame(code=message.get("code") or 1000, reasonUtf8=reason)

    def sendMessage(self, payload: bytes, isBinary: bool = False, **options: Any) -> None:  # noqa: N802,N803 - autobahn's
        """Whatever size it has: a large surface is one frame."""
        if self.state == self.STATE_OPEN and not options and self._perMessageCompress is None:
            # No compression was agreed on, and daphne asks for no fragments: this is all that is left to do.
            self.sendData(head(2 if isBinary else 1, len(payload)) + payload)
            return
        self.maxMessagePayloadSize = 0
        try:
            super().sendMessage(payload, isBinary, **options)
        finally:
            # That of the class again.
            del self.maxMessagePayloadSize

    def send_at_once(self, *texts: str) -> bool:
        """``at_once.SendAtOnce``."""
        if self.state != self.STATE_OPEN or self.is_behind or self._perMessageCompress is not None:
            return False
        frames = [head(1, len(payload)) + payload for payload in map(str.encode, texts)]
        # Nearly always one: a text that is being written.
        data = frames[0] if len(frames) == 1 else b"".join(frames)
        sent = 0 if self.send_queue else written(self.transport, data)
        if sent < len(data):
            self.sendData(data[sent:])
        return True

    def sendData(self, data: bytes, sync: bool = False, chopsize: int | None = None) -> None:  # noqa: N802 - autobahn's
        """Writes it, where nothing that was written before still waits: then the reactor need not be asked when."""
        if not (sync or chopsize or self.send_queue):
            data = data[written(self.transport, data) :]
            if not data:
                return
        elif not self.send_queue:
            self.send_queue = deque()
        super().sendData(data, sync, chopsize)


class Factory(WebSocketFactory):  # type: ignore[misc]  # daphne ships no types
    """Makes the connections of a server."""

    protocol: type[Protocol] = Protocol

    def __init__(self, *args: Any, **options: Any) -> None:
        self.turns = Turns(HANDSHAKES)
        super().__init__(*args, **options)

    def setProtocolOptions(self, **options: Any) -> None:  # noqa: N802 - autobahn's name
        """Daphne's options, except for sizes: too large is closed with 1009, and no longer dropped."""
        most = conf.BEACH_FRAME_BYTES * READ_FRAMES
        super().setProtocolOptions(
            **{**options, "failByDrop": False, "maxMessagePayloadSize": most, "maxFramePayloadSize": most}
        )
        # Some are functions, which are no methods of a connection.
        of_all = {name: _as_it_is(getattr(self, name)) for name in WebSocketProtocol.CONFIG_ATTRS}
        self.protocol = type(Protocol.__name__, (Protocol,), of_all)


def _as_it_is(option: Any) -> Any:
    return staticmethod(option) if isfunction(option) else option


class Request(Backpressure, WebRequest):  # type: ignore[misc]  # daphne ships no types
    """One request. Those that become sockets take turns."""

    def attach(self) -> None:
        """There is an application that can wait."""
        self.channel.registerProducer(self, True)
        if self.transport.producerPaused:
            # By the reply to the request before this one.
            self.pauseProducing()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - twisted's name
        """As daphne's."""
        # A channel that is closing has no producer any more.
        self.go_on()
        super().connectionLost(reason)

    def handle_exception(self, exception: Any) -> None:
        """As daphne's, which raises for a reply that has begun, and looks after no connection any more from then on."""
        if not self._response_started:
            super().handle_exception(exception)
        elif self.channel is not None:
            # What was sent so far must not look like all of it.
            self.transport.abortConnection()

    def finish(self) -> None:
        """As daphne's. What its reader has not taken yet is the transport's."""
        self.channel.unregisterProducer()
        self.go_on()
        super().finish()
        if self.transport.disconnecting:
            # Until all has been taken, as long as somebody takes something.
            unread.add(self.transport)

    def process(self) -> Any:
        """As daphne's."""
        if not self.requestHeaders.hasHeader(b"Upgrade"):
            return super().process()
        # Daphne reads them as ASCII, and answers 500 with a traceback where they are not.
        if not all(map(bytes.isascii, self.requestHeaders.getRawHeaders(b"Sec-WebSocket-Protocol", ()))):
            self.basic_error(400, b"Bad Request", "Invalid subprotocol")
            return None
        self.server.ws_factory.turns.ask(self._begin)
        return None

    def _begin(self) -> None:
        turns = self.server.ws_factory.turns
        if self.channel is None:
            # It was gone before.
            turns.done()
            return
        try:
            super().process()
        finally:
            # Daphne has handed the transport over to the socket, which owes the turn from then on. What protocol the
            # transport has by now would not say so: of TLS it is a wrapper's.
            if self.transport is not None:
                # It asked for something else than a socket, or wrongly.
                turns.done()
            else:
                # Nobody asks for either any more, and the two know each other: that would be left to the collector.
                self.channel.requests.clear()


class Requests(HTTPFactory):  # type: ignore[misc]  # daphne ships no types
    """Makes the connections of a server, which all begin with a request."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - twisted's name
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = Request
        return protocol
