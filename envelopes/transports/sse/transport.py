"""The transport ``sse``: streaming, to programs and to pages that are not ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envelopes.registries.transports import Presenter, SessionFacts, Transport, transports
from envelopes.types import Json

if TYPE_CHECKING:
    from ninja import Router


def _presenter(facts: SessionFacts, snapshot: Json | None) -> Presenter:
    from envelopes.transports.sse.presenter import Events

    return Events.of(facts, snapshot)


def _api() -> Router:
    from envelopes.transports.sse.api import router

    return router


SSE = transports.register(
    Transport(
        "sse",
        "streaming",
        presenter=_presenter,
        snapshot_version=2,
        api=_api,
        capabilities=frozenset({"surfaces"}),
    )
)
