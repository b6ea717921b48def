"""The chat's approval card in the admin: the same view, filled from the stored question and its row of the log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.safestring import SafeString

from envelopes.admin.approval_state import decider_of, state_of
from envelopes.approvals import rules
from envelopes.markup.approval import ApprovalCard, DecisionPage
from envelopes.markup.approval_rule import RULE_PREFIX
from envelopes.markup.card_states import card_state
from envelopes.markup.context import PageContext, current_locale
from envelopes.models import Approval, Event
from envelopes.part_types.approval_request import APPROVAL_REQUEST
from envelopes.protocol.time import instant
from envelopes.registries.actors import actors
from envelopes.types import JsonObject


def card(approval: Approval, form: DecisionPage) -> SafeString:
    """The card as the conversation shows it, for the reader of this page: their language, the site's time zone."""
    state = state_of(approval)
    view = ApprovalCard(
        "card",
        approval.handler,
        _call(approval),
        _about(approval),
        card_state(state) or state,
    )
    given = approval.decisions.filter(version=approval.version, decision="granted")
    view.given = [
        {"name": one.name, "role": one.role, "source": one.source, "at": one.at.isoformat()} for one in given
    ]
    if approval.decided_by.startswith(RULE_PREFIX) and approval.state == "granted":
        view.rule = approval.decided_by
    if approval.decided_at is not None:
        view.decided_at = approval.decided_at.isoformat()
        view.decided_by, view.source, view.reason = decider_of(approval), approval.source, approval.reason
    view.error = _message(approval.tool_call.error)
    return view.card(_context(approval), form)


def _call(approval: Approval) -> JsonObject:
    """What would run, as it is stored: the row of the log only says how to write it for people."""
    return {
        "approvalId": approval.approval_id,
        "toolName": approval.tool_name,
        "args": approval.args,
        "expiresAt": _moment(approval.expires_at),
    }


def _about(approval: Approval) -> JsonObject:
    rows = Event.objects.filter(
        session=approval.session_id, part_type=APPROVAL_REQUEST.name, at=approval.requested_at
    )
    for data in rows.values_list("data", flat=True):
        part = data["part"]
        if part["data"]["approvalId"] == approval.approval_id:
            return {**part["metadata"], **_stored(approval)}
    return _stored(approval)


def _stored(approval: Approval) -> JsonObject:
    return {
        "question": approval.question,
        "why": approval.why,
        "risk": approval.risk,
        "attempt": approval.attempt,
        "digest": approval.digest,
        **rules.stored(approval).told(),
    }


def _context(approval: Approval) -> PageContext:
    known = actors.get(approval.handler)
    names = {known.name: known.display_name} if known else {}
    return PageContext(approval.session.public_id, names, current_locale(), settings.TIME_ZONE)


def _moment(at: datetime | None) -> str | None:
    return instant(at) if at is not None else None


def _message(error: Any) -> str:
    return str(error.get("message") or "") if isinstance(error, dict) else ""
