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
    """PostgreSQL takes no text with NUL: whatever looks for what a query says, as the lists of the admin do, would end
    in an error of the database. Of paths, views say that there is nothing there."""

    def check(request: HttpRequest) -> None:
        if "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("NUL in a query.")

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
