"""The time zone of whoever reads the desk: their browser names it in a cookie, and every time is told in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.decorators import sync_and_async_middleware

from envelopes.protocol.zones import known_zone

COOKIE = "beach_zone"
"""Set by ``static/client/zone.js``; holds an IANA name. It chooses how times are written and opens nothing."""
LONGEST = 64


def zone_named(request: HttpRequest) -> str:
    """The IANA name that the browser gave; empty where it gave none that this machine knows."""
    name = unquote(request.COOKIES.get(COOKIE, ""))
    return name if name and len(name) <= LONGEST and known_zone(name) else ""


def is_of_desk(path: str) -> bool:
    """Whether a page is one of the desk's."""
    try:
        return path.startswith(unquote(reverse("admin:index")))
    except NoReverseMatch:
        # A site may have no admin.
        return False


@sync_and_async_middleware
def reader_zone(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Middleware: pages of the desk are made in the reader's zone, which holds while their templates are rendered.

    Elsewhere a zone is that of a conversation, so nothing is touched there.
    """

    def zone(request: HttpRequest) -> str:
        return zone_named(request) if is_of_desk(request.path) else ""

    if iscoroutinefunction(get_response):

        async def later(request: HttpRequest) -> Any:
            name = zone(request)
            if not name:
                return await get_response(request)
            with timezone.override(name):
                return await get_response(request)

        return later

    def now(request: HttpRequest) -> Any:
        name = zone(request)
        if not name:
            return get_response(request)
        with timezone.override(name):
            return get_response(request)

    return now
