"""Calls of agents' functions by surfaces, as long as they wait for an answer. What came of them stands in the log."""

from __future__ import annotations

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from envelopes.admin.base import HistoryAdmin
from envelopes.admin.display import link
from envelopes.desk.times import due
from envelopes.markup.html import reveal
from envelopes.models import AgentCall, Session
from envelopes.registries.actors import agent_name

LISTED = 20
"""So many calls stand on the page of their conversation; all of them are in the list."""


@admin.register(AgentCall)
class AgentCallAdmin(HistoryAdmin[AgentCall]):
    """Those that wait the longest first: the next to be given up."""

    list_display = ["function", "conversation", "agent", "answered_by", "attempt", "gives_up"]
    list_select_related = ["session"]
    ordering = ["deadline", "pk"]
    sortable_by = ["function", "gives_up"]
    search_fields = ["^name", "^call_id"]
    search_help_text = "Search function or call ID"
    json_fields = ["args", "originators"]
    extra_fields = ["answered_by"]

    @admin.display(description="function", ordering="name")
    def function(self, call: AgentCall) -> SafeString:
        return reveal(call.name)

    @admin.display(description="conversation")
    def conversation(self, call: AgentCall) -> SafeString:
        return link(call.session, str(call.session))

    @admin.display(description="agent")
    def agent(self, call: AgentCall) -> SafeString:
        return reveal(agent_name(call.owner))

    @admin.display(description="answered by")
    def answered_by(self, call: AgentCall) -> str:
        return _who(call)

    @admin.display(description="gives up", ordering="deadline")
    def gives_up(self, call: AgentCall) -> SafeString:
        return due(call.deadline)


def _who(call: AgentCall) -> str:
    if not call.by_tool:
        return _("the agent, in a turn")
    return _("a tool, at work") if call.lease_owner else _("a tool")


def waiting(session: Session) -> SafeString:
    """The calls of a conversation that wait for an answer, one a line; empty where none does."""
    found = list(session.agent_calls.order_by("deadline", "pk")[: LISTED + 1])
    lines = format_html_join(
        SafeString("<br>"),
        "<code>{}</code> ({}): {}, {}",
        (
            (reveal(call.name), reveal(call.call_id), _who(call), due(call.deadline))
            for call in found[:LISTED]
        ),
    )
    if len(found) > LISTED:
        return format_html("{}<br>{}", lines, _("and more; see the list of agent calls"))
    return lines
