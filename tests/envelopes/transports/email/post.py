"""Mails about approvals as tests send and answer them."""

from __future__ import annotations

from email.message import EmailMessage
from typing import Any

from django.contrib.auth.models import User
from django.core import mail

from envelopes.models import Approval
from envelopes.transports.email.sending import send_due
from tests import factories

HOST = "mx.chat.example"
VOUCHED = f"{HOST}; dmarc=pass (p=reject) header.from=example.com; spf=pass smtp.mailfrom=example.com"


def decider(name: str, first: str = "", last: str = "", **more: Any) -> User:
    """Staff who may decide, at example.com."""
    user = factories.make_user(name, staff=True, permissions=["decide_approval"])
    User.objects.filter(pk=user.pk).update(
        email=f"{name}@example.com", first_name=first, last_name=last, **more
    )
    return User.objects.get(pk=user.pk)


def asked(note: str = "Broken cup.", **more: Any) -> Approval:
    owner = factories.make_user()
    return factories.make_approval(
        factories.make_session(owner), {"order": "A17", "amount": 40, "note": note}, **more
    )


def requested() -> Any:
    """Send what is due; the one mail that was sent."""
    send_due()
    (sent,) = mail.outbox
    mail.outbox.clear()
    return sent


def reply(
    request: Any,
    body: str = "Approve",
    *,
    sender: str = "Grace Hopper <grace@example.com>",
    results: str | None = VOUCHED,
    subject: str | None = None,
    **headers: str,
) -> bytes:
    """What a mail program sends in answer to ``request``, as our mail host hands it over."""
    answer = EmailMessage()
    if results is not None:
        answer["Authentication-Results"] = results
    answer["Received"] = f"from mail.example.com by {HOST}; Sun, 29 Nov 2026 10:00:00 +0000"
    answer["From"] = sender
    answer["To"] = "approvals@chat.example"
    answer["Subject"] = f"Re: {request.subject}" if subject is None else subject
    answer["Message-ID"] = "<a1@example.com>"
    for name, value in headers.items():
        answer[name.replace("_", "-")] = value
    quoted = "".join(f"> {line}\n" for line in request.body.splitlines())
    answer.set_content(f"{body}\n\nOn 29 Nov 2026, at 10:00, Beach <beach@localhost> wrote:\n\n{quoted}")
    return answer.as_bytes()


def stored(approval: Approval) -> Approval:
    return Approval.objects.get(pk=approval.pk)
