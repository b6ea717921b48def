"""Beach in a project's ``asgi.py``: sockets, and the work that goes on beside requests.

In place of Django's own::

    from envelopes.asgi import get_asgi_application

    application = get_asgi_application()

A project whose application is made of several wraps it: ``application = wrap(ProtocolTypeRouter(...))``.
"""

from __future__ import annotations

from typing import Any

from django.core import asgi


def get_asgi_application() -> Beach:
    """Django's application with Beach in front of it. Sets Django up."""
    return wrap(asgi.get_asgi_application())


def wrap(application: Any, *, sockets: Any = None) -> Beach:
    """``application``, an ASGI application, with Beach in front of it; Django has to be set up by now.

    Beach takes the sockets below the prefix of ``envelopes.urls``, and the lifespan protocol. ``sockets`` is the
    application for all others; without it they are told that there is nothing. Starts nothing by itself: the work of
    the process begins with its server, or with the first request. Under daphne what its readers do not take is held
    back, and garbage is collected less often (docs/architecture.md, "Between processes").

    Raises ``ImproperlyConfigured`` where ``envelopes.urls`` is included nowhere.
    """
    return Beach(application, sockets)


class Beach:
    """The ASGI application."""

    def __init__(self, application: Any, sockets: Any = None) -> None:
        # All of these import models, which needs Django to be set up.
        from envelopes.serving import allocator, background, collector, letting_go
        from envelopes.transports import routing
        from envelopes.transports.leaving import Leaving
        from envelopes.transports.origin import OriginGate

        allocator.share()
        self._http = background.starting(letting_go.before_long_replies(application))
        # Who sits at a socket is asked again for each frame (transports/panel/identity.py): no session middleware here.
        self._ours = OriginGate(Leaving(routing.sockets))
        self._others = sockets
        self._lifespan = background.lifespan
        self._is_ours = routing.is_ours
        background.follow_daphne()
        routing.prepare()
        collector.settle()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        application = {"http": self._http, "websocket": self._ours, "lifespan": self._lifespan}.get(
            scope["type"]
        )
        if application is None:
            raise ValueError(f"There is no application for {scope['type']!r}.")
        if scope["type"] == "websocket" and self._others is not None and not self._is_ours(scope):
            application = self._others
        await application(scope, receive, send)
