"""What is answered to a request that cannot be read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.decorators import sync_and_async_middleware


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of status 400. It looks at nothing that was sent but cookies."""
    return render(request, "400.html", status=400)


@sync_and_async_middleware
def refuse_nul(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """An address with NUL in it is none of ours, and PostgreSQL takes no text with one: whatever looks for what such an
    address names, as the lists of the admin do, would end in an error of the database."""

    def check(request: HttpRequest) -> None:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("NUL in an address.")

    if iscoroutinefunction(get_response):

        async def later(request: HttpRequest) -> HttpResponse:
            check(request)
            answer: Awaitable[HttpResponse] = get_response(request)
            return await answer

        return later

    def now(request: HttpRequest) -> HttpResponse:
        check(request)
        response: HttpResponse = get_response(request)
        return response

    return now
