"""A reply by mail, from its bytes to a decision. It counts when three things hold (D25): its token is right and has not
been used, it is from the user whom the mail was sent to, and a mail host of ours vouches for that."""

from __future__ import annotations

import logging
from typing import NamedTuple

from django.utils import timezone, translation
from django.utils.translation import gettext as _

from envelopes.access import principal
from envelopes.approvals import rights
from envelopes.approvals.exactly import AlreadyUsed, Question, QuestionChanged, decide_exactly, turn_away
from envelopes.approvals.in_words import is_cut
from envelopes.conf import conf
from envelopes.errors import AlreadyDecided, Expired, Forbidden, NotFound, Unavailable
from envelopes.markup.context import language_of
from envelopes.models import Approval, ApprovalMail
from envelopes.registries.doors import MAIL
from envelopes.transports.email.answering import answer
from envelopes.transports.email.approvers import address_of
from envelopes.transports.email.message import reads_replies
from envelopes.transports.email.reading import Mail, MailRefused, read
from envelopes.transports.email.tokens import approval_in, mail_of, marks_in
from envelopes.transports.email.vouching import vouched
from envelopes.transports.email.words import answer_in

logger = logging.getLogger(__name__)


class Received(NamedTuple):
    """``state`` is ``decided``; ``answered``, where nothing was decided and the sender has been told why; ``refused``,
    where the sender may be anybody and is told nothing; ``ignored``, where no person wrote it. ``again``: it could not
    be looked at now."""

    state: str
    told: str
    again: bool = False


def receive(raw: bytes) -> Received:
    """Read one mail, decide by it if it decides, and answer whoever is known to have sent it."""
    try:
        mail = read(raw)
        if mail.automatic:
            return _noted(Received("ignored", f"No person wrote it: {mail.automatic}."))
        request = _request(mail)
    except MailRefused as error:
        return _noted(Received("refused", error.message))
    except Unavailable as error:
        return _noted(Received("refused", error.message, again=True))
    try:
        # As the mail that is answered was written.
        with translation.override(language_of(request.approval.session.locale)):
            state, told = _decided(mail, request)
            answer(mail, request, told)
    except Unavailable as error:
        return _noted(Received("refused", error.message, again=True), request.approval)
    return _noted(Received(state, told), request.approval)


def _request(mail: Mail) -> ApprovalMail:
    """The mail that this one answers, once all three things hold. Raises ``MailRefused``; where a question is meant
    that there is, that somebody tried is recorded."""
    marks = marks_in(mail.subject) or marks_in(mail.text or "")
    if len(marks) != 1:
        raise MailRefused("It has two tokens." if marks else "It has no token of an approval.")
    mark = marks.pop()
    request = mail_of(mark)
    if request is None:
        found = rights.find(approval_in(mark))
        raise _turned_away(mail, found[0] if found is not None else None, "Its token is none of ours.")
    if not request.user.is_active or mail.sender != address_of(request.user).lower():
        told = f"It is not from the user whom approval {request.approval.approval_id} was sent to."
        raise _turned_away(mail, request.approval, told)
    if not vouched(mail.results, mail.domain, conf.BEACH_MAIL_AUTHSERV):
        told = f"No mail host of ours vouches for {mail.domain}."
        raise _turned_away(mail, request.approval, told)
    return request


def _turned_away(mail: Mail, approval: Approval | None, told: str) -> MailRefused:
    if approval is not None:
        turn_away(approval, mail.sender, answer_in(mail.text or "").decision, told, source=MAIL.name)
    return MailRefused(told)


def _decided(mail: Mail, request: ApprovalMail) -> tuple[str, str]:
    """The state, and what the sender is told."""
    approval = request.approval
    if not reads_replies(approval):
        told = _("Nothing was decided: this one is not decided by mail. Open the link in the mail.")
        who, said = principal(request.user, None), answer_in(mail.text or "")
        if said.decision:
            turn_away(approval, who, said.decision, told, source=MAIL.name, reason=said.reason)
        return "answered", told
    if mail.text is None:
        return "answered", _("Nothing was decided: your reply has no plain text. Open the link in the mail.")
    said = answer_in(mail.text)
    if not said.decision:
        return "answered", _(
            "Nothing was decided: your reply is not plainly one or the other. Reply with “approve” or “deny” alone on "
            "the first line, or open the link in the mail."
        )
    if said.decision == "granted" and is_cut(approval):
        return "answered", _(
            "Nothing was decided: what would run is too long to stand in a mail. Open the link to approve it."
        )

    def use() -> bool:
        return ApprovalMail.objects.filter(pk=request.pk, used_at=None).update(used_at=timezone.now()) == 1

    question = Question(request.asked_as, request.digest)
    try:
        done = decide_exactly(
            question,
            said.decision,
            principal(request.user, None),
            source=MAIL.name,
            reason=said.reason,
            once=use,
        )
    except (AlreadyDecided, AlreadyUsed, Expired, Forbidden, NotFound, QuestionChanged) as error:
        return "answered", f"{error.message} {_('Your reply decided nothing.')}"
    return "decided", _done(done, said.decision)


def _done(approval: Approval, decision: str) -> str:
    if approval.state == "pending":
        return _("Your decision is recorded. Others still have to decide.")
    return _("Denied. Nothing ran.") if decision == "denied" else _("Approved. It will run once.")


def _noted(done: Received, approval: Approval | None = None) -> Received:
    """In the process log, without what anybody wrote."""
    level = logging.INFO if done.state == "decided" else logging.WARNING
    about = f"approval {approval.approval_id}" if approval is not None else "an approval"
    logger.log(level, "A reply about %s was %s: %s", about, done.state, done.told)
    return done
