"""The routes of all transports, and of what they share."""

from __future__ import annotations

from django.urls import path

from envelopes.artifacts.serving import download
from envelopes.registries.transports import transports
from envelopes.transports.agent_card import agent_card
from envelopes.transports.api import addresses, make_api, openapi
from envelopes.transports.catalog_documents import routes as catalog_routes
from envelopes.transports.signing_in import routes as login_routes

app_name = "envelopes"

api = make_api(transport.api() for transport in transports if transport.api is not None)

urlpatterns = [
    *(route for transport in transports for route in transport.routes()),
    path("artifacts/<str:artifact_id>", download, name="artifact"),
    *login_routes,
    path(".well-known/agent-card.json", agent_card, name="agent-card"),
    *catalog_routes(),
    path("api/openapi.json", openapi, {"api": api}, name="openapi"),
    path("api/", (addresses(api), "ninja", "api")),
]
