"""Who may use the gallery, how often, and how many at once."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse

from a2ui.errors import A2uiError
from a2ui.gallery.conf import conf

P = ParamSpec("P")
T = TypeVar("T")

SECONDS = 10
REQUESTS = 100
"""Requests of one person in that time: several times of what typing and clicking makes."""
WAITING = 8
"""Replays that have, or wait for, the thread."""

# A thread of its own: a slow program must hold up neither the pages of the chat nor its static files. Not two: under
# the lock of the interpreter they would be no faster, and the chat would wait several times longer for its turn.
_thread = ThreadPoolExecutor(1, thread_name_prefix="gallery")
_inside = threading.BoundedSemaphore(WAITING)


class TooMuch(A2uiError):
    """That was too much at once."""

    default_code = "too_fast"
    default_fault = "client"


async def may_open(request: HttpRequest) -> bool:
    """The one rule: whoever works here, and everyone where `BEACH_GALLERY` is on."""
    if conf.is_open:
        return True
    user = await request.auser()
    return bool(user.is_active and user.is_staff)


def guarded(view: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """404 for anyone without access."""

    @wraps(view)
    async def wrapped(request: HttpRequest) -> HttpResponse:
        if not await may_open(request):
            raise Http404("There is no gallery here.")
        answer: HttpResponse = await view(request)
        return answer

    return wrapped


async def counted(request: HttpRequest) -> None:
    """Raises TooMuch for a person, or an address, that asks more often than anyone can type."""
    user = await request.auser()
    who = user.pk if user.is_authenticated else request.META.get("REMOTE_ADDR", "")
    key = f"a2ui.gallery:{who}:{int(time.time() // SECONDS)}"
    if await cache.aadd(key, 1, SECONDS * 2):
        return
    try:
        count = await cache.aincr(key)
    except ValueError:
        # It was thrown out between the two: whoever comes next counts from the beginning.
        return
    if count > REQUESTS:
        raise TooMuch(f"At most {REQUESTS} requests in {SECONDS} seconds. Wait a moment and go on.")


async def aside(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of `work`, done in the thread of the gallery. Raises TooMuch if too many wait for one."""
    if not _inside.acquire(blocking=False):
        raise TooMuch("Too many programs are running. Wait a moment and go on.", code="busy")
    try:
        # The language of the request is a context variable.
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(
            _thread, lambda: context.run(work, *args, **kwargs)
        )
    finally:
        _inside.release()
