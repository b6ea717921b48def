"""What rows do to approval cards: the question, the decision, the outcome, the end of the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envelopes.markup.approval_rule import RULE_PREFIX
from envelopes.markup.card_states import card_state
from envelopes.transports.panel.presenter.approval import ApprovalView

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext


def request(context: RowContext) -> None:
    """An approval-request part. Two cards for one question would be two answers: a repeat only redraws the first."""
    known = _find(context, str(context.data.get("approvalId") or ""), None)
    if known is not None:
        return
    about = {key: value for key, value in context.metadata.items() if key != "partType"}
    before = _find(context, str(about.get("replaces") or ""), None) if "replaces" in about else None
    if before is not None:
        # Asked anew, where it was asked: what others had said of the old question does not count for this one.
        before.call, before.about, before.given = context.data, about, []
        context.model.touch(before)
        return
    context.model.add(
        context.segment(), ApprovalView(context.new_id(), context.row.actor, context.data, about)
    )


def respond(context: RowContext) -> None:
    """An approval-response part."""
    data = context.data
    card = _find(context, str(data.get("approvalId") or ""), None)
    if card is None or card.state != "pending":
        return
    # The part says who for the record, as a key; people get the name that stands beside it, if there is one.
    name = str(context.metadata.get("decidedByName") or "")
    card.decided_by = "" if name == "you" else name
    by = str(data.get("decidedBy") or "")
    card.rule = by if by.startswith(RULE_PREFIX) and data.get("reason") != "expired" else ""
    several = context.metadata.get("decisions")
    if isinstance(several, list):
        card.given = [one for one in several if isinstance(one, dict) and one.get("decision") == "granted"]
    card.source = str(context.metadata.get("source") or "")
    card.decided_at = context.at
    card.reason = str(data.get("reason") or "")
    if data.get("decision") == "granted":
        card.state = "running"
    else:
        card.state = "expired" if card.reason == "expired" else "denied"
    context.model.touch(card)


def granted(context: RowContext) -> None:
    """A grant row: one of several who have to approve has."""
    data = context.row.data
    card = _find(context, str(data.get("approvalId") or ""), None)
    if card is None or card.state != "pending":
        return
    card.given = [
        *card.given,
        {**{name: data.get(name) for name in ("name", "role", "source", "reason")}, "at": context.at},
    ]
    context.model.touch(card)


def outcome(context: RowContext) -> None:
    """A tool row: what became of the call. It may still come after the turn has settled."""
    data = context.row.data
    card = _find(context, str(data.get("approvalId") or ""), str(data.get("callId") or ""))
    state = card_state(data.get("state"))
    if card is None or state is None or card.settled or (card.state == "unknown" and state == "running"):
        return
    card.state = state
    if state != "pending" and not card.decided_at:
        card.decided_at = context.at
    card.summary = _sentence(data.get("summary"))
    card.error = _sentence(data.get("error"))
    context.model.touch(card)


def close(context: RowContext, turn: int) -> None:
    """The turn settled: its open questions are void, and what still ran has no known end."""
    for card in context.model.of_turn(turn, ApprovalView):
        if card.state not in ("pending", "running"):
            continue
        card.state = "withdrawn" if card.state == "pending" else "unknown"
        context.model.touch(card)


def _find(context: RowContext, approval_id: str, call_id: str | None) -> ApprovalView | None:
    key = ("approval", approval_id) if approval_id else ("call", call_id or "")
    return next(iter(context.model.found(key, ApprovalView)), None)


def _sentence(value: object) -> str:
    """``summary`` is a sentence; ``error`` may be one, or an error as the log holds it."""
    if isinstance(value, dict):
        value = value.get("message")
    return value.strip() if isinstance(value, str) else ""
