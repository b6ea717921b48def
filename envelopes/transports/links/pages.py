"""The page behind a signed link: one question as its addressee was sent it, and what became of it.

To look at it decides nothing, so whatever fetches links in mails decides nothing; only its form does (D23). The link
stands for its addressee, who also has to be signed in where the settings want that.
"""

from __future__ import annotations

import time
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.encoding import escape_uri_path
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from envelopes import audit
from envelopes.access import owns
from envelopes.approvals import rights
from envelopes.approvals.exactly import AlreadyUsed, QuestionChanged, decide_exactly, turn_away
from envelopes.approvals.in_words import behalf_of, decider_of, name_of
from envelopes.approvals.links import Link, read, wants_login
from envelopes.approvals.service import may_answer
from envelopes.approvals.stored import card_of, context_of, is_over, outcome
from envelopes.errors import AlreadyDecided, BeachError, Expired, Forbidden, NotFound, Unavailable
from envelopes.markup.approval import DecisionPage
from envelopes.markup.strings import strings
from envelopes.models import Approval
from envelopes.registries.actors import agent_name
from envelopes.registries.doors import LINK
from envelopes.transports.signing_in import to_login

REASON_CHARACTERS = 512
_STATUS: dict[type[BeachError], int] = {NotFound: 404, Expired: 410, Forbidden: 403, Unavailable: 503}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def approval_link(request: HttpRequest, token: str) -> HttpResponseBase:
    """The question behind ``token``. A form's ``decision`` is ``granted`` or ``denied``, with a ``reason`` if it likes.

    404 for what is no link, 410 for one whose time is over, 403 where its addressee may not decide (any more), 409
    where it decides nothing any more.
    """
    response = _answered(request, token)
    # The address is the secret: it goes to nobody as a referrer, and stays out of search engines. Not "no-referrer",
    # with which browsers send no origin along with a form, and Django refuses it.
    response["Referrer-Policy"] = "strict-origin"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _answered(request: HttpRequest, token: str) -> HttpResponseBase:
    try:
        link, approval, is_changed = _asked(token)
        if wants_login(approval) and request.user != link.user:
            return to_login(request.get_full_path())
        _admit(request, link, approval)
        if is_changed:
            return _changed(request, link, approval)
        if request.method == "POST":
            return _decided(request, link, approval)
    except (NotFound, Expired, Forbidden, Unavailable) as error:
        return _refused(request, error)
    return _page(request, link, approval)


def _admit(request: HttpRequest, link: Link, approval: Approval) -> None:
    """Raises Forbidden, which the record has where somebody tried to decide, and NotFound."""
    try:
        may_answer(approval.approval_id, "denied", link.who)
    except (Forbidden, NotFound) as error:
        decision = request.POST.get("decision", "")
        if decision in ("granted", "denied"):
            turn_away(approval, link.who, decision, error.message, source=LINK.name)
        raise


def _asked(token: str) -> tuple[Link, Approval, bool]:
    """The link, the approval as it is now, and whether that is another question than the link was made for."""
    link = read(token)
    found = rights.find(link.question.approval_id)
    if found is None:
        raise NotFound(_("This request does not exist any more."))
    approval, was = found
    return link, approval, was is not None or approval.digest != link.question.digest


def _decided(request: HttpRequest, link: Link, approval: Approval) -> HttpResponseBase:
    decision = request.POST.get("decision", "")
    if decision not in ("granted", "denied"):
        return _page(request, link, approval, status=400, problem=_("Choose Deny or Approve."))
    reason = request.POST.get("reason", "").strip()
    try:
        decide_exactly(
            link.question,
            decision,
            link.who,
            source=LINK.name,
            reason=reason[:REASON_CHARACTERS],
            once=link.use,
        )
    except QuestionChanged:
        return _changed(request, link, approval)
    except (AlreadyDecided, AlreadyUsed, Expired):
        # Too late, or used before: the page tells what happened instead.
        link, now, is_changed = _asked(link.token)
        if is_changed:
            return _changed(request, link, now)
        problem = _("Your decision was not applied.")
        return _page(request, link, now, status=409, problem=problem)
    return redirect(escape_uri_path(request.path))


def _page(
    request: HttpRequest, link: Link, approval: Approval, *, status: int = 200, problem: str = ""
) -> HttpResponse:
    asks = approval.state == "pending" and not link.is_used()
    if request.method != "HEAD":
        with audit.beside_a_page():
            audit.shown(approval, link.who, LINK.name)
    form = DecisionPage()
    if asks:
        fields = render_to_string("beach/links/reason.html", {"limit": REASON_CHARACTERS}, request)
        over = _("Its time has passed: a decision now will be refused.") if is_over(approval) else ""
        form = DecisionPage(escape_uri_path(request.path), fields, over)
    context: dict[str, Any] = {
        "asks": asks,
        "approval": approval,
        "heading": _heading(approval, asks),
        "told": "" if asks else _told(link, approval),
        "problem": problem,
        "agent": agent_name(approval.handler),
        "owner": behalf_of(approval),
        "addressee": name_of(link.user),
        "card": card_of(approval, decider_of(approval)).card(context_of(approval), form),
        "now": round(time.time() * 1000),
        "strings": strings(agent_name(approval.handler)),
    }
    return render(request, "beach/links/approval.html", context, status=status)


def _heading(approval: Approval, asks: bool) -> str:
    if asks:
        return _("Your approval is needed")
    words = {"granted": _("Approved"), "denied": _("Denied"), "expired": _("Expired")}
    return words.get(approval.state) or _("Your decision is recorded")


def _told(link: Link, approval: Approval) -> str:
    if approval.state == "pending":
        return _("Others still have to decide. This link decides nothing any more.")
    if approval.decided_at and approval.decided_by == link.who.key:
        told = _("You denied this on {}.") if approval.state == "denied" else _("You approved this on {}.")
        return told.format(date_format(timezone.localtime(approval.decided_at), "j M Y, H:i:s"))
    return f"{outcome(approval, decider_of(approval))} {_('This link decides nothing any more.')}"


def _changed(request: HttpRequest, link: Link, approval: Approval) -> HttpResponse:
    context = {"approval": approval, "elsewhere": _elsewhere(link, approval)}
    return render(request, "beach/links/changed.html", context, status=409)


def _elsewhere(link: Link, approval: Approval) -> str:
    """Where the question can be answered as it stands now."""
    if owns(link.who, approval.session):
        return reverse("envelopes:session", args=[approval.session.public_id])
    try:
        return reverse("admin:envelopes_approval_change", args=[approval.pk])
    except NoReverseMatch:
        return ""


def _refused(request: HttpRequest, error: BeachError) -> HttpResponse:
    status = next(status for kind, status in _STATUS.items() if isinstance(error, kind))
    context = {"message": error.message, "again": isinstance(error, Unavailable)}
    return render(request, "beach/links/refused.html", context, status=status)
