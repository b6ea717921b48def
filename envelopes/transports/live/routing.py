"""The live channel's socket."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, cast

from django.urls import path

from envelopes.transports.live.door import LiveDoor
from envelopes.transports.live.transport import PATH


def _live(scope: Any, receive: Any, send: Any) -> Awaitable[None]:
    return LiveDoor(scope, receive, send).run()


sockets = [path(PATH, cast(Any, _live))]
