"""The product's pages, and a door for the bench: ``POST /bench/`` takes an order for jobs and answers counters."""

from __future__ import annotations

import json

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from beachsite import urls as product
from tests.bench.serving.app.counting import counted
from tests.bench.serving.app.jobs import jobs


@csrf_exempt
@require_POST
def door(request: HttpRequest) -> JsonResponse:
    """``{sessions, hz, seconds}`` in the body is an order (`jobs.Jobs.order`); without a body nothing is set off."""
    if request.body:
        jobs.order(**json.loads(request.body))
    told = {"waiting": jobs.waiting(), "emitted": jobs.emitted, "refused": jobs.refused}
    return JsonResponse({**told, "database": counted()})


urlpatterns = [path("bench/", door), *product.urlpatterns]
