"""Answers, which the code calls turns: where they stand, what the model was told, and the envelope that they left."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.contrib import admin
from django.db.models import Field, Model
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from envelopes.admin.base import StateFilter
from envelopes.admin.display import DASH, folded, link, shown_field, state_words, turn_mark
from envelopes.admin.newest import NewestFirstAdmin
from envelopes.delivery.envelope import envelope_for
from envelopes.delivery.rules import Reader
from envelopes.desk.times import length, moment
from envelopes.errors import BeachError
from envelopes.markup.html import reveal
from envelopes.models import Turn
from envelopes.part_types import reasoning_trace
from envelopes.providers.transcript import without_thinking
from envelopes.registries.actors import agent_name
from envelopes.registries.part_types import part_types
from envelopes.registries.statuses import TURN


def _taking_all() -> Reader:
    """A peer that takes everything there is for peers; what is kept for audit stands in the timeline."""
    return Reader("peer", consumes=frozenset(part_types.names()), surfaces=True)


MOMENTS = ("deadline", "due_at")


def _moment_field(name: str) -> Callable[[Model], SafeString | str]:
    def show(turn: Model) -> SafeString | str:
        at = getattr(turn, name)
        return DASH if at is None else moment(datetime.fromtimestamp(at, UTC))

    return shown_field(show, name)


def _state_field(name: str) -> Any:
    return shown_field(lambda turn: reveal(state_words(str(getattr(turn, name)))) or DASH, name)


def _agent(turn: Turn) -> SafeString:
    return reveal(agent_name(turn.actor))


def _status(turn: Turn) -> SafeString:
    return turn_mark(turn.status, turn.turn_state, turn.finalized_by)


_AS_LISTED: dict[str, Callable[[Any], SafeString]] = {"actor": _agent, "status": _status}
"""Fields that the page of one answer shows as the list of all does."""


class StatusFilter(StateFilter):
    parameter_name = "status"
    states = TURN.states


@admin.register(Turn)
class TurnAdmin(NewestFirstAdmin[Turn]):
    """Newest first: the order in which they began."""

    list_display = ["named", "conversation", "agent", "state", "attempt", "steps", "lasted", "began"]
    list_filter = [StatusFilter]
    list_select_related = ["session"]
    search_fields = ["public_id__startswith"]
    search_help_text = "Search by ID"
    json_fields = ["trigger", "messages", "results", "live"]
    extra_fields = ["lasted", "envelope"]
    runtime_fields = [
        "public_id", "originators", "trigger_seq", "told_from", "corrections", "nudges", "steps", "correction",
        "cancel_requested", "attempt", "recoveries", "lease_owner", "lease_until", "joined", "seconds_left", "deadline",
        "due_at",
    ]  # fmt: skip

    def _shown(self, request: HttpRequest, field: Field[Any, Any]) -> Any:
        """Its clock as people write it, not in seconds since 1970; its states in their words."""
        if field.name in _AS_LISTED:
            return shown_field(_AS_LISTED[field.name], field.name)
        if field.name in ("turn_state", "finalized_by"):
            return _state_field(field.name)
        return _moment_field(field.name) if field.name in MOMENTS else super()._shown(request, field)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Turn | None:
        """Without what its model thought, unless that is for staff (``BEACH_REASONING``)."""
        turn = super().get_object(request, object_id, from_field)
        if turn is not None and not reasoning_trace.is_for_staff():
            turn.messages = without_thinking(turn.messages)
        return turn

    @admin.display(description="answer")
    def named(self, turn: Turn) -> str:
        # On one line, however little room the list has.
        return _("Answer {}").format(turn.number).replace(" ", "\N{NO-BREAK SPACE}")

    @admin.display(description="conversation")
    def conversation(self, turn: Turn) -> SafeString:
        return link(turn.session, str(turn.session))

    @admin.display(description="agent")
    def agent(self, turn: Turn) -> SafeString:
        return _agent(turn)

    @admin.display(description="status")
    def state(self, turn: Turn) -> SafeString:
        return _status(turn)

    @admin.display(description="began")
    def began(self, turn: Turn) -> SafeString:
        return moment(turn.created_at)

    @admin.display(description="duration")
    def lasted(self, turn: Turn) -> str:
        """From its beginning to its end, waiting for people included; so far, while it is open."""
        span = (turn.settled_at or timezone.now()) - turn.created_at
        return length(span) if turn.settled_at else _("{} so far").format(length(span))

    @admin.display(description="envelope")
    def envelope(self, turn: Turn) -> SafeString | str:
        if turn.status != "settled":
            return f"{DASH} {_('available once the answer has ended')}"
        try:
            return folded(envelope_for(turn, _taking_all()))
        except BeachError as error:
            return f"{DASH} {error.message}"
