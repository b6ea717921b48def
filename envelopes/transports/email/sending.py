"""Mails about approvals that wait: who hears of a question is looked for once, and each mail is given to the mail
server once. A question that is asked anew, edited or after its time, is another one.

A mail is claimed before it is given away. One that was refused is tried again; of one that was cut off in between
nobody knows whether it went out, so it is left (as a tool's call is, D19).
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import NamedTuple

from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.utils import timezone

from envelopes import audit
from envelopes.approvals.in_words import name_of
from envelopes.approvals.stored import unnoticed
from envelopes.conf import conf
from envelopes.log.append import writing
from envelopes.models import Approval, ApprovalMail, ApprovalNotice
from envelopes.models.audit import AuditKind
from envelopes.registries.doors import MAIL
from envelopes.transports.email.approvers import approvers_of, may_decide
from envelopes.transports.email.message import request_for
from envelopes.transports.email.tokens import digest_of, new_secret
from envelopes.types import Json

ATTEMPTS = 4
"""How often a mail is tried."""

AGAIN_SECONDS = (10, 60, 240)
AT_ONCE = 50
"""Approvals looked at in one go."""

logger = logging.getLogger(__name__)


class Claimed(NamedTuple):
    """A mail that is this process's to send."""

    pk: int
    message: EmailMultiAlternatives


def queue_due() -> int:
    """Queue a mail for each who is to hear of an approval that has waited long enough; returns of how many."""
    if conf.BEACH_APPROVAL_MAIL == "off":
        return 0
    due = unnoticed(conf.BEACH_APPROVAL_MAIL_SECONDS, AT_ONCE)
    return sum(_queue(approval) for approval in due)


def _queue(approval: Approval) -> bool:
    with transaction.atomic():
        _, made = ApprovalNotice.objects.get_or_create(approval=approval, asked_as=approval.approval_id)
        users = approvers_of(approval) if made else []
        ApprovalMail.objects.bulk_create(
            ApprovalMail(approval=approval, user=user, asked_as=approval.approval_id, digest=approval.digest)
            for user in users
        )
        if users:
            told: dict[str, Json] = {"names": [name_of(user) for user in users]}
            with writing(approval.session_id) as writer:
                audit.record(
                    writer,
                    AuditKind.NOTIFIED,
                    approval,
                    by="policy:mail",
                    role=audit.RULE,
                    door=MAIL.name,
                    facts={"count": len(users)},
                    details=told,
                )
    return made


def claim_next() -> Claimed | None:
    """The next mail to send, which nobody else sends from now on. What there is nothing left to ask in is dropped."""
    while True:
        mails = ApprovalMail.objects.select_related("approval", "approval__session", "user")
        mail = mails.filter(state="queued", next_at__lte=timezone.now()).order_by("next_at", "pk").first()
        if mail is None:
            return None
        mine = ApprovalMail.objects.filter(pk=mail.pk, state="queued", attempts=mail.attempts)
        if not _asks(mail):
            mine.update(state="dropped")
            continue
        secret = new_secret()
        attempts = mail.attempts + 1
        if not mine.update(state="sending", attempts=attempts, token=digest_of(secret)):
            continue
        try:
            return Claimed(mail.pk, request_for(mail.approval, mail.user, secret))
        except Exception as error:
            # One that cannot be written must keep no other from being sent.
            logger.exception("A mail about approval %s could not be written.", mail.approval_id)
            failed(mail.pk, error)


def _asks(mail: ApprovalMail) -> bool:
    approval = mail.approval
    is_over = approval.expires_at is not None and approval.expires_at <= timezone.now()
    asked = approval.state == "pending" and not is_over and approval.approval_id == mail.asked_as
    return asked and may_decide(approval, mail.user)


def sent(pk: int) -> None:
    """The mail server has it."""
    ApprovalMail.objects.filter(pk=pk).update(state="sent", sent_at=timezone.now(), error="")


def failed(pk: int, error: Exception) -> None:
    """It has refused it; it is tried again in a while, or no more."""
    mail = ApprovalMail.objects.get(pk=pk)
    logger.warning("A mail about approval %s was not sent: %s", mail.approval_id, error)
    mail.error = f"{type(error).__name__}: {error}"[:256]
    if mail.attempts >= ATTEMPTS:
        mail.state = "failed"
    else:
        mail.state = "queued"
        mail.next_at = timezone.now() + timedelta(seconds=AGAIN_SECONDS[mail.attempts - 1])
    mail.save(update_fields=["state", "next_at", "error"])


def send_due() -> int:
    """All that is due, one after the other; returns how many were sent."""
    queue_due()
    count = 0
    while (claimed := claim_next()) is not None:
        count += deliver(claimed)
    return count


def deliver(claimed: Claimed) -> bool:
    """Give a mail to the mail server; whether that took it. May take as long as that does."""
    try:
        claimed.message.send()
    except Exception as error:  # noqa: BLE001 - each backend has errors of its own, and the mail is tried again
        failed(claimed.pk, error)
        return False
    sent(claimed.pk)
    return True
