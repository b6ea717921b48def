"""What whoever replied is told: what came of it. Only somebody who is known to have written it is answered."""

from __future__ import annotations

import logging

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db.models import F
from django.template.loader import render_to_string

from envelopes.approvals.in_words import question_of
from envelopes.conf import conf
from envelopes.models import ApprovalMail
from envelopes.transports.email.approvers import address_of
from envelopes.transports.email.reading import Mail

ANSWERS = 5
"""How many replies to one mail are answered: two programs that answer each other come to an end."""

SUBJECT_CHARACTERS = 200

logger = logging.getLogger(__name__)


def answer(mail: Mail, request: ApprovalMail, told: str) -> None:
    """To the address of the user, not to what the mail says to answer to."""
    may = ApprovalMail.objects.filter(pk=request.pk, answers__lt=ANSWERS)
    if not may.update(answers=F("answers") + 1):
        return
    subject = " ".join(mail.subject.split())[:SUBJECT_CHARACTERS]
    headers = {"Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All"}
    if mail.message_id:
        headers |= {"In-Reply-To": mail.message_id, "References": mail.message_id}
    question = question_of(request.approval)
    message = EmailMultiAlternatives(
        subject if subject.lower().startswith("re:") else f"Re: {subject}",
        f"{question}\n\n{told}\n",
        settings.DEFAULT_FROM_EMAIL,
        [address_of(request.user)],
        reply_to=[conf.BEACH_MAIL_REPLY_TO] if conf.BEACH_MAIL_REPLY_TO else None,
        headers=headers,
    )
    html = render_to_string("beach/mail/result.html", {"question": question, "told": told})
    message.attach_alternative(html, "text/html")
    try:
        message.send()
    except Exception:
        # What was decided is decided, whether or not they hear of it this way.
        logger.exception("An answer to a reply about approval %s was not sent.", request.approval.approval_id)
