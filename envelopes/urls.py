"""The routes of all transports, and of what they share."""

from __future__ import annotations

from django.urls import path

from envelopes import artifacts
from envelopes.registries.transports import transports

app_name = "envelopes"

urlpatterns = [
    *(route for transport in transports for route in transport.routes()),
    path("artifacts/<str:artifact_id>", artifacts.download, name="artifact"),
]
