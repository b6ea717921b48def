"""What is answered to a request that cannot be read, may not be made, or is for nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from envelopes.desk.refused import refused
from envelopes.transports.api import no_such_address

_Page: TypeAlias = Callable[[HttpRequest, Exception], HttpResponse]


def _letting_go(page: _Page) -> _Page:
    """Under ASGI Django draws these pages in a thread of the event loop's and not of the request's, which closes its
    connections with the request: one that is opened here would be kept for as long as the process lives."""

    @wraps(page)
    def drawn(request: HttpRequest, exception: Exception) -> HttpResponse:
        # Elsewhere the request has its own by now, and may be inside of a transaction.
        there = [known for known in connections.all(initialized_only=True) if known.connection is not None]
        try:
            return page(request, exception)
        finally:
            for known in connections.all(initialized_only=True):
                if known not in there:
                    known.close()

    return drawn


@_letting_go
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of status 400. It looks at nothing that was sent but cookies."""
    return render(request, "400.html", status=400)


@_letting_go
def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of status 403: of the desk, within its frame."""
    return refused(request, 403) or defaults.permission_denied(request, exception)


@_letting_go
def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of status 404: of the desk, within its frame. Programs at the API's doors read no pages."""
    return no_such_address(request) or refused(request, 404) or defaults.page_not_found(request, exception)
