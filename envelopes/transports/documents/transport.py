"""The transport ``documents``: patch documents of surfaces, and the envelopes that they travel in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envelopes.registries.transports import Presenter, SessionFacts, Transport, transports
from envelopes.types import Json

if TYPE_CHECKING:
    from django.urls import URLPattern
    from ninja import Router


def _presenter(facts: SessionFacts, snapshot: Json | None) -> Presenter:
    from envelopes.transports.documents.presenter import Documents

    return Documents.of(facts, snapshot)


def _routes() -> Sequence[URLPattern]:
    from django.urls import path

    from envelopes.transports.documents.schemas import published

    return [
        path("schemas/", published, name="schemas"),
        path("schemas/<str:name>", published, name="schema"),
    ]


def _api() -> Router:
    from envelopes.transports.documents.api import router

    return router


DOCUMENTS = transports.register(
    Transport(
        "documents",
        "streaming",
        presenter=_presenter,
        routes=_routes,
        api=_api,
        capabilities=frozenset({"surfaces"}),
    )
)
