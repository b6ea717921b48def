"""The transport ``live``: streaming, to programs and front ends that draw themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envelopes.log.numbering import count_with
from envelopes.registries.transports import Presenter, SessionFacts, Transport, transports
from envelopes.transports.live import checks  # noqa: F401  (registers the check)
from envelopes.transports.live.presenter.deliveries import NAME, deliveries
from envelopes.turns.channels import check_with
from envelopes.types import Json, JsonObject

if TYPE_CHECKING:
    from ninja import Router

    from envelopes.models import Session


def _presenter(facts: SessionFacts, snapshot: Json | None) -> Presenter:
    from envelopes.transports.live.presenter.envelopes import Envelopes

    return Envelopes.of(facts, snapshot)


def _sockets() -> Sequence[Any]:
    from envelopes.transports.live.routing import sockets

    return sockets


def _api() -> Router:
    from envelopes.transports.live.api import router

    return router


PATH = "ws/live/"

LIVE = transports.register(
    Transport(
        NAME,
        "streaming",
        presenter=_presenter,
        snapshot_version=2,
        sockets=_sockets,
        api=_api,
        address=PATH,
        capabilities=frozenset({"surfaces", "previews"}),
    )
)

count_with(NAME, deliveries)


def _check(session: Session, channel: str, data: Json, complete: bool) -> JsonObject:
    from envelopes.transports.live.stored import delivery

    return delivery(session, channel, data, complete)


check_with(_check)
