"""Files that are made while they are sent, for as long as whoever asked for one may have it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator

from asgiref.sync import sync_to_async
from django.http import HttpRequest, StreamingHttpResponse

from envelopes import access
from envelopes.access import Principal
from envelopes.errors import Forbidden

RECHECK_SECONDS = 30.0
"""How long whoever is being sent a file is believed to have the right to it."""

_clock = time.monotonic


def handed_out(
    request: HttpRequest, pieces: Iterator[str], may: Callable[[Principal], bool], name: str, kind: str
) -> StreamingHttpResponse:
    """``pieces`` as a download ``name`` of the type ``kind``. ``may``: whether somebody may have it. Once whoever asked
    may not any more, or is somebody else, the connection is cut: nobody takes what they have got for the whole."""
    response = StreamingHttpResponse(_sent(request, pieces, may), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "no-store"
    return response


async def _sent(
    request: HttpRequest, pieces: Iterator[str], may: Callable[[Principal], bool]
) -> AsyncIterator[str]:
    who, key = access.principal_of(request), request.session.session_key
    believed = _clock()

    def following() -> str | None:
        nonlocal believed
        if _clock() - believed >= RECHECK_SECONDS:
            now = access.principal_now(key, request.COOKIES.get(access.COOKIE))
            if now.key != who.key or not may(now):
                raise Forbidden("The right to this file ended while it was sent.")
            believed = _clock()
        return next(pieces, None)

    take = sync_to_async(following)
    while (piece := await take()) is not None:
        yield piece
