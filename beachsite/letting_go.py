"""A reply that takes its reader long holds no connection to the database."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.db import close_old_connections


def before_long_replies(app: Any) -> Any:
    """``app``, whose connection goes back before a reply of several pieces is sent. Django keeps it until the last one
    is, and a few readers that are slow would have all that there are. By then everything has been looked up; what
    streams asks the database's own threads."""

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        is_held = True

        async def sending(message: Any) -> None:
            nonlocal is_held
            if is_held and message.get("more_body"):
                is_held = False
                # In the thread of this request, which is the one that has it.
                await sync_to_async(close_old_connections)()
            await send(message)

        await app(scope, receive, sending)

    return serve
