"""``/metrics``, for Prometheus: only for who brings the token of the setting, and not there without one."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from envelopes.conf import conf


def brings_token(authorization: str) -> bool:
    """Whether the header names the token of the setting."""
    token = conf.BEACH_METRICS_TOKEN
    kind, _, given = authorization.partition(" ")
    return bool(token) and kind.lower() == "bearer" and constant_time_compare(given.strip(), token)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """What this process has counted since it began (``envelopes.metrics``)."""
    if not conf.BEACH_METRICS_TOKEN:
        raise Http404
    if not brings_token(request.headers.get("Authorization", "")):
        return HttpResponse(
            "Bring the token.\n",
            status=401,
            headers={"WWW-Authenticate": "Bearer"},
            content_type="text/plain",
        )
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)
