"""What is answered to a request that cannot be read."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of status 400. It looks at nothing that was sent but cookies."""
    return render(request, "400.html", status=400)
