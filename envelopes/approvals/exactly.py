"""Decisions that come from outside of the site's own pages: a link, a mail, a button elsewhere. Each is about one exact
question, and counts once. The service decides, as everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from django.db import transaction

from envelopes.access import Principal
from envelopes.approvals.service import decide
from envelopes.errors import AlreadyDecided, BeachError, Conflict, Expired, NotFound
from envelopes.models import Approval, Session


class Question(NamedTuple):
    """What somebody was sent: the approval, and the digest of the call that was in it then."""

    approval_id: str
    digest: str


class QuestionChanged(Conflict):
    """The question has been changed since this was sent. Nothing was decided."""


class AlreadyUsed(Conflict):
    """This has been used already. Nothing was decided."""


def find(approval_id: str) -> Approval | None:
    """The approval, with what its card needs; None for an id that is none."""
    # What is no id at all is not looked for: databases refuse some texts.
    if not (approval_id.isascii() and approval_id.isalnum()):
        return None
    known = Approval.objects.select_related("session", "turn", "tool_call", "decided_by_user")
    return known.filter(approval_id=approval_id).first()


def decide_exactly(
    question: Question,
    decision: str,
    who: Principal,
    *,
    source: str,
    reason: str = "",
    once: Callable[[], bool] | None = None,
) -> Approval:
    """Decide what was asked by ``question`` and nothing else.

    ``once`` uses up whatever was sent, and says whether it was there to be used; it comes back with the transaction
    where nothing was decided for another reason than being late. The same decision of the same one through the same
    door is a repeat, and nobody was late. Raises what ``service.decide`` does, ``QuestionChanged`` and ``AlreadyUsed``.
    """
    with transaction.atomic():
        approval = find(question.approval_id)
        if approval is None:
            raise NotFound("This request does not exist, or you do not have access to it.")
        # Nobody edits or decides it from here on.
        Session.objects.select_for_update().filter(pk=approval.session_id).first()
        approval.refresh_from_db()
        if (approval.state, approval.decided_by, approval.source) == (decision, who.key, source):
            return approval
        if approval.digest != question.digest:
            raise QuestionChanged
        if once is not None and not once():
            raise AlreadyUsed
        try:
            return decide(question.approval_id, decision, who, reason=reason, source=source)
        except (AlreadyDecided, Expired) as error:
            # Not out of the block: what was recorded stays.
            late: BeachError = error
    raise late
