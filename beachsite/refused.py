"""What is answered to a request that cannot be read, may not be made, or is for nothing."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from envelopes.desk.refused import refused


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of status 400. It looks at nothing that was sent but cookies."""
    return render(request, "400.html", status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of status 403: of the desk, within its frame."""
    return refused(request, 403) or defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of status 404: of the desk, within its frame."""
    return refused(request, 404) or defaults.page_not_found(request, exception)
