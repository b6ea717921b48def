"""Static files: WhiteNoise made to fit an asynchronous server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise without its two costs under ASGI: a thread hop for every request, and a warning for every file.

    Files are read whole: they are the project's own and small, and the server would buffer them anyway.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if iscoroutinefunction(self):
            return self._answer(request)
        return self._static(request) or self.get_response(request)

    async def _answer(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(self.static_prefix):
            # Not thread-sensitive: a file must not wait behind a query.
            found = await sync_to_async(self._static, thread_sensitive=False)(request)
            if found is not None:
                return found
        return await self.get_response(request)  # type: ignore[no-any-return]

    def _static(self, request: HttpRequest) -> HttpResponse | None:
        path = request.path_info
        file = self.find_file(path) if self.autorefresh else self.files.get(path)
        return None if file is None else self.serve(file, request)

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        """The answer for one file, with exactly the headers that WhiteNoise chose."""
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file as file:
                body = file.read()
        response = HttpResponse(body, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response
