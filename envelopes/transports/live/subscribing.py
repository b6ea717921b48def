"""A subscribe, in its strict order (reading, section 3): version, token, app, session, view, how it begins."""

from __future__ import annotations

from dataclasses import dataclass, replace

from envelopes.access import Principal, provide_session
from envelopes.conf import conf
from envelopes.delivery import Reader
from envelopes.errors import Conflict, ValidationFailed
from envelopes.models import Session, StreamView
from envelopes.registries.actors import actors, default_actor
from envelopes.session_state import live_sessions
from envelopes.transports.live import tokens
from envelopes.transports.live.contracts import cursor
from envelopes.transports.live.errors import LiveError
from envelopes.transports.live.frames import Subscribe, now
from envelopes.transports.live.identity import Identity, session_of
from envelopes.transports.live.presenter import deliveries
from envelopes.transports.live.presenter.envelopes import Envelopes
from envelopes.transports.live.stored import snapshot
from envelopes.transports.live.surfaces import Dialect, dialect_for
from envelopes.transports.live.tokens import Bound
from envelopes.transports.live.transport import LIVE
from envelopes.transports.live.version import check_supported, server_version
from envelopes.transports.live.views import Plan, plan, view_for
from envelopes.types import JsonObject

NOT_FOUND = "There is no such session, or it is not yours."

SESSION_ID = 32
"""Characters of the id of a session that is made for whoever subscribes to it."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """Who subscribes, to which session. ``by_token``: they brought a ``wsToken``."""

    identity: Identity
    who: Principal
    session: Session
    by_token: bool


@dataclass(frozen=True, slots=True)
class Subscription:
    """What was agreed on. ``instance`` is what the client calls itself; ``since`` its cursor in the ledger."""

    identity: Identity
    key: str
    session: Session
    reader: Reader
    view: StreamView
    wants: frozenset[str]
    plan: Plan
    dialect: Dialect
    instance: str | None
    since: int | None


def admit(identity: Identity, asked: Subscribe) -> Admitted:
    """Raises ``LiveError``, with nothing done. In a thread."""
    check_supported(asked.supportedVersions or [])
    bound = identity.bound
    by_token = identity.grant is None
    if by_token:
        if asked.wsToken is None:
            raise LiveError("UNAUTHENTICATED", "Bring the wsToken that was asked for.")
        bound = tokens.check(asked.wsToken, tokens.SUBSCRIBE)
        identity = replace(identity, grant=bound.grant, bound=bound, by_token=True)
    if bound is not None:
        _check_bound(bound, asked)
    who = identity.principal()
    session = _session(who, asked, bound)
    app = asked.appId or (bound.app if bound is not None else session.actor)
    if app != session.actor:
        raise LiveError("APP_MISMATCH", "This session belongs to another app.")
    return Admitted(identity, who, session, by_token)


def _check_bound(bound: Bound, asked: Subscribe) -> None:
    if bound.session_id != asked.sessionId:
        raise LiveError("BOOTSTRAP_SESSION_MISMATCH", "This token is for another session.")
    if asked.appId is not None and bound.app != asked.appId:
        raise LiveError("BOOTSTRAP_APP_MISMATCH", "This token is for another app.")


def _session(who: Principal, asked: Subscribe, bound: Bound | None) -> Session:
    session = session_of(who, asked.sessionId)
    if session is not None:
        return session
    if not conf.BEACH_LIVE_PROVISION:
        raise LiveError("SESSION_NOT_FOUND", NOT_FOUND)
    app = asked.appId or (bound.app if bound is not None else default_actor().name)
    name = asked.sessionId
    if app not in actors or not (name.isascii() and name.isalnum()) or len(name) > SESSION_ID:
        raise LiveError("SESSION_CREATE_FAILED", "No session can be made with this id and app.")
    try:
        return provide_session(who, app, name)
    except Conflict as error:
        # The same whether it is somebody else's or not there at all.
        raise LiveError("SESSION_NOT_FOUND", NOT_FOUND) from error


def begin(admitted: Admitted, asked: Subscribe) -> tuple[Subscription, JsonObject]:
    """The view, where it stands, what of it is replayed; and the ack. In the session's thread."""
    identity, who, session = admitted.identity, admitted.who, admitted.session
    if who.kind is None:
        raise LiveError("UNAUTHENTICATED", "Nobody is signed in.")
    reader = Reader(who.kind, who.consumes, surfaces=True)
    view = view_for(session, reader)
    dialect = dialect_for(asked.a2ui or [], asked.catalogs)
    with live_sessions.present(session, LIVE.name) as shown:
        row = shown.state.seq
        surfaces = (
            shown.presenter.surfaces(dialect)
            if isinstance(shown.presenter, Envelopes) and deliveries.OF_SURFACES in view.wants
            else []
        )
    if row > view.upto:
        view = view_for(session, reader)
    from_seq, is_other = asked.fromSeq, asked.view is not None and asked.view != view.key
    begins = plan(view, session, row, 0 if from_seq is not None and is_other else from_seq)
    ack: JsonObject = {
        "sequence": row,
        "timestamp": now(),
        "session": snapshot(session, who.key, row, surfaces),
        "streamSeq": begins.last,
        "serverVersion": server_version(),
        "a2ui": dialect.version,
        "view": view.key,
    }
    if begins.truncated or (from_seq is not None and is_other):
        ack["replayTruncated"] = True
    if admitted.by_token and identity.grant is not None:
        ack["sessionToken"], _ = tokens.issue(tokens.SESSION, session, identity.grant)
    made = Subscription(
        identity=identity,
        key=who.key,
        session=session,
        reader=reader,
        view=view,
        wants=frozenset(view.wants),
        plan=begins,
        dialect=dialect,
        instance=asked.instance,
        since=asked.sinceSequence,
    )
    return made, ack


def ledger_cursor(value: object) -> int:
    """``sinceSequence``. Raises ``LiveError`` INVALID_SINCE_SEQUENCE."""
    try:
        return cursor(value, "sinceSequence")
    except ValidationFailed as error:
        raise LiveError("INVALID_SINCE_SEQUENCE", error.message) from error
