"""The transport ``http``: buffered, so what it delivers is the envelope of a settled turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from envelopes.registries.doors import Door, doors
from envelopes.registries.transports import Presenter, SessionFacts, Transport, transports
from envelopes.types import Json

if TYPE_CHECKING:
    from ninja import Router

DOOR = doors.register(Door("http", _("over HTTP")))
"""Where somebody decides who sends an answer to an approval."""


def _presenter(facts: SessionFacts, snapshot: Json | None) -> Presenter:
    from envelopes.transports.http.presenter import Standing

    return Standing()


def _api() -> Router:
    from envelopes.transports.http.api import router
    from envelopes.transports.http.files import router as files

    router.add_router("", files)
    return router


HTTP = transports.register(Transport("http", "buffered", presenter=_presenter, api=_api))
