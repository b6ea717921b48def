"""The transport ``documents``: patch documents of surfaces, and the envelopes that they travel in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envelopes.registries.transports import (
    Background,
    Command,
    Presenter,
    SessionFacts,
    Transport,
    transports,
)
from envelopes.transports.documents import governance  # noqa: F401  (registers its gate and its surface)
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


def _background() -> Background:
    from envelopes.transports.documents.background import Both

    return Both()


def _commands() -> Sequence[Command]:
    from envelopes.transports.documents.commands import WebhookCommand

    return [WebhookCommand()]


def _admin() -> None:
    from envelopes.transports.documents.admin import register

    register()


DOCUMENTS = transports.register(
    Transport(
        "documents",
        "streaming",
        presenter=_presenter,
        routes=_routes,
        api=_api,
        capabilities=frozenset({"surfaces"}),
        background=_background,
        commands=_commands,
        admin=_admin,
    )
)
