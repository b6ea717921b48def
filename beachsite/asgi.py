"""The ASGI entry point: HTTP through Django, sockets through Channels behind the origin gate."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "beachsite.settings.local")
# Sets Django up: nothing that imports a model may stand above this line.
django = get_asgi_application()

from channels.routing import ProtocolTypeRouter  # noqa: E402

from beachsite import background, collector, health, letting_go  # noqa: E402
from envelopes.transports.leaving import Leaving  # noqa: E402
from envelopes.transports.origin import OriginGate  # noqa: E402
from envelopes.transports.routing import prepare, sockets  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": background.starting(health.answering(letting_go.before_long_replies(django))),
        # Who sits at a socket is asked again for each frame (transports/panel/identity.py): no session middleware here.
        "websocket": OriginGate(Leaving(sockets)),
        "lifespan": background.lifespan,
    }
)
background.follow_daphne()
prepare()
collector.settle()
