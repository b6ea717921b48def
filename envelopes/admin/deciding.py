"""Deciding approvals in the admin: one by one, or many denied at once. The service decides; this only asks and tells.

Many approved at once is not offered: each approval is consent to one exact call that somebody has read.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from envelopes.access import principal_of
from envelopes.admin.approval_state import outcome_sentence
from envelopes.admin.display import change_url
from envelopes.approvals.exactly import turn_away, waited_for
from envelopes.approvals.rights import OWNER, decidable, right_to_decide
from envelopes.approvals.rules import stored
from envelopes.approvals.service import decide
from envelopes.errors import (
    AlreadyChanged,
    AlreadyDecided,
    BeachError,
    Expired,
    Forbidden,
    NotFound,
    Unavailable,
)
from envelopes.markup.html import reveal
from envelopes.models import Approval, Session
from envelopes.protocol.text import is_blank
from envelopes.registries.doors import ADMIN

if TYPE_CHECKING:
    from envelopes.admin.base import HistoryAdmin

    _Base = HistoryAdmin[Approval]
else:
    _Base = object

AT_ONCE = 200
"""How many are denied in one go."""

REASON_CHARACTERS = 512
NOT_YOURS = "You can view this request but not decide it."
NO_REASON = "Enter a reason. The customer and the agent will see it."


class DecisionForm(forms.Form):
    """One decision. ``decision`` is the button that was pressed, ``asked_as`` the id of the question that its reader
    was shown: an edited one has another."""

    asked_as = forms.CharField(
        max_length=32,
        widget=forms.HiddenInput,
        error_messages={"required": _lazy("Open the request and read it before you decide.")},
    )
    decision = forms.ChoiceField(choices=[("denied", "Deny"), ("granted", "Approve")])
    reason = forms.CharField(
        required=False,
        max_length=REASON_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 1, "class": "a2-input", "dir": "auto"}),
    )


class DenyForm(forms.Form):
    """The one reason for many denials."""

    reason = forms.CharField(
        max_length=REASON_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60, "dir": "auto"}),
        error_messages={"required": NO_REASON},
    )

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if is_blank(reason):
            raise forms.ValidationError(NO_REASON)
        return reason


class Deciding(_Base):
    """The part of the approvals' admin that writes."""

    actions = ["deny_selected"]

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Whether there is anything in their list that they may decide. Of each question the service asks again."""
        who = principal_of(request)
        return who.may_decide_all() or (not self.sees_all(request) and decidable(who).exists())

    def sees_all(self, request: HttpRequest) -> bool:
        """Whether they may read every question, whoever decides it."""
        return super().has_view_permission(request) or principal_of(request).may_decide_all()

    @staticmethod
    def may_decide(request: HttpRequest, approval: Approval) -> bool:
        """Whether they decide this one, here: whoever does so as the owner alone does it in the conversation."""
        who = principal_of(request)
        role = right_to_decide(who, approval)
        return role is not None and (role != OWNER or who.may_decide_all())

    def get_urls(self) -> list[URLPattern]:
        deciding = path(
            "<path:object_id>/decide/",
            self.admin_site.admin_view(self.decide_view),
            name="envelopes_approval_decide",
        )
        return [deciding, *super().get_urls()]

    def decide_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """One decision. Answers with the approval's page, which tells what happened."""
        approval = self.visible(request, object_id)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.may_decide(request, approval):
            return self._turn_away(request, approval)
        form = DecisionForm(request.POST)
        if not form.is_valid():
            for problems in form.errors.values():
                messages.error(request, " ".join(str(problem) for problem in problems))
            return HttpResponseRedirect(change_url(approval))
        asked_as = form.cleaned_data["asked_as"]
        if asked_as not in approval.asked_as:
            # The form of another request: nobody meant this one by it.
            raise PermissionDenied
        decision, reason = form.cleaned_data["decision"], form.cleaned_data["reason"]
        try:
            done = self._decide(request, approval, asked_as, decision, reason)
        except BeachError as error:
            messages.warning(request, self._not_done(request, approval, error))
        else:
            messages.success(request, _told(done))
        return HttpResponseRedirect(change_url(approval))

    def _turn_away(self, request: HttpRequest, approval: Approval) -> HttpResponse:
        """Raises ``PermissionDenied`` for somebody who may not decide, once it stands in the record that they tried."""
        if (tried := request.POST.get("decision")) in ("granted", "denied"):
            try:
                turn_away(approval, principal_of(request), tried, NOT_YOURS, source=ADMIN.name)
            except Unavailable as error:
                messages.warning(request, self._not_done(request, approval, error))
                return HttpResponseRedirect(change_url(approval))
        raise PermissionDenied

    @staticmethod
    def record_tries(request: HttpRequest, tried: QuerySet[Approval]) -> None:
        """Record that somebody who decides nothing has tried to deny what waits of these. Raises ``Unavailable``."""
        for approval in tried.filter(state="pending").order_by("pk")[:AT_ONCE]:
            turn_away(approval, principal_of(request), "denied", NOT_YOURS, source=ADMIN.name)

    @waited_for()
    def _decide(
        self, request: HttpRequest, approval: Approval, asked_as: str, decision: str, reason: str
    ) -> Approval:
        """What was asked as ``asked_as`` and nothing else, through the service, which tells the audit log and Django's
        own. A form that arrives twice decides once, and nobody was late. Raises what the service does."""
        who = principal_of(request)
        with transaction.atomic():
            Session.objects.select_for_update().filter(pk=approval.session_id).first()
            now = Approval.objects.filter(pk=approval.pk).first()
            if now is None:
                # Its conversation was erased meanwhile.
                raise NotFound("This request does not exist any more.")
            if asked_as == now.approval_id and _is_repeated(now, decision, who.key):
                return now
            try:
                return decide(asked_as, decision, who, reason=reason.strip(), source=ADMIN.name)
            except (AlreadyDecided, Expired) as error:
                # Not out of the block: what was recorded stays.
                refused: BeachError = error
            except Forbidden as error:
                # Of this one, or since the page was asked for.
                turn_away(now, who, decision, error.message, source=ADMIN.name, reason=reason.strip())
                refused = error
        raise refused

    def _not_done(self, request: HttpRequest, approval: Approval, error: BeachError) -> str:
        """The honest answer to a click that changed nothing."""
        told = _("Your decision was not applied.")
        if isinstance(error, AlreadyChanged):
            return f"{error.message} {told} {_('Your attempt has been recorded.')}"
        if isinstance(error, AlreadyDecided | Expired):
            now = Approval.objects.select_related("decided_by_user").get(pk=approval.pk)
            outcome = outcome_sentence(now, principal_of(request).key)
            return f"{outcome} {told} {_('Your attempt has been recorded.')}"
        return f"{error.message} {told}"

    @admin.action(description="Deny selected requests", permissions=["decide"])
    def deny_selected(self, request: HttpRequest, queryset: QuerySet[Approval]) -> HttpResponse | None:
        """Asks for the reason first, then denies one after the other: each is a decision of its own."""
        few = queryset.select_related(None).select_related("session")
        chosen = list(few.defer("args", "why")[: AT_ONCE + 1])
        if len(chosen) > AT_ONCE:
            told = _("You can deny at most {} at once. Nothing was changed.").format(AT_ONCE)
            messages.error(request, told)
            return None
        form = DenyForm(request.POST if "apply" in request.POST else None)
        foreign = self._foreign(request, chosen)
        if form.is_valid():
            read = frozenset(request.POST.getlist("asked_as"))
            self._deny_all(request, chosen, foreign, read, form.cleaned_data["reason"])
            return HttpResponseRedirect(reverse("admin:envelopes_approval_changelist"))
        waiting = [one for one in chosen if one.state == "pending" and one.pk not in foreign]
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": _("Deny requests"),
            "opts": self.opts,
            "media": self.media,
            "form": form,
            "waiting": [reveal(approval.question) for approval in waiting],
            "others": sum(approval.state != "pending" for approval in chosen),
            "foreign": len(foreign),
            "chosen": chosen,
            "checkbox": helpers.ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/envelopes/approval/deny_selected.html", context)

    def _foreign(self, request: HttpRequest, chosen: list[Approval]) -> frozenset[int]:
        """The keys of those that wait for somebody else. One query, and one more for each that is not open to somebody
        who decides all."""
        who = principal_of(request)
        waiting = [one for one in chosen if one.state == "pending"]
        open_to_them = decidable(who).filter(pk__in=[one.pk for one in waiting])
        theirs = set(open_to_them.values_list("pk", flat=True)) if who.may_decide_all() else set()
        rest = (one for one in waiting if one.pk not in theirs)
        return frozenset(one.pk for one in rest if not self.may_decide(request, one))

    def _deny_all(
        self,
        request: HttpRequest,
        chosen: list[Approval],
        foreign: frozenset[int],
        read: frozenset[str],
        reason: str,
    ) -> None:
        """Each question as it stood on the page: ``read`` are their ids. Those that were decided before, or are
        ``foreign``, are not touched: nobody clicked on any of them in particular."""
        outcomes: Counter[str] = Counter()
        for approval in chosen:
            if approval.state != "pending" or approval.pk in foreign:
                outcomes["before" if approval.state != "pending" else "foreign"] += 1
                continue
            asked_as = next((name for name in approval.asked_as if name in read), None)
            if asked_as is None:
                outcomes["unread"] += 1
                continue
            try:
                self._decide(request, approval, asked_as, "denied", reason)
            except BeachError as error:
                outcomes[error.code] += 1
            else:
                outcomes["denied"] += 1
        denied, before = (
            outcomes.pop("denied", 0),
            outcomes.pop("before", 0) + outcomes.pop("already_decided", 0),
        )
        expired, changed = outcomes.pop("expired", 0), outcomes.pop("already_changed", 0)
        not_theirs = outcomes.pop("foreign", 0)
        others = sum(outcomes.values())
        if denied:
            told = ngettext(
                "{} request was denied. It did not run.",
                "{} requests were denied. None of them ran.",
                denied,
            )
            messages.success(request, told.format(denied))
        if before:
            told = ngettext("{} had already been decided.", "{} had already been decided.", before)
            messages.warning(request, told.format(before))
        if expired:
            told = ngettext("{} had expired.", "{} had expired.", expired)
            messages.warning(request, told.format(expired))
        if changed:
            told = ngettext(
                "{} has been changed since. Read it again before you decide.",
                "{} have been changed since. Read them again before you decide.",
                changed,
            )
            messages.warning(request, told.format(changed))
        if not_theirs:
            told = ngettext("{} is not yours to decide.", "{} are not yours to decide.", not_theirs)
            messages.warning(request, told.format(not_theirs))
        if others:
            told = ngettext("{} could not be denied.", "{} could not be denied.", others)
            messages.error(request, told.format(others))


def _is_repeated(approval: Approval, decision: str, key: str) -> bool:
    """Whether this very decision was made here before: a form that arrives twice."""
    mine = approval.decisions.filter(version=approval.version, by=key, decision=decision, source=ADMIN.name)
    settled_otherwise = approval.state not in ("pending", decision)
    return not settled_otherwise and mine.exists()


def _told(approval: Approval) -> str:
    if approval.state == "pending":
        rule = stored(approval)
        given = approval.decisions.filter(version=approval.version).count()
        return _("Your approval has been recorded: {} of {}. It runs once all have approved.").format(
            given, rule.needed
        )
    left = Approval.objects.filter(turn=approval.turn_id, state="pending").count()
    told = _("Denied. Nothing ran.") if approval.state == "denied" else _("Approved. It will run once.")
    if left:
        more = ngettext(
            "{} more request in this turn is waiting.", "{} more requests in this turn are waiting.", left
        )
        return f"{told} {more.format(left)}"
    return f"{told} {_('The agent will continue.')}"
