"""Decisions that come from outside of the site's own pages: a link, a mail, a button elsewhere. Each is about one exact
question, and counts once. The service decides, as everywhere."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from django.db import InterfaceError, OperationalError, transaction
from django.utils.translation import gettext as _

from envelopes import audit
from envelopes.access import Principal
from envelopes.approvals import rights
from envelopes.approvals.service import decide
from envelopes.errors import AlreadyDecided, BeachError, Conflict, Expired, Forbidden, NotFound, Unavailable
from envelopes.log.append import writing
from envelopes.models import Approval, ApprovalVersion, Session

logger = logging.getLogger(__name__)


class Question(NamedTuple):
    """What somebody was sent: the approval, and the digest of the call that was in it then."""

    approval_id: str
    digest: str


class QuestionChanged(Conflict):
    """The question has been changed since this was sent."""


class AlreadyUsed(Conflict):
    """This has been used already."""


def find(question: Question) -> tuple[Approval, ApprovalVersion | None] | None:
    """The approval that is meant, and the version that was asked about, where another is asked by now; None for an id
    that is none."""
    found = rights.find(question.approval_id) if question.approval_id.isascii() else None
    if found is not None and found[1] is None and found[0].digest != question.digest:
        raise QuestionChanged
    return found


@contextmanager
def waited_for() -> Iterator[None]:
    """Round a decision. Raises ``Unavailable`` where the database cannot be reached, or others have the conversation
    for longer than anybody waits: nothing was decided, and whoever decides may do so again."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        logger.warning("A decision has to wait for the database: %r", error)
        raise Unavailable(_("The database cannot be reached at the moment. Try again in a while.")) from error


@waited_for()
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

    ``once`` uses up whatever was sent, and says whether it was there to be used; where the database fails, that comes
    back with the transaction. The same decision of the same one through the same
    door is a repeat, and nobody was late. Raises what ``service.decide`` does, ``QuestionChanged``, ``AlreadyUsed`` and
    ``Unavailable``; that somebody tried is recorded.
    """
    with transaction.atomic():
        found = find(question)
        if found is None:
            raise NotFound("This request does not exist, or you do not have access to it.")
        # Nobody edits or decides it from here on.
        Session.objects.select_for_update().filter(pk=found[0].session_id).first()
        approval, was = find(question) or found
        given = approval.decisions.filter(version=approval.version, by=who.key, source=source)
        if was is None and given.filter(decision=decision).exists():
            return approval
        try:
            if once is None or once():
                return decide(question.approval_id, decision, who, reason=reason, source=source)
            late: BeachError = AlreadyUsed()
        except (AlreadyDecided, Expired, Forbidden, NotFound) as error:
            # Not out of the block: what was recorded stays.
            late = error
        if isinstance(late, AlreadyUsed | Forbidden | NotFound):
            with writing(approval.session_id) as writer:
                audit.refused(writer, approval, who, decision, late, door=source, reason=reason)
    raise late


@waited_for()
def turn_away(
    approval: Approval, who: Principal | str, decision: str, why: str, *, source: str, reason: str = ""
) -> None:
    """Record that somebody tried to decide by what may not decide: a principal, or, of people whom nobody knows here,
    what they call themselves. Nothing is decided. Of the latter only so many: anybody may try."""
    if isinstance(who, str) and not audit.has_room(approval, source):
        return
    # Of a conversation that was erased meanwhile there is nothing to record.
    with suppress(NotFound), writing(approval.session_id) as writer:
        if isinstance(who, str):
            audit.turned_away(writer, approval, who, decision, why, door=source)
        else:
            audit.refused(writer, approval, who, decision, Forbidden(why), door=source, reason=reason)
