"""Approvals: the queue, and one question with all that a decision needs. Deciding itself stands in ``deciding``."""

from __future__ import annotations

import time
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet, prefetch_related_objects
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from envelopes import audit
from envelopes.access import principal_of
from envelopes.admin import approval_page, queue, queue_page
from envelopes.admin.approval_card import card
from envelopes.admin.approval_stand import stand_of
from envelopes.admin.approval_state import decider_of, took
from envelopes.admin.base import HistoryAdmin
from envelopes.admin.conversation.pages import address_of
from envelopes.admin.deciding import Deciding, DecisionForm
from envelopes.admin.display import DASH, change_url, folded, lines, link
from envelopes.admin.editing import Editing, edit_url
from envelopes.admin.owners import owners
from envelopes.admin.timeline import log_of
from envelopes.approvals.rights import decidable
from envelopes.approvals.rules import StoredRule, stored
from envelopes.approvals.stored import is_over, state_of
from envelopes.desk.times import clock, due, moment
from envelopes.errors import Unavailable
from envelopes.markup import approval_rule
from envelopes.markup.approval import DecisionPage
from envelopes.markup.html import html, reveal
from envelopes.markup.strings import strings
from envelopes.models import Approval, Decision
from envelopes.registries.actors import agent_name
from envelopes.registries.doors import ADMIN, doors

_MAY_NOT = _lazy("You may look at approvals, but not decide them.")
_NONE_CHOSEN = _lazy("Choose what to deny first. Nothing was changed.")
_ONE_BY_ONE = _lazy(
    "You cannot approve several requests at once: an approval is for one exact call that someone has read."
)


@admin.register(Approval)
class ApprovalAdmin(Deciding, Editing, HistoryAdmin[Approval]):
    """Waiting ones first, then those whose outcome nobody knows, then the newest."""

    change_form_template = "admin/envelopes/approval/change_form.html"
    json_fields = ["args"]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may decide may read what there is to decide."""
        if self.sees_all(request):
            return True
        return self.has_decide_permission(request) if obj is None else self.may_decide(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Approval]:
        return super().get_queryset(request).select_related("session", "turn", "tool_call", "decided_by_user")

    def _visible_rows(self, request: HttpRequest, rows: QuerySet[Approval]) -> QuerySet[Approval]:
        if self.sees_all(request):
            return rows
        who = principal_of(request)
        decided = Decision.objects.filter(by=who.key).values("approval")
        return rows.filter(Q(pk__in=decidable(who).values("pk")) | Q(pk__in=decided))

    def source(self, request: HttpRequest) -> queue.Source:
        """What the queue reads from, for this person."""
        seen = self._visible_rows(request, Approval.objects.all())
        return queue.Source(seen, lambda: decidable(principal_of(request)))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The queue; with ``?part=rows`` its rows alone, for a page that stands open."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            return self._act(request)
        asked = queue.Asked.of(request.GET)
        who, source = principal_of(request), self.source(request)
        if request.GET.get("part") == "rows":
            rows = queue_page.rows_now(asked, source, who, request.GET.get("shown", ""))
            context = {"rows": rows, "may_decide": self.has_decide_permission(request)}
            return TemplateResponse(request, "admin/envelopes/approval/rows.html", context)
        frame, may = self.admin_site.each_context(request), self.has_decide_permission(request)
        waiting = frame["waiting"].count if frame.get("waiting") else ""
        context = {
            **frame,
            **queue_page.context(asked, source, who, may_decide=may, waiting=waiting),
            "title": capfirst(self.opts.verbose_name_plural),
            "opts": self.opts,
            "may_decide": may,
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/envelopes/approval/queue.html", context)

    def _act(self, request: HttpRequest) -> HttpResponse:
        """What is done with several at once: deny them, and nothing else."""
        keys = queue.numbers(request.POST.getlist("_selected_action"))
        if not self.has_decide_permission(request):
            try:
                if "apply" in request.POST:
                    self.record_tries(request, self.source(request).seen.filter(pk__in=keys))
            except Unavailable as error:
                messages.warning(request, f"{error.message} {_('Nothing was changed.')}")
                return HttpResponseRedirect(request.get_full_path())
            raise PermissionDenied
        if request.POST.get("action") != "deny_selected":
            messages.error(request, f"{_ONE_BY_ONE} {_('Nothing was changed.')}")
        elif not keys:
            messages.warning(request, str(_NONE_CHOSEN))
        else:
            chosen = self.source(request).seen.filter(pk__in=keys).order_by("pk")
            answer = self.deny_selected(request, chosen)
            if answer is not None:
                return answer
        return HttpResponseRedirect(request.get_full_path())

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The page of one question. While it stands open it asks for ``?part=stand``, where that is now, and for
        ``?part=page``, what has changed by then: without the frame, whose messages are for the next page. What asks
        for that with ``reads``, the question that somebody is about to decide, gets nothing once it is another one:
        that is shown, and recorded as shown, when they ask for it."""
        part = request.GET.get("part")
        if part == "stand":
            return self._stand(request, object_id)
        more: dict[str, Any] = dict(extra_context or {})
        approval = self.get_object(request, object_id)
        if approval is not None and self.has_view_permission(request, approval):
            reads = request.GET.get("reads") or approval.approval_id
            if part == "page" and approval.state == "pending" and reads != approval.approval_id:
                return HttpResponse(status=204)
            # For the card, and for where it stands.
            prefetch_related_objects([approval], "decisions")
            who = principal_of(request)
            with audit.beside_a_page():
                audit.shown(approval, who, ADMIN.name)
            may = self.may_decide(request, approval)
            place = queue.neighbours(approval, self.source(request))
            more |= {
                "title": _("Approval"),
                "subtitle": None,
                "asks": lines(self._asks(approval)),
                "stand": stand_of(approval, with_conversation=who.may_view_all()),
                "place": place,
                "ways": approval_page.ways(place),
                "history": approval_page.history(approval, who),
                "conversation_url": address_of(approval.session) if who.may_view_all() else "",
                "may_decide": may,
                "card": card(
                    approval, self._page(request, approval) if may else DecisionPage(note=_may_not(approval))
                ),
                "state": state_of(approval),
                "facts": lines(self._facts(request, approval)),
                "now": round(time.time() * 1000),
                "strings": strings(approval.handler),
                "call_url": change_url(approval.tool_call) if _may_see_calls(request) else "",
            }
        response = super().change_view(request, object_id, form_url, more)
        if part == "page" and isinstance(response, TemplateResponse):
            response.template_name = "admin/envelopes/approval/page.html"
        return response

    def _stand(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """For whoever may see the page, and nobody else."""
        reads = principal_of(request).may_view_all()
        stand = stand_of(self.visible(request, object_id), with_conversation=reads)
        return JsonResponse(stand._asdict())

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """What the admin's own log has, and above it what the conversation's has: not only staff decide."""
        approval = self.visible(request, object_id)
        told = {"log_lines": log_of(approval, principal_of(request)), **(extra_context or {})}
        return super().history_view(request, object_id, told)

    def _page(self, request: HttpRequest, approval: Approval) -> DecisionPage:
        form = DecisionForm(auto_id="id_decision_%s", initial={"asked_as": approval.approval_id})
        return DecisionPage(
            reverse("admin:envelopes_approval_decide", args=[approval.pk]),
            render_to_string("admin/envelopes/approval/reason.html", {"form": form}, request),
            _("Its time has passed: a decision now will be refused.") if is_over(approval) else "",
            edit_url(approval),
        )

    def _asks(self, approval: Any) -> list[tuple[str, object]]:
        """What has to be known before anything is decided; it stands above the card."""
        asks: list[tuple[str, object]] = [
            (_("Asked by"), reveal(agent_name(approval.handler))),
            (_("On behalf of"), owners([approval.session_id]).get(approval.session_id, _("Visitor"))),
            (_("May decide"), approval_rule.deciders(stored(approval).told())),
        ]
        if approval.state == "pending":
            at = approval.expires_at
            asks.append((_("Expires"), html("{}, {}", clock(at), due(at)) if at else _("No limit")))
        return asks

    def _facts(self, request: HttpRequest, approval: Any) -> list[tuple[str, object]]:
        told: list[tuple[str, object]] = [
            (_("Requested"), moment(approval.requested_at)),
            (_("Attempt"), approval.attempt),
        ]
        if approval.state != "pending":
            told += [
                (
                    _("Decided by"),
                    _("Nobody") if approval.state == "expired" else decider_of(approval) or DASH,
                ),
                (_("Decided"), moment(approval.decided_at) if approval.decided_at else DASH),
                (_("Took"), took(approval)),
                (_("Where"), _place(approval)),
                (_("Reason"), reveal(approval.reason) if approval.reason else DASH),
            ]
        call = approval.tool_call
        if _may_see_calls(request):
            told.append((_("Call"), link(call, call)))
            if call.result is not None or call.error is not None:
                told.append((_("Outcome"), folded(call.result if call.error is None else call.error)))
        return told


def _may_not(approval: Approval) -> str:
    """For staff of whom the rule of every tool says no; another rule the card tells itself."""
    return str(_MAY_NOT) if stored(approval).deciders == StoredRule().deciders else ""


def _may_see_calls(request: HttpRequest) -> bool:
    return principal_of(request).may_view_all() and request.user.has_perm("envelopes.view_toolcall")


def _place(approval: Approval) -> str:
    door = doors.get(approval.source)
    return capfirst(str(door.label)) if door is not None else reveal(approval.source) or DASH
