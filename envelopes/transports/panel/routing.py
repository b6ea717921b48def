"""The panel's sockets."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, cast

from django.urls import path

from envelopes.transports.panel.consumer import PanelConsumer
from envelopes.transports.panel.transport import SOCKETS


def _panel(scope: Any, receive: Any, send: Any) -> Awaitable[None]:
    return PanelConsumer()(scope, receive, send)


sockets = [path(f"{SOCKETS}<str:public_id>/", cast(Any, _panel))]
