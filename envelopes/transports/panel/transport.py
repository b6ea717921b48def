"""The panel: the chat in a browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envelopes.registries.transports import Presenter, SessionFacts, Transport, transports
from envelopes.transports.panel import checks  # noqa: F401  (registers the checks)
from envelopes.transports.panel.reader import CAPABILITIES, CONNECTION
from envelopes.types import Json


def _presenter(facts: SessionFacts, snapshot: Json | None) -> Presenter:
    from envelopes.transports.panel.presenter.panel import PanelPresenter

    return PanelPresenter.of(facts, snapshot)


def _routes() -> Sequence[Any]:
    from envelopes.transports.panel.urls import urlpatterns

    return urlpatterns


def _sockets() -> Sequence[Any]:
    from envelopes.transports.panel.routing import sockets

    return sockets


SOCKETS = "ws/chat/"
"""Below which each conversation has a socket."""

PANEL = transports.register(
    Transport(
        CONNECTION.name,
        CONNECTION.kind,
        presenter=_presenter,
        snapshot_version=6,
        routes=_routes,
        sockets=_sockets,
        capabilities=CAPABILITIES,
    )
)
