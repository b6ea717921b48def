"""The runtime's background work starts and stops with the server, whichever server that is.

A server that speaks the lifespan protocol says when. Daphne does not, so its event loop is asked directly; and if
neither happened, the first request starts the work, so that a server nobody thought of still finishes its turns.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
from typing import Any

from envelopes.runtime.ending import end_in_time
from envelopes.runtime.process import begin_stopping, ensure_started, shut_down
from envelopes.serving import collector
from envelopes.serving.gathering import gather


def start() -> None:
    """Everything that goes on beside what is asked for; once, however often it is called."""
    ensure_started()
    collector.attend()


def starting(app: Any) -> Any:
    """`app`, which makes sure of the background work before it answers."""

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        start()
        await app(scope, receive, send)

    return serve


async def lifespan(_scope: Any, receive: Any, send: Any) -> None:
    """The lifespan protocol: start with the server, and hand leases back before it ends."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            start()
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            begin_stopping()
            await shut_down()
            await send({"type": "lifespan.shutdown.complete"})
            return


def follow_daphne() -> None:
    """Have daphne's loop start the work as soon as it runs, and wait for its end before the process ends.

    Otherwise a turn that a crash has cut would lie until the first visitor came. In a process of another server this
    does nothing: daphne is there before the application that it is to serve.
    """
    if "daphne.server" not in sys.modules:
        return
    from daphne import server
    from daphne.server import twisted_loop
    from twisted.internet import reactor
    from twisted.internet.defer import Deferred

    from envelopes.serving.daphne_sockets import Factory, Requests

    # Read when a server is made, whoever makes it: daphne's command has no way to hand one over.
    server.WebSocketFactory = Factory
    server.HTTPFactory = Requests

    # Of the import, where no database thread has left its mark: the reactor calls back in the context of whoever set
    # it off.
    context = contextvars.copy_context()

    def end() -> Any:
        # Before daphne's own trigger: it cancels what sockets and requests do, and they have to be told why.
        end_in_time()
        begin_stopping()
        return Deferred.fromFuture(asyncio.ensure_future(shut_down(), loop=twisted_loop))

    gather(twisted_loop)
    twisted_loop.call_soon(start)
    system: Any = reactor
    system.addSystemEventTrigger("before", "shutdown", context.run, end)
