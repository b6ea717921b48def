"""A client's message has its effect once: the answer is stored with it, and a repeat gets the same one (D36)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.db import IntegrityError
from django.utils import timezone

from envelopes.access import Principal
from envelopes.errors import AlreadyChanged, AlreadyDecided, BeachError, Expired, Forbidden, ValidationFailed
from envelopes.log.append import Writer
from envelopes.log.reserving import Reserved, reserving
from envelopes.models import ClientMessage, Session, by_hand
from envelopes.tracing import span
from envelopes.types import JsonObject

REMEMBERED = timedelta(days=7)
"""How long a repeat of a client's message is known as one: longer than a page keeps what it could not send."""

ID_CHARACTERS = 64

FORGOTTEN_AT_ONCE = 1_000
"""In one transaction: whoever wants to write meanwhile waits for it."""

_REFUSALS = {kind.code: kind for kind in (AlreadyDecided, AlreadyChanged, Expired, Forbidden)}
"""What an effect may return instead of an answer, by code."""


def check_id(message_id: str) -> None:
    """Raises ``ValidationFailed``."""
    if not message_id or len(message_id) > ID_CHARACTERS:
        raise ValidationFailed(
            f"A client message needs an id of 1 to {ID_CHARACTERS} characters.", path="/id"
        )


def remembered(
    session: Session,
    who: Principal,
    message_id: str,
    effect: Callable[[Writer], JsonObject | BeachError],
    reserved: Reserved,
    *,
    owner: Principal | None = None,
) -> JsonObject:
    """Run ``effect`` unless this message is known; that it is shows when it is to be remembered, and then nothing of it
    is stored. Both under the session's lock: the same frame may come through two processes at once.

    With ``owner``, only in a session that is theirs: raises ``Forbidden``. An error that ``effect`` returns is raised
    after the commit, and again for each repeat: what was recorded beside it stays, once. One that it raises leaves
    nothing.
    """
    check_id(message_id)
    mine = {"session": session, "principal": who.key, "message_id": message_id}
    try:
        with (
            span("beach.intake", who=who.kind or "nobody"),
            reserving(session.pk, reserved, owner=owner) as writer,
        ):
            done = effect(writer)
            writer.flush()
            told = {"refused": done.as_dict()} if isinstance(done, BeachError) else done
            answer = {**told, "seq": writer.session.last_seq}
            by_hand.insert(ClientMessage(**mine, answer=answer))
    except (BeachError, IntegrityError) as error:
        if owner is not None and isinstance(error, Forbidden):
            raise
        known = ClientMessage.objects.filter(**mine).first()
        if known is None:
            raise
        return repeated(known.answer)
    return _told(answer)


def once(
    session: Session,
    who: Principal,
    message_id: str,
    effect: Callable[[Writer], JsonObject | BeachError],
    reserved: Reserved,
) -> JsonObject:
    """The same for ``who`` as the owner of the session."""
    return remembered(session, who, message_id, effect, reserved, owner=who)


def repeated(answer: JsonObject) -> JsonObject:
    """What is told of a message that had this stored ``answer`` before. Raises the error that it may be."""
    return _told({**answer, "repeated": True})


def _told(answer: JsonObject) -> JsonObject:
    if (refusal := answer.get("refused")) is not None:
        facts = {key: value for key, value in refusal.items() if key not in ("code", "message")}
        raise _REFUSALS[refusal["code"]](refusal["message"], **facts)
    return answer


def forget_messages() -> int:
    """Delete what is remembered of client messages that no client sends again, ``FORGOTTEN_AT_ONCE`` at most; returns
    how many. Run by the sweeper."""
    old = ClientMessage.objects.filter(at__lte=timezone.now() - REMEMBERED).order_by("at")
    deleted, _ = ClientMessage.objects.filter(pk__in=old.values("pk")[:FORGOTTEN_AT_ONCE]).delete()
    return deleted
