"""What people do that begins, answers or stops turns: messages, clicks, decisions, stop."""

from __future__ import annotations

from collections.abc import Sequence

from a2ui import ActionError, CallsDue, ClientAction, OpenUrl, Target
from envelopes.access import Principal
from envelopes.approvals import service as approvals
from envelopes.conf import conf
from envelopes.errors import BeachError, Forbidden, NotFound, TooLarge, ValidationFailed
from envelopes.intake.fields import SurfaceRefused
from envelopes.intake.originating import originator
from envelopes.intake.remembering import once, remembered
from envelopes.log.append import Writer
from envelopes.log.reserving import Reserved
from envelopes.models import Session, Turn
from envelopes.protocol.rows import ActionData, MessageData, TriedDecisionData
from envelopes.protocol.text import clean_text, is_blank
from envelopes.protocol.titles import title_of
from envelopes.registries.actors import actors
from envelopes.registries.doors import CHAT
from envelopes.registries.part_types import part_types
from envelopes.registries.statuses import TurnStatus
from envelopes.session_state import live_sessions
from envelopes.turns import agent_calls, states
from envelopes.turns.lifecycle import open_turn, settle
from envelopes.turns.parts import inbound_parts
from envelopes.types import JsonObject

_ROW, _WITH_TURN = Reserved(rows=1), Reserved(rows=2, turns=1)
"""What somebody did, and the turn that it opens."""


def post_message(
    session: Session, who: Principal, message_id: str, text: str, *, parts: Sequence[JsonObject] = ()
) -> JsonObject:
    """A message; opens a turn. ``parts`` came with it: data, files, whatever may come in.

    Raises ``ValidationFailed`` for an empty message and for a part that cannot come in, with its pointer, ``TooLarge``
    for a long text.
    """
    came_with = inbound_parts(session, parts, from_peer=who.kind == "peer")
    if is_blank(text) and not came_with:
        if parts:
            known = [kind.name for kind in part_types if "inbound" in kind.origins and not kind.decides]
            raise ValidationFailed(
                "No part of this message is of a type that is known here.", path="/parts", allowed=known
            )
        raise ValidationFailed("The message is empty.", path="/text")
    text = clean_text(text).strip()
    limit = conf.BEACH_MESSAGE_CHARACTERS
    if len(text) > limit:
        raise TooLarge(
            f"The message has {len(text):,} characters; at most {limit:,} are accepted.", limit=limit
        )

    def effect(writer: Writer) -> JsonObject:
        with live_sessions.open(writer.session, upto=writer.known_seq) as view:
            metadata = view.surfaces.data_models(writer.session.actor)
        message: MessageData = {"text": text, "name": who.name, "id": message_id}
        trigger: JsonObject = {"kind": "message", "text": text, "metadata": metadata}
        if came_with:
            message["parts"] = came_with
            trigger["parts"] = [part for part in came_with if not _sets_state(part)]
        for part in filter(_sets_state, came_with):
            states.propose(writer, None, part["data"], "peer")
        writer.add("message", message)
        if not writer.session.title:
            writer.session.title = title_of(text)
        open_turn(writer, trigger, originators=[originator(who)])
        return {}

    return once(session, who, message_id, effect, _WITH_TURN)


def _sets_state(part: JsonObject) -> bool:
    return part_types[part["metadata"]["partType"]].sets_state


def post_action(session: Session, who: Principal, message_id: str, target: Target) -> JsonObject:
    """A click on a surface's button; opens a turn, calls a function of the agent, or answers ``{effect: {openUrl}}``.

    ``target`` names the element only; name and context come from the server's own state (R2).
    """

    def effect(writer: Writer) -> JsonObject:
        with live_sessions.open(writer.session, upto=writer.known_seq) as view:
            try:
                done = view.surfaces.act(target)
            except ActionError as error:
                raise SurfaceRefused(error.code, error.message) from error
            metadata = view.surfaces.data_models(done.owner) if isinstance(done, ClientAction) else {}
        if done is None:
            return {}
        if isinstance(done, CallsDue):
            agent_calls.make(writer, [done], originators=[originator(who)])
            return {}
        if isinstance(done, OpenUrl):
            return {"effect": {"openUrl": done.url}}
        if done.owner not in actors:
            raise NotFound("Nobody is here any more to take this action.")
        action = done.message["action"]
        click: ActionData = {
            "action": action,
            "owner": done.owner,
            "target": done.target,
            "label": done.label,
        }
        writer.add("action", click)
        trigger = {"kind": "action", "action": action, "metadata": metadata}
        open_turn(writer, trigger, actor=done.owner, originators=[originator(who)])
        return {}

    return once(session, who, message_id, effect, _WITH_TURN)


def post_decision(
    session: Session,
    who: Principal,
    message_id: str,
    approval_id: str,
    decision: str,
    *,
    reason: str = "",
    source: str = CHAT.name,
) -> JsonObject:
    """An answer to an approval of this very session: an id of another one is as unknown as one that does not exist.
    Raises what ``approvals.decide`` does; that somebody tried who may not is recorded.

    A repeat is answered like any other message: a click that was sent again must not stand in the log as a late one.
    """
    # What is no id at all is not looked for: databases refuse some texts.
    if not (approval_id.isalnum() and session.approvals.filter(approval_id=approval_id).exists()):
        raise NotFound("This request does not exist, or you do not have access to it.")
    refused: Forbidden | None = None
    try:
        approvals.may_answer(approval_id, decision, who)
    except Forbidden as error:
        refused = error

    def effect(writer: Writer) -> JsonObject | BeachError:
        if refused is not None:
            tried: TriedDecisionData = {
                "approvalId": approval_id,
                "decision": decision,
                "by": who.key,
                "source": source,
            }
            writer.add("tried-decision", tried, audience="audit")
            return refused
        decided = approvals.answer(writer, approval_id, decision, who, reason=reason, source=source)
        return decided if isinstance(decided, BeachError) else {"state": decided.state}

    return remembered(session, who, message_id, effect, _ROW)


def stop(session: Session, who: Principal, message_id: str) -> JsonObject:
    """Stop what is at work: the running turn ends at its next step, waiting and queued ones at once.

    Turns that wait for an approval stay: stopping is not an answer to a question.
    """

    def effect(writer: Writer) -> JsonObject:
        stopped = Turn.objects.filter(session=session, status=TurnStatus.RUNNING).update(
            cancel_requested=True
        )
        for turn in Turn.objects.filter(session=session, status__in=[TurnStatus.QUEUED, TurnStatus.WAITING]):
            settle(writer, turn, turn_state="error", finalized_by="cancelled")
            stopped += 1
        writer.wake_runner()
        return {"stopped": stopped}

    return once(session, who, message_id, effect, Reserved(rows=0))
