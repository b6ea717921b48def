"""A bare Channels consumer, for floors: sends frames at a pace, answers pings, takes connections, knows nothing."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import django
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path

settings.configure(
    SECRET_KEY="bench" * 12,
    ALLOWED_HOSTS=["127.0.0.1"],
    INSTALLED_APPS=["channels"],
    ROOT_URLCONF=__name__,
    CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}},
)
django.setup()

from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402

PAD = "x" * 150
"""Makes a frame as long as that of an update: 236 bytes."""


def healthz(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


class Bare(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """One connection."""

    _task: asyncio.Task[None] | None = None

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        frame = json.loads(text_data or "{}")
        match frame["type"]:
            case "hello":
                await self.send('{"type":"welcome"}')
            case "ping":
                await self.send('{"type":"pong"}')
            case "go":
                self._task = asyncio.create_task(self._pump(frame["hz"], frame["seconds"], frame["wait"]))

    async def _pump(self, hz: float, seconds: float, wait: float) -> None:
        began = time.monotonic() + wait
        for number in range(round(hz * seconds)):
            due = began + number / hz
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            stamp = f"@{int(due * 1e9)}@{time.monotonic_ns()}@"
            await self.send(f'{{"seq":{number},"ops":[["t","a1-value","{stamp}"]],"pad":"{PAD}"}}')

    async def disconnect(self, code: Any) -> None:
        if self._task:
            self._task.cancel()


urlpatterns = [path("healthz", healthz)]
sockets = URLRouter([path("ws/chat/<str:name>/", Bare.as_asgi())])
application = ProtocolTypeRouter({"http": get_asgi_application(), "websocket": sockets})
