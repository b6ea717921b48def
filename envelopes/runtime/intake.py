"""What a person does, as rows: messages, edits, actions, stop. Authorised, validated, deduplicated, appended.

Runs in a thread with a database connection. Each function returns the answer for the client; each answer with an
effect is stored with the client's message id, and a repeat gets the same answer (D36).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from a2ui import ActionError, InputError, OpenUrl
from envelopes.access import Principal, owns
from envelopes.approvals import service as approvals
from envelopes.conf import setting
from envelopes.delivery.live import views
from envelopes.errors import (
    AlreadyDecided,
    BeachError,
    Expired,
    Forbidden,
    NotFound,
    TooLarge,
    ValidationFailed,
)
from envelopes.log.append import Writer, writing
from envelopes.models import ClientMessage, Session, Turn
from envelopes.protocol.text import clean_text, is_blank
from envelopes.protocol.titles import title_of
from envelopes.registries.actors import actors
from envelopes.runtime.turns import open_turn, settle
from envelopes.secrets import seal
from envelopes.types import Json, JsonObject

REMEMBERED = timedelta(days=7)
"""How long a repeat of a client's message is known as one: longer than a page keeps what it could not send."""


class SurfaceRefused(BeachError):
    """The surface did not take that."""

    fault = "client"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _once(
    session: Session, who: Principal, message_id: str, effect: Callable[[Writer], JsonObject]
) -> JsonObject:
    if not owns(who, session):
        raise Forbidden("Only the owner of this conversation can do that.")
    return _remembered(session, who, message_id, effect)


def _remembered(
    session: Session, who: Principal, message_id: str, effect: Callable[[Writer], JsonObject | BeachError]
) -> JsonObject:
    """Run ``effect`` unless this message is known. Both under the session's lock: the same frame may come through two
    processes at once.

    An error that ``effect`` returns is raised after the commit, and again for each repeat: what was recorded beside it
    stays, once. One that it raises leaves nothing.
    """
    if not message_id or len(message_id) > 64:
        raise ValidationFailed("A client message needs an id of 1 to 64 characters.", path="/id")
    mine = {"session": session, "principal": who.key, "message_id": message_id}
    with writing(session.pk) as writer:
        known = ClientMessage.objects.filter(**mine).first()
        if known is not None:
            answer = {**known.answer, "repeated": True}
        else:
            done = effect(writer)
            writer.flush()
            told = {"refused": done.as_dict()} if isinstance(done, BeachError) else done
            answer = {**told, "seq": writer.session.last_seq}
            ClientMessage.objects.create(**mine, answer=answer)
    if (refusal := answer.get("refused")) is not None:
        facts = {key: value for key, value in refusal.items() if key not in ("code", "message")}
        raise _REFUSALS[refusal["code"]](refusal["message"], **facts)
    return answer


_REFUSALS = {kind.code: kind for kind in (AlreadyDecided, Expired)}
"""What an effect may return instead of an answer, by code."""


def forget_messages() -> int:
    """Delete what is remembered of client messages that no client sends again; returns how many. Run by the sweeper."""
    deleted, _ = ClientMessage.objects.filter(at__lte=timezone.now() - REMEMBERED).delete()
    return deleted


def post_message(session: Session, who: Principal, message_id: str, text: str) -> JsonObject:
    """A person's message; opens a turn. Raises ``ValidationFailed`` for an empty one, ``TooLarge`` for a long one."""
    if is_blank(text):
        raise ValidationFailed("The message is empty.", path="/text")
    text = clean_text(text).strip()
    limit = setting("BEACH_MESSAGE_CHARACTERS")
    if len(text) > limit:
        raise TooLarge(
            f"The message has {len(text):,} characters; at most {limit:,} are accepted.", limit=limit
        )

    def effect(writer: Writer) -> JsonObject:
        with views.open(writer.session) as view:
            model = view.surfaces.client_data_model(writer.session.actor)
        writer.add("message", {"text": text, "name": who.name, "id": message_id})
        if not writer.session.title:
            writer.session.title = title_of(text)
        open_turn(writer, {"kind": "message", "text": text, "dataModel": model})
        return {}

    return _once(session, who, message_id, effect)


def post_edit(session: Session, who: Principal, message_id: str, target: str, value: Json) -> JsonObject:
    """A person's edit of an input. Raises ``SurfaceRefused`` with the engine's code and sentence."""

    def effect(writer: Writer) -> JsonObject:
        with views.open(writer.session) as view:
            # What was typed into an obscured field is sealed before it is anywhere but in this request (D24).
            try:
                edit = view.surfaces.edit(target, value, conceal=lambda typed: seal(writer.session, typed))
            except InputError as error:
                raise SurfaceRefused(error.code, error.message) from error
        if edit.ops:
            writer.add(
                "edit", {"owner": edit.owner, "surfaceId": edit.surface_id, "ops": edit.ops, "target": target}
            )
        return {}

    return _once(session, who, message_id, effect)


def post_action(session: Session, who: Principal, message_id: str, target: str) -> JsonObject:
    """A click on a surface's button; opens a turn, or answers ``{effect: {openUrl}}`` for a function call.

    The browser names the element only; name and context come from the server's own state (R2).
    """

    def effect(writer: Writer) -> JsonObject:
        with views.open(writer.session) as view:
            try:
                done = view.surfaces.act(target)
            except ActionError as error:
                raise SurfaceRefused(error.code, error.message) from error
            model = (
                view.surfaces.client_data_model(done.owner)
                if done and not isinstance(done, OpenUrl)
                else None
            )
        if done is None:
            return {}
        if isinstance(done, OpenUrl):
            return {"effect": {"openUrl": done.url}}
        if done.owner not in actors:
            raise NotFound("Nobody is here any more to take this action.")
        action = done.message["action"]
        writer.add("action", {"action": action, "owner": done.owner, "target": target, "label": done.label})
        open_turn(writer, {"kind": "action", "action": action, "dataModel": model}, actor=done.owner)
        return {}

    return _once(session, who, message_id, effect)


def post_show(session: Session, who: Principal, message_id: str, target: str) -> JsonObject:
    """A click on "show more" under a list that is cut. A row, so that every process and every replay shows the same
    items. Raises ``SurfaceRefused`` where there is no more."""

    def effect(writer: Writer) -> JsonObject:
        with views.open(writer.session) as view:
            try:
                more = view.surfaces.more(target)
            except ActionError as error:
                raise SurfaceRefused(error.code, error.message) from error
        writer.add(
            "show",
            {"owner": more.owner, "surfaceId": more.surface_id, "target": more.target, "count": more.count},
        )
        return {}

    return _once(session, who, message_id, effect)


def post_decision(
    session: Session, who: Principal, message_id: str, approval_id: str, decision: str, *, reason: str = ""
) -> JsonObject:
    """A person's answer to an approval of this very session: an id of another one is as unknown as one that does not
    exist. Raises what ``approvals.decide`` does.

    A repeat is answered like any other message: a click that was sent again must not stand in the log as a late one.
    """
    if not session.approvals.filter(approval_id=approval_id).exists():
        raise NotFound("This request does not exist, or you do not have access to it.")
    approvals.may_answer(approval_id, decision, who)

    def effect(writer: Writer) -> JsonObject | BeachError:
        decided = approvals.answer(writer, approval_id, decision, who, reason=reason, source="chat")
        return decided if isinstance(decided, BeachError) else {"state": decided.state}

    return _remembered(session, who, message_id, effect)


def stop(session: Session, who: Principal, message_id: str) -> JsonObject:
    """Stop what is at work: the running turn ends at its next step, waiting and queued ones at once.

    Turns that wait for an approval stay: stopping is not an answer to a question.
    """

    def effect(writer: Writer) -> JsonObject:
        stopped = Turn.objects.filter(session=session, status="running").update(cancel_requested=True)
        for turn in Turn.objects.filter(session=session, status__in=["queued", "waiting"]):
            settle(writer, turn, turn_state="error", finalized_by="cancelled")
            stopped += 1
        writer.wake_runner()
        return {"stopped": stopped}

    return _once(session, who, message_id, effect)
