"""Who may see and do what: the one rule for a session, used by socket, HTTP and admin alike (R10).

A session is visible to its owner and to staff who may view sessions. Its owner acts in it; staff who may operate it
write in it where its agent's policy says so. Who decides an approval is a rule of its own (``approvals.rights``).
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser
from django.core import signing
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.crypto import salted_hmac

from envelopes.came_from import address_of
from envelopes.conf import conf
from envelopes.errors import Conflict, NotFound
from envelopes.models import Approval, ClientMessage, ConversationFacts, Participant, Session, Turn
from envelopes.models.searched import STALE
from envelopes.prepared import Prepared
from envelopes.registries.statuses import BUSY
from envelopes.types import PROGRAMS, PrincipalKind, ProgramKind

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

COOKIE = "beach_owner"
_SALT, _YEAR = "beach.owner", 365 * 24 * 3600
_PROGRAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,55}")


@dataclass(frozen=True)
class Principal:
    """Who is asking: a person (a user), a guest (a browser with the owner cookie), a program (``program``), or nobody.

    ``owner_key`` is what a session knows an owner without an account by: the SHA-256 of a guest's cookie, or what a
    program is called (``peer:7``). ``consumes``: the part types that its card names; ``decides``: it may answer
    approvals whose policy names it. ``address`` is where they come from, where their door knows. ``key`` names it in
    tables and logs without telling who it is; "" for nobody.
    """

    user: Any = None
    owner_key: str = ""
    name: str = ""
    consumes: frozenset[str] = frozenset()
    decides: bool = False
    address: str = field(default="", compare=False, repr=False)

    @property
    def key(self) -> str:
        return principal_key(self.user.pk if self.user is not None else None, self.owner_key)

    @property
    def kind(self) -> PrincipalKind | None:
        """None for nobody."""
        if self.user is not None:
            return "person"
        return _program_kind(self.owner_key) or ("guest" if self.owner_key else None)

    @property
    def is_known(self) -> bool:
        return self.user is not None or bool(self.owner_key)

    def _may(self, right: str) -> bool:
        return self.user is not None and self.user.is_staff and self.user.has_perm(f"envelopes.{right}")

    def may_view_all(self) -> bool:
        return self._may("view_session")

    def may_operate(self) -> bool:
        return self.may_view_all() and self._may("operate_session")

    def may_decide_all(self) -> bool:
        return self._may("decide_approval")


def principal_key(user: int | None, owner_key: str) -> str:
    if user is not None:
        return f"user:{user}"
    if _program_kind(owner_key):
        return owner_key
    return f"anonymous:{owner_key[:32]}" if owner_key else ""


def _program_kind(owner_key: str) -> ProgramKind | None:
    return next((kind for kind in PROGRAMS if owner_key.startswith(f"{kind}:")), None)


NOBODY = Principal()


def program(kind: ProgramKind, identity: str, *, name: str = "", consumes: Iterable[str] = ()) -> Principal:
    """A program that its door has authenticated, of which nothing more is asked here.

    ``identity`` is what it is called for good, whatever its token is today: whoever brings it again owns the same
    conversations. Raises ``ValueError`` for one that is not 1 to 56 ASCII letters, digits, ``_``, ``.`` and ``-``.
    """
    if not _PROGRAM.fullmatch(identity):
        raise ValueError(f"{identity!r} is not what a program can be called.")
    return Principal(owner_key=f"{kind}:{identity}", name=name or identity, consumes=frozenset(consumes))


def principal(user: Any, cookie: str | None) -> Principal:
    """The principal behind a Django user and the value of the owner cookie."""
    if user is not None and not isinstance(user, AnonymousUser) and user.is_authenticated and user.is_active:
        return Principal(user=user, name=user.get_short_name() or user.get_username())
    if cookie and conf.BEACH_ANONYMOUS:
        try:
            token = signing.loads(cookie, salt=_SALT, max_age=_YEAR)
        except signing.BadSignature:
            return NOBODY
        return Principal(owner_key=_key(token))
    return NOBODY


def principal_of(request: HttpRequest) -> Principal:
    """Whoever asks, with the address that they come from."""
    return replace(principal(request.user, request.COOKIES.get(COOKIE)), address=address_of(request))


def principal_now(session_key: str | None, cookie: str | None) -> Principal:
    """The principal behind the key of a login and the owner cookie as they count now, read from the session store: a
    request and a socket have read it once."""
    user = None
    # A quoted cookie may hold NUL, which is no text for PostgreSQL.
    if session_key and "\0" not in session_key:
        store = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
        # get_user checks the session's hash, so a changed password ends it too.
        user = get_user(SimpleNamespace(session=store))  # type: ignore[arg-type]
    return principal(user, cookie)


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


def _owned_by(who: Principal, participant: str = "") -> Q:
    """That a participant owns its session as ``who``; ``participant`` is the way there, with two underscores."""
    guest = {"owner_key": who.owner_key, "user__isnull": True}
    terms = {"role": Participant.Role.OWNER, **(guest if who.user is None else {"user": who.user})}
    return Q(**{f"{participant}{name}": value for name, value in terms.items()})


def owned_sessions(who: Principal) -> QuerySet[Session]:
    """The sessions in which ``who`` may act, newest first: what a sidebar lists."""
    if not who.is_known:
        return Session.objects.none()
    # From the participant to the session: EXISTS would make SQLite look at everybody's sessions to find a person's few.
    return Session.objects.filter(pk__in=Participant.objects.filter(_owned_by(who)).values("session"))


def visible_sessions(who: Principal, public_id: str | None = None) -> QuerySet[Session]:
    """The sessions that ``who`` may see; with ``public_id``, only the one of that name, if they may see it."""
    if public_id is None:
        return Session.objects.all() if who.may_view_all() else owned_sessions(who)
    named = _named(public_id)
    if who.may_view_all():
        return named
    return named.filter(_owned_by(who, "participants__")) if who.is_known else named.none()


def _named(public_id: str) -> QuerySet[Session]:
    return Session.objects.filter(public_id=public_id)


def with_news(sessions: QuerySet[Session], asked: QuerySet[Approval]) -> QuerySet[Any]:
    """``sessions`` with what a list says of each: ``waiting`` for an answer to one of the questions ``asked``,
    ``working``. Still one query."""
    return sessions.annotate(
        waiting=Exists(asked.filter(session=OuterRef("pk"))),
        working=Q(Exists(Turn.objects.filter(session=OuterRef("pk"), status__in=BUSY))) & Q(taken_by=""),
    )


def get_session(who: Principal, public_id: str) -> Session:
    """Raises ``NotFound``, with the same sentence whether it does not exist or is not theirs."""
    session = None
    # What is no id at all is not looked for: a NUL in it would be an error of the database.
    if who.is_known and public_id.isalnum():
        if who.may_view_all():
            session = visible_sessions(who, public_id).first()
        elif who.user is not None:
            session = _OF_PERSON.instance(Session, public_id, who.user.pk)
        else:
            session = _OF_GUEST.instance(Session, public_id, who.owner_key)
    if session is None:
        raise NotFound("There is no such conversation, or it is not yours.")
    return session


# The rule itself, compiled.
_OF_PERSON = Prepared(
    lambda public_id, user: _named(public_id).filter(_owned_by(Principal(user=user), "participants__"))[:1],
    "prepared id",
    2**53,
)
_OF_GUEST = Prepared(
    lambda public_id, key: visible_sessions(Principal(owner_key=key), public_id)[:1],
    "prepared id",
    "prepared key",
)


def admitted(who: Principal, public_id: str) -> tuple[Session, bool]:
    """The session, and whether ``who`` may act in it: ``get_session`` and ``owns`` with as few queries as it takes.
    Raises ``NotFound``."""
    session = get_session(who, public_id)
    # Whoever does not see them all sees their own ones only.
    return session, not who.may_view_all() or owns(who, session)


def owns(who: Principal, session: Session) -> bool:
    return who.is_known and session.participants.filter(_owned_by(who)).exists()


def ownership(who: Principal, session_pk: int) -> tuple[str, tuple[Any, ...]]:
    """The same question as ``owns`` for a WHERE on the table of sessions, to be asked and acted on in one statement:
    SQL that begins with AND, and its values."""
    if not who.is_known:
        return " AND 1 = 0", ()
    asked, name = (
        (_OWNED_BY_PERSON, who.user.pk) if who.user is not None else (_OWNED_BY_GUEST, who.owner_key)
    )
    sql, values = asked.statement(name, session_pk)
    return f" AND id IN ({sql})", tuple(values)


def _owned(who: Principal, session_pk: int) -> QuerySet[Any, Any]:
    return Participant.objects.filter(_owned_by(who), session=session_pk).order_by().values("session_id")


_OWNED_BY_PERSON = Prepared(
    lambda user, session_pk: _owned(Principal(user=user), session_pk), 2**53, 2**53 - 1
)
_OWNED_BY_GUEST = Prepared(
    lambda key, session_pk: _owned(Principal(owner_key=key), session_pk), "prepared key", 2**53
)


def owner_keys(sessions: Iterable[int]) -> dict[str, set[int]]:
    """Which of ``sessions`` (primary keys) are whose: by ``Principal.key`` of the owner. One query."""
    found: dict[str, set[int]] = {}
    owners = Participant.objects.filter(role=Participant.Role.OWNER, session__in=list(sessions))
    for session, user, owner_key in owners.values_list("session", "user", "owner_key"):
        if key := principal_key(user, owner_key):
            found.setdefault(key, set()).add(session)
    return found


def _as_owner(who: Principal) -> dict[str, Any]:
    return {"user": who.user, "owner_key": "" if who.user else who.owner_key, "name": who.name}


def _add_participants(session: Session, who: Principal) -> None:
    Participant.objects.create(session=session, role=Participant.Role.OWNER, **_as_owner(who))
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
            taken = nameless.update(**_as_owner(who))
            # Asked again: it may have become theirs since, by a request of their own at the same moment.
            if not taken and not owns(who, session):
                raise Conflict("This key belongs to another conversation.")
            # The search knows them as somebody else.
            ConversationFacts.objects.filter(session=session).update(seq=STALE)
    return session, made


def provide_session(who: Principal, actor: str, public_id: str) -> Session:
    """A conversation with an id that ``who`` made up. Raises ``Conflict`` where there is one with it."""
    try:
        with transaction.atomic():
            session = Session.objects.create(public_id=public_id, actor=actor)
            _add_participants(session, who)
            return session
    except IntegrityError as error:
        raise Conflict("There is a conversation with this id.") from error


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
