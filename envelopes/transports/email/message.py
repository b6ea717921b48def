"""The mail about an approval: its card in words, and how to answer. Text and HTML say the same."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import translation

from envelopes.approvals.in_words import anew_of, behalf_of, facts_of, name_of, question_of, risk_of
from envelopes.approvals.links import address_of as link_address
from envelopes.approvals.links import token_for, wants_login
from envelopes.conf import conf
from envelopes.markup.context import language_of
from envelopes.models import Approval
from envelopes.protocol.text import shorten
from envelopes.registries.actors import agent_name
from envelopes.transports.email.approvers import address_of
from envelopes.transports.email.tokens import mark

SUBJECT_CHARACTERS = 120
"""How much of a question stands in a subject; all of it is in the mail."""


def reads_replies(approval: Approval) -> bool:
    """Whether a reply may decide this one: somebody reads and vouches for them, and no sign-in is wanted."""
    return bool(conf.BEACH_MAIL_REPLY_TO and conf.BEACH_MAIL_AUTHSERV) and not wants_login(approval)


def request_for(approval: Approval, user: Any, secret: str) -> EmailMultiAlternatives:
    """The mail to ``user``, in the conversation's language. Raises ``NoSiteAddress``."""
    link = link_address(token_for(approval, user))
    with translation.override(language_of(approval.session.locale)):
        facts = facts_of(approval)
        told = {
            "question": question_of(approval),
            "why": " ".join(approval.why.split()),
            "anew": " ".join(anew_of(approval).split()),
            "agent": agent_name(approval.handler),
            "owner": behalf_of(approval),
            "risk": risk_of(approval),
            "attempt": approval.attempt,
            "facts": facts,
            "is_cut": any(fact.more for fact in facts),
            "tool": approval.tool_name,
            "digest": " ".join(approval.digest[at : at + 8] for at in range(0, 64, 8)),
            "expires": approval.expires_at,
            "link": link,
            "login": wants_login(approval),
            "replies": reads_replies(approval),
            "mark": mark(approval.approval_id, secret),
            "addressee": name_of(user),
        }
        question = shorten(question_of(approval), SUBJECT_CHARACTERS)
        message = EmailMultiAlternatives(
            f"{question} {mark(approval.approval_id, secret)}",
            render_to_string("beach/mail/request.txt", told),
            settings.DEFAULT_FROM_EMAIL,
            [address_of(user)],
            reply_to=[conf.BEACH_MAIL_REPLY_TO] if told["replies"] else None,
            headers={"Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All"},
        )
        message.attach_alternative(render_to_string("beach/mail/request.html", told), "text/html")
    return message
