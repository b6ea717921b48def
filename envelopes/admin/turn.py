"""Turns: where they stand, what the model was told, and the envelope that they left."""

from __future__ import annotations

from django.contrib import admin
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from envelopes.admin.base import HistoryAdmin, StateFilter
from envelopes.admin.display import DASH, folded, length, link, turn_mark
from envelopes.delivery.envelope import envelope_for
from envelopes.delivery.rules import Reader
from envelopes.errors import BeachError
from envelopes.models import Turn
from envelopes.registries.part_types import part_types
from envelopes.registries.statuses import TURN


def _taking_all() -> Reader:
    """A peer that takes everything there is for peers; what is kept for audit stands in the timeline."""
    return Reader("peer", consumes=frozenset(part_types.names()), surfaces=True)


class StatusFilter(StateFilter):
    parameter_name = "status"
    states = TURN.states


@admin.register(Turn)
class TurnAdmin(HistoryAdmin[Turn]):
    """Newest first: the order in which they began."""

    list_display = ["named", "conversation", "actor", "state", "finalized_by", "attempt", "steps", "lasted"]
    list_filter = [StatusFilter]
    list_select_related = ["session"]
    ordering = ["-pk"]
    sortable_by = ["state"]
    search_fields = ["^public_id"]
    search_help_text = "Search by ID"
    json_fields = ["trigger", "messages", "results", "live"]
    extra_fields = ["lasted", "envelope"]

    @admin.display(description="turn")
    def named(self, turn: Turn) -> str:
        return _("Turn {}").format(turn.number)

    @admin.display(description="conversation")
    def conversation(self, turn: Turn) -> SafeString:
        return link(turn.session, str(turn.session))

    @admin.display(description="status", ordering="status")
    def state(self, turn: Turn) -> SafeString:
        return turn_mark(turn.status, turn.turn_state, turn.finalized_by)

    @admin.display(description="duration")
    def lasted(self, turn: Turn) -> str:
        """From its beginning to its end, waiting for people included; so far, while it is open."""
        span = (turn.settled_at or timezone.now()) - turn.created_at
        return length(span) if turn.settled_at else _("{} so far").format(length(span))

    @admin.display(description="envelope")
    def envelope(self, turn: Turn) -> SafeString | str:
        if turn.status != "settled":
            return f"{DASH} {_('available once the turn has ended')}"
        try:
            return folded(envelope_for(turn, _taking_all()))
        except BeachError as error:
            return f"{DASH} {error.message}"
