"""A reply that takes its reader long holds no connection to the database."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.db import close_old_connections

SOON_GONE = 65_536
"""A reply of so many bytes is sent at once, whoever reads it."""


def before_long_replies(app: Any) -> Any:
    """``app``, whose connection goes back before a reply is sent that is long, or of which nobody knows how long it
    gets. Django keeps it until the last of it is sent, and a few readers that are slow would have all that there are.
    By then everything has been looked up; what streams asks the database's own threads."""

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start" and _is_long(message):
                # In the thread of this request, which is the one that has it.
                await sync_to_async(close_old_connections)()
            await send(message)

        await app(scope, receive, sending)

    return serve


def _is_long(start: Any) -> bool:
    lengths = [int(value) for name, value in start["headers"] if name.lower() == b"content-length"]
    return not lengths or lengths[0] > SOON_GONE
