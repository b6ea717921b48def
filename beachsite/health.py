"""The two questions a supervisor asks: does the process answer, and may it have traffic."""

from __future__ import annotations

import logging

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from envelopes.runtime.process import stopping

logger = logging.getLogger(__name__)


@require_safe
async def healthz(request: HttpRequest) -> JsonResponse:
    """The process is alive. Touches nothing else, so that a slow database never gets a healthy process killed."""
    return JsonResponse({"status": "ok"})


@require_safe
async def readyz(request: HttpRequest) -> JsonResponse:
    """The database answers, its tables fit this code, and the process was not asked to end."""
    if stopping():
        return JsonResponse({"status": "unready", "problem": "the process is stopping"}, status=503)
    problem = await sync_to_async(_problem)()
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
