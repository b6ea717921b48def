"""Static files: WhiteNoise made to fit an asynchronous server."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from whitenoise.compress import Compressor
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

    def get_static_file(self, path: str, url: str, stat_cache: Any = None) -> Any:
        """As WhiteNoise's. What is looked up file by file was never collected, hence not compressed: a copy is."""
        return super().get_static_file(compressed(path) if self.autorefresh else path, url, stat_cache)

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


def compressed(path: str) -> str:
    """A copy of this file with its compressed forms beside it, under ``BEACH_DATA``; the path itself for no file.

    What was made once is kept; a file that has changed since gets another copy.
    """
    if not Path(path).is_file():
        return path
    stat = Path(path).stat()
    digest = hashlib.sha256(f"{stat.st_mtime_ns} {stat.st_size} {path}".encode()).hexdigest()[:16]
    folder: Path = settings.BEACH_DATA / "compressed" / digest
    copy = folder / Path(path).name
    if not copy.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Another process may be at it too: each writes into a folder of its own, and the first one's stays.
        with TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as draft:
            made = Path(draft, digest, copy.name)
            made.parent.mkdir()
            shutil.copy2(path, made)
            compressor = Compressor(quiet=True)
            if compressor.should_compress(made.name):
                compressor.compress(str(made))
            try:
                made.parent.rename(folder)
            except OSError:
                if not copy.exists():
                    raise
    return str(copy)
