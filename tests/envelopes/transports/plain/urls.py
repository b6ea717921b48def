"""The addresses of the door, beside those of all transports."""

from __future__ import annotations

from django.urls import include, path

from tests.envelopes.transports.plain.transport import PLAIN

urlpatterns = [*PLAIN.routes(), path("", include("envelopes.urls"))]
