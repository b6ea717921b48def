"""The time zone of whoever reads the desk: their browser names it in a cookie, and every time is told in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import unquote

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from envelopes.protocol.zones import known_zone

COOKIE = "beach_zone"
"""Set by ``static/client/desk.js``; holds an IANA name. It chooses how times are written and opens nothing."""
LONGEST = 64


def zone_named(request: HttpRequest) -> str:
    """The IANA name that the browser gave; empty where it gave none that this machine knows."""
    name = unquote(request.COOKIES.get(COOKIE, ""))
    return name if name and len(name) <= LONGEST and known_zone(name) else ""


class ReaderZone:
    """Middleware: pages of the desk are made in the reader's zone, which holds while their templates are rendered.

    Elsewhere a zone is that of a conversation, so nothing is touched there.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse | Awaitable[HttpResponse]]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        name = zone_named(request) if request.path.startswith(reverse("admin:index")) else ""
        if not name:
            return self.get_response(request)
        if iscoroutinefunction(self):
            return self._later(request, name)
        with timezone.override(name):
            return self.get_response(request)

    async def _later(self, request: HttpRequest, name: str) -> HttpResponse:
        with timezone.override(name):
            return await self.get_response(request)  # type: ignore[misc]  # as the check above has found
