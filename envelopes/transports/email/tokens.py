"""What ties a reply to the one mail that it answers: ``[approval:ID-SECRET]`` in its subject or a line of its text. The
secret is that of one mail to one user, is stored as its SHA-256 only, and decides once (D25)."""

from __future__ import annotations

import hashlib
import re
import secrets

from envelopes.models import ApprovalMail

_MARK = re.compile(r"\[approval:([A-Za-z0-9]{1,32})-([A-Za-z0-9]{32})\]")
SECRET_BYTES = 16


def new_secret() -> str:
    return secrets.token_hex(SECRET_BYTES)


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def mark(approval_id: str, secret: str) -> str:
    """How it stands in a subject."""
    return f"[approval:{approval_id}-{secret}]"


def marks_in(text: str) -> set[str]:
    """All different marks."""
    return {found[0] for found in _MARK.finditer(text)}


def approval_in(marked: str) -> str:
    """The approval that a mark names, whoever has made it; "" for what is none."""
    found = _MARK.fullmatch(marked)
    return found[1] if found is not None else ""


def mail_of(marked: str) -> ApprovalMail | None:
    """The mail whose mark that is."""
    found = _MARK.fullmatch(marked)
    if found is None:
        return None
    known = ApprovalMail.objects.select_related("approval", "approval__session", "user")
    return known.filter(token=digest_of(found[2]), asked_as=found[1]).first()
