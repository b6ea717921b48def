"""What daphne does for the applications of its connections, with ours for its sockets (``daphne_sockets``)."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred

from envelopes.serving.daphne_backpressure import Inbox, unread
from envelopes.transports import at_once

_FILLS = frozenset({"http.response.start", "http.response.body", "websocket.send"})
"""Messages of an application that wait for room. The others are small, and end something."""


class Applications:
    """What daphne does for a connection, with an ``Inbox`` and with backpressure: mixed into its server."""

    connections: dict[Any, dict[str, Any]]
    application: Any

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # Whose application or whose connection is over.
        self._ended: set[Any] = set()

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Inbox | None:
        """Start the application for a connection; what goes to it is put into what this returns."""
        if protocol not in self.connections:
            return None
        # Of a request that has come as a whole, nothing more is read.
        inbox = Inbox()
        if scope["type"] == "websocket":
            inbox = Inbox(protocol.transport)
            scope["extensions"] = {at_once.EXTENSION: protocol.send_at_once}
        protocol.attach()
        scope.setdefault("asgi", {"version": "3.0"})
        running = self.application(scope=scope, receive=inbox.get, send=partial(self.handle_reply, protocol))
        instance = self.connections[protocol]["application_instance"] = asyncio.ensure_future(running)
        instance.add_done_callback(lambda _: self._ended.add(protocol))
        return inbox

    def protocol_disconnected(self, protocol: Any) -> None:
        """As daphne's."""
        super().protocol_disconnected(protocol)  # type: ignore[misc]
        self._ended.add(protocol)

    def application_checker(self) -> None:
        """Each second, as daphne's, of those alone of which something has ended: looking at ten thousand that are only
        open takes 30 ms."""
        known, ended, self._ended = self.connections, self._ended, set()
        looked_at = {one: known[one] for one in ended if one in known}
        left = self.connections = dict(looked_at)
        try:
            super().application_checker()  # type: ignore[misc]
        finally:
            self.connections = known
            # With those that have come meanwhile: the request behind one that has failed begins where that is answered.
            known |= left
            for gone in looked_at.keys() - left.keys():
                del known[gone]
            self._ended |= left.keys()

    async def handle_reply(self, protocol: Any, message: Any) -> None:
        """As daphne's, once there is room for it."""
        if protocol.is_behind and message["type"] in _FILLS:
            await protocol.room()
        await super().handle_reply(protocol, message)  # type: ignore[misc]

    def timeout_checker(self) -> None:
        """Every two seconds, as daphne's."""
        unread.check()
        super().timeout_checker()  # type: ignore[misc]

    def kill_all_applications(self) -> Deferred[Any]:
        """Before the reactor ends. Daphne's raises where a connection has no application: who waits for a turn has none
        yet."""
        known = [details.get("application_instance") for details in self.connections.values()]
        running = [application for application in known if application is not None]
        for application in running:
            application.cancel()
        return Deferred.fromFuture(asyncio.gather(*running, return_exceptions=True))
