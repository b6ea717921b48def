"""Who may see and do what: the one rule for a session, used by socket, HTTP and admin alike (R10).

A session is visible to its owner and to staff who may view sessions. Only its owner acts in it. An approval is
decided by the session's owner or by a user with ``envelopes.decide_approval``.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AnonymousUser
from django.core import signing
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.crypto import salted_hmac

from envelopes.conf import flag
from envelopes.errors import Conflict, NotFound
from envelopes.models import ClientMessage, Participant, Session

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

COOKIE = "beach_owner"
_SALT = "beach.owner"
_YEAR = 365 * 24 * 3600


@dataclass(frozen=True)
class Principal:
    """Who is asking: a user, a browser with the owner cookie, or nobody.

    ``key`` names it in dedupe tables and logs without telling who it is; empty for nobody.
    """

    user: Any = None
    owner_key: str = ""
    name: str = ""

    @property
    def key(self) -> str:
        return _principal_key(self.user.pk if self.user is not None else None, self.owner_key)

    @property
    def is_known(self) -> bool:
        return self.user is not None or bool(self.owner_key)

    def may_view_all(self) -> bool:
        return self.user is not None and self.user.is_staff and self.user.has_perm("envelopes.view_session")

    def may_decide_all(self) -> bool:
        return (
            self.user is not None and self.user.is_staff and self.user.has_perm("envelopes.decide_approval")
        )


def _principal_key(user: int | None, owner_key: str) -> str:
    if user is not None:
        return f"user:{user}"
    return f"anonymous:{owner_key[:32]}" if owner_key else ""


NOBODY = Principal()


def principal(user: Any, cookie: str | None) -> Principal:
    """The principal behind a Django user and the value of the owner cookie."""
    if user is not None and not isinstance(user, AnonymousUser) and user.is_authenticated and user.is_active:
        return Principal(user=user, name=user.get_short_name() or user.get_username())
    if cookie and flag("BEACH_ANONYMOUS"):
        try:
            token = signing.loads(cookie, salt=_SALT, max_age=_YEAR)
        except signing.BadSignature:
            return NOBODY
        return Principal(owner_key=_key(token))
    return NOBODY


def principal_of(request: HttpRequest) -> Principal:
    return principal(request.user, request.COOKIES.get(COOKIE))


def _key(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def new_anonymous_owner(key: str = "") -> tuple[Principal, str]:
    """A principal for a browser that has none yet, and the cookie value that stands for it.

    ``key``: a secret that the browser made up (see ``begin_session``). The same one gives the same principal, so a
    browser that did not get the answer with its cookie asks again and gets it.
    """
    token = _token(key) if key else secrets.token_urlsafe(32)
    return Principal(owner_key=_key(token)), signing.dumps(token, salt=_SALT)


def _token(key: str) -> str:
    """The token of whoever began a conversation with this key and without a cookie; nobody else can derive it."""
    return salted_hmac(_SALT, key, algorithm="sha256").hexdigest()


def set_owner_cookie(response: HttpResponse, value: str, *, secure: bool) -> None:
    response.set_cookie(COOKIE, value, max_age=_YEAR, httponly=True, samesite="Lax", secure=secure)


def _owned_by(who: Principal) -> Q:
    if who.user is not None:
        return Q(role=Participant.Role.OWNER, user=who.user)
    return Q(role=Participant.Role.OWNER, owner_key=who.owner_key, user__isnull=True)


def owned_sessions(who: Principal) -> QuerySet[Session]:
    """The sessions in which ``who`` may act."""
    if not who.is_known:
        return Session.objects.none()
    # From the participant to the session: EXISTS would make SQLite look at everybody's sessions to find a person's few.
    return Session.objects.filter(pk__in=Participant.objects.filter(_owned_by(who)).values("session"))


def visible_sessions(who: Principal) -> QuerySet[Session]:
    """The sessions that ``who`` may see."""
    return Session.objects.all() if who.may_view_all() else owned_sessions(who)


def sessions_for(who: Principal) -> QuerySet[Session]:
    """What the sidebar lists: the principal's own conversations, newest first."""
    return owned_sessions(who)


def get_session(who: Principal, public_id: str) -> Session:
    """Raises ``NotFound``, with the same sentence whether it does not exist or is not theirs."""
    # What is no id at all is not looked for: a NUL in it would be an error of the database.
    session = visible_sessions(who).filter(public_id=public_id).first() if public_id.isalnum() else None
    if session is None:
        raise NotFound("There is no such conversation, or it is not yours.")
    return session


def owns(who: Principal, session: Session) -> bool:
    return who.is_known and session.participants.filter(_owned_by(who)).exists()


def owner_keys(sessions: Iterable[int]) -> dict[str, set[int]]:
    """Which of ``sessions`` (primary keys) are whose: by ``Principal.key`` of the owner. One query."""
    found: dict[str, set[int]] = {}
    owners = Participant.objects.filter(role=Participant.Role.OWNER, session__in=list(sessions))
    for session, user, owner_key in owners.values_list("session", "user", "owner_key"):
        if key := _principal_key(user, owner_key):
            found.setdefault(key, set()).add(session)
    return found


def may_decide(who: Principal, session: Session) -> bool:
    return owns(who, session) or who.may_decide_all()


def create_session(who: Principal, actor: str, *, locale: str = "en-US", timezone: str = "UTC") -> Session:
    """A new conversation of ``who`` with ``actor``."""
    session = Session.objects.create(actor=actor, locale=locale, timezone=timezone)
    _add_participants(session, who)
    return session


def _add_participants(session: Session, who: Principal) -> None:
    Participant.objects.create(
        session=session,
        role=Participant.Role.OWNER,
        user=who.user,
        owner_key="" if who.user else who.owner_key,
        name=who.name,
    )
    Participant.objects.create(session=session, role=Participant.Role.AGENT, name=session.actor)


def begin_session(
    who: Principal, actor: str, key: str, *, locale: str = "en-US", timezone: str = "UTC"
) -> tuple[Session, bool]:
    """The conversation that ``who`` began with this key, and whether it was made just now (D62).

    ``key`` is a secret of the page, at least 128 random bits. A conversation that was begun with it before this browser
    had a name belongs to whoever brings the key: the answer with the cookie may have been lost, or its reader may have
    signed in since. Raises ``Conflict`` for a key of somebody else.
    """
    made_with = _key(f"{_SALT}.key:{key}")
    with transaction.atomic():
        session, made = Session.objects.get_or_create(
            made_with=made_with, defaults={"actor": actor, "locale": locale, "timezone": timezone}
        )
        if made:
            _add_participants(session, who)
        elif not owns(who, session):
            nameless = session.participants.filter(owner_key=_key(_token(key)), user__isnull=True)
            taken = nameless.update(user=who.user, owner_key="" if who.user else who.owner_key, name=who.name)
            # Asked again: it may have become theirs since, by a request of their own at the same moment.
            if not taken and not owns(who, session):
                raise Conflict("This key belongs to another conversation.")
    return session, made


def adopt_sessions(user: Any, cookie: str | None) -> int:
    """Hand the sessions of an anonymous browser to the user who has just signed in on it; returns how many.

    What the browser had sent goes along: it sends again what it has no answer to, and that is a repeat.
    """
    who = principal(None, cookie)
    if not who.owner_key:
        return 0
    with transaction.atomic():
        mine = Participant.objects.filter(owner_key=who.owner_key, user__isnull=True)
        sent = ClientMessage.objects.filter(session__in=mine.values("session"), principal=who.key)
        sent.update(principal=Principal(user=user).key)
        return mine.update(user=user, owner_key="")
