"""The two questions a supervisor asks: does the process answer, and may it have traffic."""

from __future__ import annotations

import logging
from typing import Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from envelopes.runtime.process import stopping
from envelopes.runtime.tool_threads import tool_threads

logger = logging.getLogger(__name__)


_ALIVE = b'{"status": "ok"}'


@require_safe
async def healthz(request: HttpRequest) -> HttpResponse:
    """The process is alive. Touches nothing else, so that a slow database never gets a healthy process killed."""
    return HttpResponse(_ALIVE, content_type="application/json")


def answering(app: Any) -> Any:
    """``app``, with ``healthz`` answered before it, whatever host was asked for: middleware goes through threads, and
    where a thousand pages come back at once, each way there and back waits for many of them."""

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] != "/healthz" or scope["method"] not in ("GET", "HEAD"):
            await app(scope, receive, send)
            return
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(_ALIVE)),
            (b"x-content-type-options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else _ALIVE})

    return serve


@require_safe
async def readyz(request: HttpRequest) -> JsonResponse:
    """The database answers, its tables fit this code, tools can run, and the process was not asked to end."""
    if stopping():
        return JsonResponse({"status": "unready", "problem": "the process is stopping"}, status=503)
    problem = await sync_to_async(_problem)()
    if not problem and tool_threads.is_exhausted:
        problem = "every thread for tools is held by a call that does not end"
    if problem:
        return JsonResponse({"status": "unready", "problem": problem}, status=503)
    return JsonResponse({"status": "ready"})


def _problem() -> str:
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        # The reason may name hosts and users; it belongs in the log, not in a public answer.
        logger.exception("The readiness check could not reach the database.")
        return "the database does not answer"
    return f"{len(pending)} migrations are not applied" if pending else ""
