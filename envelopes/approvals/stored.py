"""A stored question as doors outside of its conversation show it: its state, its card, what came of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from envelopes.approvals import rules
from envelopes.markup.approval import ApprovalCard
from envelopes.markup.approval_rule import RULE_PREFIX
from envelopes.markup.card_states import card_state
from envelopes.markup.context import PageContext, current_locale
from envelopes.models import Approval, ApprovalNotice, Event, Turn
from envelopes.part_types.approval_request import APPROVAL_REQUEST
from envelopes.protocol.time import instant
from envelopes.registries.actors import actors
from envelopes.registries.statuses import ApprovalStatus, CallStatus
from envelopes.types import JsonObject


def state_of(approval: Approval) -> str:
    """``pending``, ``denied``, ``expired``; after a grant the state of the call: ``approved`` to ``unknown``."""
    return approval.tool_call.state if approval.state == "granted" else approval.state


def card_of(approval: Approval, decider: str) -> ApprovalCard:
    """The card as the conversation shows it, with what would run as it is stored: the rows of the log only say how to
    write it for people, and in which words it ended. ``decider`` is what to call whoever decided."""
    state = state_of(approval)
    about, summary = _told(approval)
    view = ApprovalCard(
        "card",
        approval.handler,
        {
            "approvalId": approval.approval_id,
            "toolName": approval.tool_name,
            "args": approval.args,
            "expiresAt": _moment(approval.expires_at),
        },
        about,
        card_state(state) or state,
    )
    known = (approval.version, ApprovalStatus.GRANTED)
    given = [one for one in approval.decisions.all() if (one.version, one.decision) == known]
    view.given = [
        {
            "name": one.name,
            "role": one.role,
            "source": one.source,
            "reason": one.reason,
            "at": one.at.isoformat(),
        }
        for one in given
    ]
    if approval.decided_by.startswith(RULE_PREFIX) and approval.state == "granted":
        view.rule = approval.decided_by
    if approval.decided_at is not None:
        view.decided_at = approval.decided_at.isoformat()
        view.decided_by, view.source, view.reason = decider, approval.source, approval.reason
    view.summary, view.error = summary, _message(approval.tool_call.error)
    return view


def context_of(approval: Approval) -> PageContext:
    """For the reader of a page of the site: their language and time zone, where the page knows it."""
    known = actors.get(approval.handler)
    names = {known.name: known.display_name} if known else {}
    return PageContext(
        approval.session.public_id, names, current_locale(), timezone.get_current_timezone_name()
    )


def is_over(approval: Approval) -> bool:
    """Expired, though no sweep has come by yet."""
    return (
        approval.state == "pending"
        and approval.expires_at is not None
        and approval.expires_at <= timezone.now()
    )


def unnoticed(seconds: float, most: int) -> list[Approval]:
    """Those that have waited for so long, as they are asked now, without anybody having been told of that elsewhere;
    the oldest first."""
    now = timezone.now()
    noticed = ApprovalNotice.objects.filter(approval=OuterRef("pk"), asked_as=OuterRef("approval_id"))
    waiting = Approval.objects.filter(
        ~Exists(noticed), state="pending", requested_at__lte=now - timedelta(seconds=seconds)
    ).exclude(expires_at__lte=now)
    return list(waiting.select_related("session").order_by("pk")[:most])


def outcome(approval: Approval, decider: str) -> str:
    """What happened to a question, for somebody who comes too late."""
    if approval.state == "pending":
        return _("It is still waiting.")
    at = date_format(timezone.localtime(approval.decided_at), "j M Y, H:i:s") if approval.decided_at else "?"
    if approval.state == "expired":
        return _("It expired on {} before anyone decided. Nothing ran.").format(at)
    told = (
        _("It was already approved by {} on {}.")
        if approval.state == "granted"
        else _("It was already denied by {} on {}.")
    )
    return told.format(decider or "?", at)


def _told(approval: Approval) -> tuple[JsonObject, str]:
    """What the question says about itself, and the sentence with which the call ended; "" while there is none. Of a
    call whose end staff have found out that is what they wrote."""
    about: JsonObject = {
        "question": approval.question,
        "why": approval.why,
        "risk": approval.risk,
        "attempt": approval.attempt,
        "digest": approval.digest,
        **rules.stored(approval).told(),
    }
    # Nothing of a turn stands before what began it, and a question soon after: of a long conversation little is read.
    began = Turn.objects.filter(pk=approval.turn_id).values("trigger_seq")
    asked = _row(
        approval.session_id,
        Q(seq__gte=began, part_type=APPROVAL_REQUEST.name, at=approval.requested_at),
        Q(data__part__data__approvalId=approval.approval_id),
    )
    if asked is not None:
        about = {**asked[1]["part"]["metadata"], **about}
    call = approval.tool_call
    if call.state != CallStatus.SUCCEEDED or call.finished_at is None:
        return about, ""
    ended = _row(
        approval.session_id,
        Q(seq__gt=asked[0] if asked is not None else 0, kind="tool", at=call.finished_at),
        Q(data__approvalId=approval.approval_id),
    )
    return about, str(ended[1].get("summary") or "").strip() if ended is not None else ""


def _row(session_pk: int, known: Q, holds: Q) -> tuple[int, JsonObject] | None:
    """Number and data of the first row of which both is true: in the order of the log, so that none behind it is looked
    at; ``holds``, what its data has to say, of those alone of which the rest is."""
    rows = Event.objects.filter(known, session=session_pk).filter(holds).order_by("seq")
    return rows.values_list("seq", "data").first()


def _moment(at: datetime | None) -> str | None:
    return instant(at) if at is not None else None


def _message(error: Any) -> str:
    return str(error.get("message") or "") if isinstance(error, dict) else ""
