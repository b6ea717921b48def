"""Approvals: the queue, and one question with all that a decision needs. Deciding itself stands in ``deciding``."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

from babel import Locale
from django.contrib import admin
from django.db.models import Case, F, JSONField, Q, QuerySet, Value, When
from django.db.models import IntegerField as Integer
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from envelopes import audit
from envelopes.access import principal_of
from envelopes.admin.approval_card import card
from envelopes.admin.approval_state import decider_of, mark_of, took
from envelopes.admin.base import HistoryAdmin, is_changelist, owner_of, with_owner
from envelopes.admin.deciding import Deciding, DecisionForm
from envelopes.admin.display import DASH, change_url, due, folded, length, lines, link, moment, short_digest
from envelopes.admin.editing import Editing, edit_url
from envelopes.admin.timeline import log_of
from envelopes.approvals.rights import decidable, right_to_decide
from envelopes.approvals.rules import StoredRule, stored
from envelopes.approvals.stored import is_over, state_of
from envelopes.markup import arguments
from envelopes.markup.approval import DecisionPage
from envelopes.markup.facts import facts
from envelopes.markup.html import brief, html, join, reveal
from envelopes.markup.strings import strings
from envelopes.models import Approval, Decision, ToolCall
from envelopes.registries.actors import actors
from envelopes.registries.doors import ADMIN, doors
from envelopes.types import Json

WAITING = Q(state="pending")
UNKNOWN = Q(state="granted", tool_call__state="unknown")
PEEK = 60
"""Characters of one argument in a list; both of its ends are among them."""
IN_SIGHT = 8
"""Arguments on the line of a list; how many more there are is said."""
_MAY_NOT = _lazy("You may look at approvals, but not decide them.")
WIDE = ["tool_call__args", "tool_call__result", "tool_call__error"]


class QueueFilter(admin.SimpleListFilter):
    """What the queue shows."""

    title = "queue"
    parameter_name = "queue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [
            ("waiting", _("Waiting")),
            ("high", _("High risk")),
            ("unknown", _("Outcome unknown")),
            ("mine", _("Decided by me")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "waiting":
                return queryset.filter(WAITING)
            case "high":
                return queryset.filter(risk="high")
            case "unknown":
                return queryset.filter(UNKNOWN)
            case "mine":
                return queryset.filter(decided_by_user=request.user.pk)
            case _:
                return queryset


@admin.register(Approval)
class ApprovalAdmin(Deciding, Editing, HistoryAdmin[Approval]):
    """Waiting ones first, then those whose outcome nobody knows, then the newest."""

    change_form_template = "admin/envelopes/approval/change_form.html"
    change_list_template = "admin/envelopes/approval/change_list.html"
    list_display = [
        "asked",
        "what_runs",
        "mark",
        "risk_shown",
        "for_whom",
        "waiting",
        "expires",
        "digest_short",
    ]
    list_display_links = ["asked"]
    list_filter = [QueueFilter]
    list_select_related = ["tool_call", "session", "decided_by_user"]
    search_fields = ["question", "^tool_name", "^approval_id", "^digest"]
    search_help_text = "Search question, tool, ID or digest"
    json_fields = ["args"]
    # Only the arguments of what still waits are read for a list: see `waiting_args`.
    deferred = ["args", *WIDE]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may decide may read what there is to decide."""
        who = principal_of(request)
        if self._sees_all(request):
            return True
        return decidable(who).exists() if obj is None else right_to_decide(who, obj) is not None

    def _sees_all(self, request: HttpRequest) -> bool:
        return super().has_view_permission(request) or principal_of(request).may_decide_all()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Approval]:
        rows = with_owner(super().get_queryset(request).select_related("tool_call", "decided_by_user"))
        if not self._sees_all(request):
            who = principal_of(request)
            decided = Decision.objects.filter(by=who.key).values("approval")
            rows = rows.filter(Q(pk__in=decidable(who).values("pk")) | Q(pk__in=decided))
        if not is_changelist(request):
            return rows
        return rows.annotate(
            place=Case(When(WAITING, then=0), When(UNKNOWN, then=1), default=2, output_field=Integer()),
            waiting_args=Case(
                When(WAITING, then=F("args")), default=Value(None, JSONField()), output_field=JSONField()
            ),
        )

    def get_ordering(self, request: HttpRequest) -> list[Any]:
        return ["place", "-requested_at", "-pk"] if is_changelist(request) else ["-requested_at", "-pk"]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        unknown = ToolCall.objects.filter(
            background__in=[False, True], state="unknown", approval__isnull=False
        )
        counts = {"waiting": Approval.objects.filter(WAITING).count(), "unknown": unknown.count()}
        chosen = request.GET.get("queue", "")
        tabs = [
            ("waiting", _("Waiting ({})").format(counts["waiting"])),
            ("mine", _("Decided by me")),
            ("high", _("High risk")),
            ("unknown", _("Outcome unknown ({})").format(counts["unknown"])),
            ("", _("All")),
        ]
        more: dict[str, Any] = {
            "queue_tabs": [{"key": key, "label": label, "chosen": key == chosen} for key, label in tabs],
            "may_decide": self.has_decide_permission(request),
        }
        return super().changelist_view(request, more | (extra_context or {}))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        more: dict[str, Any] = dict(extra_context or {})
        approval = self.get_object(request, object_id)
        if approval is not None and self.has_view_permission(request, approval):
            audit.shown(approval, principal_of(request), ADMIN.name)
            may = right_to_decide(principal_of(request), approval) is not None
            more |= {
                "title": _("Approval"),
                "subtitle": None,
                "asks": lines(self._asks(request, approval)),
                "card": card(
                    approval, self._page(request, approval) if may else DecisionPage(note=_may_not(approval))
                ),
                "state": state_of(approval),
                "facts": lines(self._facts(request, approval)),
                "now": round(time.time() * 1000),
                "strings": strings(approval.handler),
                "call_url": change_url(approval.tool_call) if _may_see_calls(request) else "",
            }
        return super().change_view(request, object_id, form_url, more)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """What the admin's own log has, and above it what the conversation's has: not only staff decide."""
        approval = self.visible(request, object_id)
        told = {"log_lines": log_of(approval, principal_of(request)), **(extra_context or {})}
        return super().history_view(request, object_id, told)

    def _page(self, request: HttpRequest, approval: Approval) -> DecisionPage:
        form = DecisionForm(auto_id="id_decision_%s")
        return DecisionPage(
            reverse("admin:envelopes_approval_decide", args=[approval.pk]),
            render_to_string("admin/envelopes/approval/reason.html", {"form": form}, request),
            _("Its time has passed: a decision now will be refused.") if is_over(approval) else "",
            edit_url(approval),
        )

    def _asks(self, request: HttpRequest, approval: Any) -> list[tuple[str, object]]:
        """What has to be known before anything is decided; it stands above the card."""
        actor = actors.get(approval.handler)
        asks: list[tuple[str, object]] = [
            (_("Asked by"), actor.display_name if actor else reveal(approval.handler)),
            (_("On behalf of"), owner_of(approval)),
        ]
        if principal_of(request).may_view_all():
            asks.append((_("Conversation"), link(approval.session, brief(str(approval.session), 60))))
        if approval.state == "pending":
            asks.append((_("Expires"), due(approval.expires_at)))
        return asks

    def _facts(self, request: HttpRequest, approval: Any) -> list[tuple[str, object]]:
        told: list[tuple[str, object]] = [
            (_("Requested"), moment(approval.requested_at)),
            (_("Attempt"), approval.attempt),
        ]
        if approval.state != "pending":
            told += [
                (_("Decided by"), decider_of(approval) or DASH),
                (_("Decided"), moment(approval.decided_at) if approval.decided_at else DASH),
                (_("Took"), took(approval)),
                (_("Where"), _place(approval)),
                (_("Reason"), reveal(approval.reason) if approval.reason else DASH),
            ]
        call = approval.tool_call
        if _may_see_calls(request):
            told.append((_("Call"), link(call, call)))
            if call.result is not None or call.error is not None:
                told.append((_("Came of it"), folded(call.result if call.error is None else call.error)))
        return told

    # -- columns ------------------------------------------------------------------------------------------------

    @admin.display(description="question")
    def asked(self, approval: Any) -> SafeString:
        """The sentence; the rest of the cell is ``what_runs``, since Django makes a link of this one."""
        return reveal(approval.question)

    @admin.display(description="what runs")
    def what_runs(self, approval: Any) -> SafeString:
        """The tool, and while it waits its arguments: in one line, all of them behind it."""
        tool = format_html("<code>{}</code>", reveal(approval.tool_name))
        args = approval.waiting_args
        if not isinstance(args, dict) or not args:
            return tool
        line = join((_brief(name, value) for name, value in list(args.items())[:IN_SIGHT]), ", ")
        if len(args) > IN_SIGHT:
            line = html("{}, {}", line, _("and {} more").format(len(args) - IN_SIGHT))
        rows = arguments.shown(facts((), args, Locale.parse("en")), f"a{approval.pk}v")
        return html('{}<details class="adm-args"><summary>{}</summary>{}</details>', tool, line, rows.html)

    @admin.display(description="status", ordering="state")
    def mark(self, approval: Approval) -> SafeString:
        return mark_of(approval)

    @admin.display(description="risk", ordering="risk")
    def risk_shown(self, approval: Approval) -> str:
        return approval.get_risk_display().capitalize()

    @admin.display(description="customer")
    def for_whom(self, approval: Any) -> SafeString:
        return owner_of(approval)

    @admin.display(description="waiting", ordering="requested_at")
    def waiting(self, approval: Approval) -> str:
        if approval.state == "pending":
            return length(timezone.now() - approval.requested_at)
        return _("decided in {}").format(took(approval)) if approval.state != "expired" else DASH

    @admin.display(description="expires", ordering="expires_at")
    def expires(self, approval: Approval) -> SafeString | str:
        return due(approval.expires_at) if approval.state in ("pending", "expired") else DASH

    @admin.display(description="digest")
    def digest_short(self, approval: Approval) -> SafeString:
        return short_digest(approval.digest)


def _may_not(approval: Approval) -> str:
    """For staff of whom the rule of every tool says no; another rule the card tells itself."""
    return str(_MAY_NOT) if stored(approval).deciders == StoredRule().deciders else ""


def _may_see_calls(request: HttpRequest) -> bool:
    return principal_of(request).may_view_all() and request.user.has_perm("envelopes.view_toolcall")


def _brief(name: str, value: Json) -> SafeString:
    # A key is set apart from every value, and each keeps its own direction: no value passes for another argument.
    return html(
        '<code dir="auto">{}</code>: <span dir="auto">{}</span>', brief(name, 30), brief(_plain(value), PEEK)
    )


def _plain(value: Json) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _place(approval: Approval) -> str:
    door = doors.get(approval.source)
    return str(door.label) if door is not None else approval.source or DASH
