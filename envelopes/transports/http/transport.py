"""The transport ``http``: buffered, so what it delivers is the envelope of a settled turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from a2ui import SurfaceChange
from envelopes.protocol.rows import Row
from envelopes.registries.doors import Door, doors
from envelopes.registries.transports import SessionFacts, Transport, transports
from envelopes.types import Json

if TYPE_CHECKING:
    from ninja import Router

DOOR = doors.register(Door("http", _("over HTTP")))
"""Where somebody decides who sends an answer to an approval."""


class Standing:
    """Of each row that changes where a turn stands, that it does."""

    busy = False

    def apply(self, row: Row, changes: Sequence[SurfaceChange], prev: int) -> str | None:
        return row.kind if row.kind in ("turn", "settled") else None

    def place(self, turn: int) -> None:
        return None

    def snapshot(self) -> Json:
        return None


def _presenter(facts: SessionFacts, snapshot: Json | None) -> Standing:
    return Standing()


def _api() -> Router:
    from envelopes.transports.http.api import router

    return router


HTTP = transports.register(Transport("http", "buffered", presenter=_presenter, api=_api))
