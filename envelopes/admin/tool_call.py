"""Actions, which the code calls tool calls: what ran and what came of it.

Staff say here how a call ended whose outcome nobody knew (D19).
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Field, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from envelopes.access import principal_of
from envelopes.admin.approval_state import decider_of, mark_of
from envelopes.admin.base import StateFilter, is_changelist
from envelopes.admin.display import DASH, change_url, link, state_mark
from envelopes.admin.newest import NewestFirstAdmin
from envelopes.admin.tool_shown import show_args, show_error, show_tool
from envelopes.admin.tool_tries import show_tries, tagged
from envelopes.approvals.resolve import NOTE_CHARACTERS, OUTCOMES, resolve
from envelopes.desk.times import moment
from envelopes.errors import BeachError
from envelopes.markup.html import reveal
from envelopes.models import Approval, ToolCall
from envelopes.registries.statuses import TOOL_CALL


class ResolveForm(forms.Form):
    """How it ended, and how that is known."""

    outcome = forms.ChoiceField(choices=[(outcome, outcome) for outcome in OUTCOMES])
    note = forms.CharField(
        max_length=NOTE_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60, "dir": "auto", "required": True}),
        error_messages={"required": "Explain how you know."},
    )


def _told(call: ToolCall) -> str:
    """Who reads what staff found out: only a call that was asked about has a card."""
    if hasattr(call, "approval"):
        return _("The customer sees it on the card, and the agent reads it by its next turn.")
    return _("The agent reads it by its next turn.")


WIDE = ["approval__args", "turn__trigger", "turn__messages", "turn__results", "turn__live"]
"""What a list does not need of the rows beside it."""


class TagFilter(admin.SimpleListFilter):
    """By the tags that the tools of today's agents have: an action knows the name of its tool."""

    title = "tag"
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(tag, tag) for tag in sorted(tagged())]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ToolCall]) -> QuerySet[ToolCall]:
        return queryset.filter(name__in=tagged().get(self.value() or "", ())) if self.value() else queryset


class StatusFilter(StateFilter):
    parameter_name = "state"
    states = TOOL_CALL.states


@admin.register(ToolCall)
class ToolCallAdmin(NewestFirstAdmin[ToolCall]):
    """Newest first."""

    change_form_template = "admin/envelopes/toolcall/change_form.html"
    list_display = [
        "call",
        "state_shown",
        "conversation",
        "turn_number",
        "approved_by",
        "took",
        "requested",
    ]
    list_filter = [StatusFilter, TagFilter, "background"]
    list_select_related = ["session", "turn", "approval", "approval__decided_by_user"]
    search_fields = ["^name", "^call_id"]
    search_help_text = "Search tool name or call ID"
    json_fields = ["args", "result", "error"]
    extra_fields = ["tags_shown", "approved_by", "approval_shown"]
    runtime_fields = ["call_id", "position", "digest", "attempt", "lease_owner", "lease_until", "claimed_at"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        own = {"args_json": show_args, "error_json": show_error}
        return [own.get(getattr(one, "__name__", ""), one) for one in super().get_fields(request, obj)]

    def _shown(self, request: HttpRequest, field: Field[Any, Any]) -> Any:
        own = {"tries": show_tries, "name": show_tool}
        return own.get(field.name) or super()._shown(request, field)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolCall]:
        rows = super().get_queryset(request)
        return rows.defer(*WIDE) if is_changelist(request) else rows

    @admin.display(description="tool")
    def call(self, call: ToolCall) -> SafeString:
        return reveal(call.name)

    @admin.display(description="status")
    def state_shown(self, call: ToolCall) -> SafeString:
        return state_mark(call.state)

    @admin.display(description="conversation")
    def conversation(self, call: ToolCall) -> SafeString:
        return link(call.session, str(call.session))

    @admin.display(description="answer")
    def turn_number(self, call: ToolCall) -> SafeString:
        return link(call.turn, call.turn.number)

    @admin.display(description="seconds")
    def took(self, call: ToolCall) -> str:
        """With how many tries, where it was not the first that ended it."""
        if call.seconds is None:
            return DASH
        took, tries = f"{call.seconds:,.1f}", len(call.tries)
        return took if tries < 2 else _("{} in {} tries").format(took, tries)

    @admin.display(description="tags")
    def tags_shown(self, call: ToolCall) -> str:
        return ", ".join(sorted(tag for tag, names in tagged().items() if call.name in names)) or DASH

    @admin.display(description="requested")
    def requested(self, call: ToolCall) -> SafeString:
        return moment(call.created_at)

    @admin.display(description="approved by")
    def approved_by(self, call: ToolCall) -> str:
        approval: Approval | None = getattr(call, "approval", None)
        return decider_of(approval) if approval is not None and approval.state == "granted" else DASH

    @admin.display(description="approval")
    def approval_shown(self, call: ToolCall) -> SafeString | str:
        approval: Approval | None = getattr(call, "approval", None)
        if approval is None:
            return DASH
        return format_html("{} {}", link(approval, approval.question), mark_of(approval))

    # -- outcome unknown ----------------------------------------------------------------------------------------

    def has_resolve_permission(self, request: HttpRequest) -> bool:
        return principal_of(request).may_decide_all()

    def get_urls(self) -> list[URLPattern]:
        resolving = path(
            "<path:object_id>/resolve/",
            self.admin_site.admin_view(self.resolve_view),
            name="envelopes_toolcall_resolve",
        )
        return [resolving, *super().get_urls()]

    def resolve_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """What staff found out, once. Answers with the call's page, whatever came of it."""
        call = self.visible(request, object_id)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_resolve_permission(request):
            raise PermissionDenied
        form = ResolveForm(request.POST)
        if not form.is_valid():
            for problems in form.errors.values():
                messages.error(request, " ".join(str(problem) for problem in problems))
            return HttpResponseRedirect(change_url(call))
        outcome, note = form.cleaned_data["outcome"], form.cleaned_data["note"]
        try:
            call = resolve(call.pk, outcome, principal_of(request), note=note)
        except BeachError as error:
            messages.warning(request, _("Nothing was changed. {}").format(error.message))
        else:
            self.log_change(request, call, f"Resolved the unknown outcome: {outcome}. Note: {note}")
            messages.success(
                request,
                _("Recorded: this call has {}. {}").format(outcome, _told(call)),
            )
        return HttpResponseRedirect(change_url(call))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        more: dict[str, Any] = dict(extra_context or {})
        if self.has_resolve_permission(request):
            more["resolve_form"] = ResolveForm(auto_id="id_resolve_%s")
            call = self.get_object(request, unquote(object_id))
            more["resolve_told"] = _told(call) if call is not None else ""
        return super().change_view(request, object_id, form_url, more)
