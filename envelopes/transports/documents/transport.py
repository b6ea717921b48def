"""The transport ``documents``: patch documents of surfaces, and the envelopes that they travel in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envelopes.registries.transports import Transport, transports

if TYPE_CHECKING:
    from django.urls import URLPattern


def _routes() -> Sequence[URLPattern]:
    from django.urls import path

    from envelopes.transports.documents.schemas import published

    return [
        path("schemas/", published, name="schemas"),
        path("schemas/<str:name>", published, name="schema"),
    ]


DOCUMENTS = transports.register(Transport("documents", "streaming", routes=_routes))
