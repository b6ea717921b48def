"""Signed links to one question: who may answer by one, what it is bound to, how long it holds.

A link is a text that the site has signed, so nothing of it is stored until it is used. It names the approval, the
digest of the exact call, and the one user it was made for; a change of their password or address ends it.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core import signing
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac

from envelopes.access import Principal, principal
from envelopes.approvals.exactly import Question
from envelopes.approvals.rules import stored
from envelopes.conf import conf
from envelopes.errors import BeachError, Expired, Forbidden, NotFound
from envelopes.models import Approval
from envelopes.nonces import DatabaseNonces
from envelopes.protocol.time import instant_at

_SALT = "beach.approval-link"
LONGEST = 1_024
"""Characters of a link's own part; one that we have made has some 200."""

_used = DatabaseNonces("approval-link")


class NoSiteAddress(BeachError):
    """Links need the address of the site: set BEACH_SITE_URL."""

    fault = "configuration"


@dataclass(frozen=True)
class Link:
    """What a link says, once its signature has been checked."""

    token: str
    question: Question
    user: Any
    nonce: str
    until: int
    """Seconds since 1970."""

    @property
    def who(self) -> Principal:
        """Whom it was made for, as every door sees them."""
        return principal(self.user, None)

    def use(self) -> bool:
        """Use it up, once; False where it has been."""
        return _used.use(self.nonce, self.until)

    def is_used(self) -> bool:
        """Whether somebody has."""
        return _used.is_used(self.nonce)


def token_for(approval: Approval, user: Any, *, seconds: float | None = None) -> str:
    """The signed part of a link for ``user``, an account. It holds for ``seconds``, by default BEACH_LINK_SECONDS."""
    held = conf.BEACH_LINK_SECONDS if seconds is None else seconds
    told = [
        approval.approval_id,
        approval.digest,
        str(user.pk),
        secrets.token_urlsafe(12),
        int(time.time() + held),
        _stamp(user, settings.SECRET_KEY),
    ]
    return signing.dumps(told, salt=_SALT)


def address_of(token: str) -> str:
    """The whole link. Raises ``NoSiteAddress``."""
    if not conf.BEACH_SITE_URL:
        raise NoSiteAddress
    return conf.BEACH_SITE_URL.rstrip("/") + reverse("envelopes:approval-link", args=[token])


def read(token: str) -> Link:
    """Raises ``NotFound`` for what is no link of ours, ``Expired`` when it has, ``Forbidden`` for one of an account
    that is gone, blocked, or has another password or address since."""
    try:
        told = signing.loads(token, salt=_SALT) if len(token) <= LONGEST else None
    except signing.BadSignature:
        told = None
    if told is None:
        raise NotFound("This link is not valid. Check that all of it was copied.")
    approval_id, digest, key, nonce, until, stamp = told
    if until <= time.time():
        raise Expired("This link has expired.", until=instant_at(until))
    user = get_user_model()._default_manager.filter(pk=key).first()
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    current = user is not None and any(constant_time_compare(stamp, _stamp(user, key)) for key in keys)
    if user is None or not (user.is_active and current):
        raise Forbidden("This link no longer counts: the account it was made for has changed.")
    return Link(token, Question(approval_id, digest), user, nonce, until)


def wants_login(approval: Approval) -> bool:
    """Whether who brings something that was sent, and no more, may not decide this one: by the settings
    (BEACH_LINK_LOGIN), or by the rule that it was asked by."""
    wanted = conf.BEACH_LINK_LOGIN
    return wanted == "always" or (wanted == "high" and approval.risk == "high") or stored(approval).login


def _stamp(user: Any, key: str | bytes) -> str:
    """Another one when the account has another password or address."""
    address = getattr(user, user.get_email_field_name(), "")
    return salted_hmac(_SALT, f"{user.pk}\0{user.password}\0{address}", secret=key).hexdigest()[:16]
