"""What staff do with a conversation: claim it, write notes, take it over from its agent, write in it, hand it back.

Each function asks for ``envelopes.operate_session`` and raises ``Forbidden`` without it; who was quicker is told with
``Conflict``, whose facts say ``name`` and, in ISO 8601, ``since``. All of it under the session's lock, so of two that
race one gets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from django.db import transaction
from django.utils import timezone

from envelopes.access import Principal
from envelopes.conf import conf
from envelopes.errors import Conflict, Forbidden, NotFound, TooLarge, ValidationFailed
from envelopes.intake.originating import originator
from envelopes.intake.remembering import check_id, remembered
from envelopes.log.append import Writer
from envelopes.log.reserving import Reserved
from envelopes.models import Claim, Note, Session, Turn
from envelopes.protocol.text import clean_text, is_blank
from envelopes.protocol.time import instant
from envelopes.registries.actors import actors
from envelopes.registries.statuses import TurnStatus
from envelopes.turns import stopping, takeover
from envelopes.turns.opening import keeper
from envelopes.types import JsonObject

Running = Literal["finish", "stop"]
"""What becomes of the turn that is at work when staff take over: it ends first, or at its next step."""


def may_take_over(who: Principal, session: Session) -> bool:
    """Whether ``who`` may write in ``session`` under their own name: it is their work, and the policy of the agent that
    keeps the conversation lets staff do that. Who has it now is another question."""
    actor = actors.get(keeper(session))
    return who.may_operate() and actor is not None and actor.lets_staff_write


def called(who: Principal) -> str:
    """What people are told that a member of staff is called."""
    return clean_text(str(who.user.get_full_name() or who.user.get_username())).strip()[:150]


# -- looking after a conversation -------------------------------------------------------------------------------------


def claim(session: Session, who: Principal, *, instead_of: int | None = None) -> Claim:
    """``who`` looks after ``session`` from now on. Where somebody else does, raises ``Conflict``, unless their claim is
    named, as the page showed it (``instead_of``, its primary key), and they do not write in it at the moment."""
    _may_operate(who)
    with _locked(session) as now:
        held = Claim.objects.filter(session=now).first()
        if held is not None and held.user_id == who.user.pk:
            return held
        if held is not None and (held.taken_over_at is not None or held.pk != instead_of):
            raise _claimed(held)
        if held is not None:
            held.delete()
        return Claim.objects.create(session=now, user=who.user, name=called(who), claimed_at=timezone.now())


def release(session: Session, who: Principal) -> None:
    """Nobody looks after ``session``. Raises ``Conflict`` where that is somebody else, or staff write in it now."""
    _may_operate(who)
    with _locked(session) as now:
        held = Claim.objects.filter(session=now).first()
        if held is None:
            return
        if held.user_id != who.user.pk or held.taken_over_at is not None:
            raise _claimed(held)
        held.delete()


def add_note(session: Session, who: Principal, key: str, text: str) -> Note:
    """A note for other staff; the same ``key`` again gives the same note. Raises ``ValidationFailed`` and
    ``TooLarge``."""
    _may_operate(who)
    check_id(key)
    words = _checked(text)
    note, _ = Note.objects.get_or_create(
        session=session,
        key=key,
        defaults={"user": who.user, "name": called(who), "text": words, "created_at": timezone.now()},
    )
    return note


# -- taking over ------------------------------------------------------------------------------------------------------


def take_over(
    session: Session, who: Principal, message_id: str, *, running: Running = "finish"
) -> JsonObject:
    """From now on ``who`` answers in ``session``, and its agent does not. Raises ``Forbidden`` where the agent's policy
    does not let staff write, ``Conflict`` where somebody else looks after it."""
    _may_operate(who)
    if not may_take_over(who, session):
        raise Forbidden("The agent of this conversation does not let staff write in it.")

    def effect(writer: Writer) -> JsonObject:
        now = writer.session
        held = Claim.objects.filter(session=now).first()
        if held is not None and held.user_id != who.user.pk:
            raise _claimed(held)
        if now.taken_by:
            if now.taken_by == who.key:
                return {"state": "taken"}
            raise Conflict("Somebody else writes in this conversation.", name="", since=None)
        begun = Turn.objects.filter(session=now, status=TurnStatus.RUNNING).first()
        now.taken_by, now.finishing = who.key, 0 if begun is None else begun.shown_in
        now.save(update_fields=["taken_by", "finishing"])
        if begun is not None and running == "stop":
            stopping.request(begun, "staff")
            writer.wake_runner()
        Claim.objects.update_or_create(
            session=now,
            defaults={"taken_over_at": writer.now},
            create_defaults={
                "user": who.user,
                "name": called(who),
                "claimed_at": writer.now,
                "taken_over_at": writer.now,
            },
        )
        takeover.tell(writer, "taken", called(who), who.key)
        return {"state": "taken"}

    return remembered(session, who, message_id, effect, Reserved(rows=1))


def say(session: Session, who: Principal, message_id: str, text: str) -> JsonObject:
    """What ``who``, who has taken ``session`` over, writes in it. Raises ``Conflict`` where they have it no more,
    ``ValidationFailed`` for an empty text, ``TooLarge`` for a long one."""
    _may_operate(who)
    words = _checked(text)

    def effect(writer: Writer) -> JsonObject:
        if writer.session.taken_by != who.key:
            held = Claim.objects.filter(session=writer.session, taken_over_at__isnull=False).first()
            if held is not None:
                raise _claimed(held)
            raise Conflict("The agent has this conversation again.", name="", since=None)
        turn = takeover.say(writer, originator(who), called(who), words)
        return {"turn": turn.number}

    return remembered(session, who, message_id, effect, Reserved(rows=3, turns=1))


def hand_back(session: Session, who: Principal, message_id: str) -> JsonObject:
    """The agent answers again, beginning with what nobody has answered. Whoever may operate can do that, also for
    somebody who has gone home."""
    _may_operate(who)

    def effect(writer: Writer) -> JsonObject:
        if not writer.session.taken_by:
            return {"state": "returned"}
        takeover.hand_back(writer, called(who), who.key)
        return {"state": "returned"}

    return remembered(session, who, message_id, effect, Reserved(rows=1))


def _checked(text: str) -> str:
    words = clean_text(text).strip()
    if is_blank(words):
        raise ValidationFailed("There is nothing in it yet.", path="/text")
    limit = conf.BEACH_MESSAGE_CHARACTERS
    if len(words) > limit:
        raise TooLarge(f"It has {len(words):,} characters; at most {limit:,} are accepted.", limit=limit)
    return words


def _may_operate(who: Principal) -> None:
    if not who.may_operate():
        raise Forbidden("You can view this conversation, but not look after it.")


def _claimed(held: Claim) -> Conflict:
    if held.taken_over_at is not None:
        text = f"{held.name} has taken this conversation over."
        return Conflict(text, name=held.name, since=instant(held.taken_over_at), taken=True)
    return Conflict(
        f"{held.name} has claimed this conversation.", name=held.name, since=instant(held.claimed_at)
    )


@contextmanager
def _locked(session: Session) -> Iterator[Session]:
    with transaction.atomic():
        now = Session.objects.select_for_update().filter(pk=session.pk).first()
        if now is None:
            raise NotFound("This conversation no longer exists.")
        yield now
