"""What people do that begins, answers or stops turns: messages, clicks, decisions, stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

from a2ui import ActionError, CallsDue, ClientAction, ComponentTarget, OpenUrl, Target
from envelopes import audit, metrics
from envelopes.access import Principal
from envelopes.approvals import rights
from envelopes.approvals import service as approvals
from envelopes.approvals.surface import DECISIONS, approval_of
from envelopes.conf import conf
from envelopes.errors import BeachError, Forbidden, NotFound, TooLarge, ValidationFailed
from envelopes.intake.fields import SurfaceRefused
from envelopes.intake.originating import originator
from envelopes.intake.remembering import once, remembered
from envelopes.intake.runtime_surfaces import made_by
from envelopes.log.append import Writer
from envelopes.log.reserving import Reserved
from envelopes.models import Approval, ApprovalVersion, Injection, Session, Turn
from envelopes.protocol.decision_rows import TriedDecisionData
from envelopes.protocol.originators import is_principal
from envelopes.protocol.rows import ActionData, MessageData
from envelopes.protocol.surfaces import RUNTIME
from envelopes.protocol.text import clean_text, is_blank
from envelopes.protocol.titles import title_of
from envelopes.rates import take_message
from envelopes.registries.actors import actors
from envelopes.registries.doors import CHAT
from envelopes.registries.part_types import part_types
from envelopes.registries.statuses import ApprovalStatus, TurnStatus
from envelopes.session_state import live_sessions
from envelopes.turns import agent_calls, states, stopping
from envelopes.turns.day_costs import day_costs
from envelopes.turns.injecting import aside_in, inject
from envelopes.turns.lifecycle import settle
from envelopes.turns.opening import keeper
from envelopes.turns.parts import inbound_parts
from envelopes.turns.places import Place, open_in, places
from envelopes.turns.uploads import Upload, uploads
from envelopes.types import Json, JsonObject

_ROW = Reserved(rows=1)
_QUEUED, _CLAIMED = Reserved(rows=2, turns=1), Reserved(rows=3, turns=1)
"""What somebody did, and the turn that it opens, which waits or begins."""

Effect = Callable[[Writer, Place | None], JsonObject | BeachError]
"""What somebody does, and a place for the turn that it may open."""


def post_message(
    session: Session, who: Principal, message_id: str, text: str, *, parts: Sequence[JsonObject] = ()
) -> JsonObject:
    """A message; opens a turn. ``parts`` came with it: data, files, whatever may come in.

    Raises ``ValidationFailed`` for an empty message and for a part that cannot come in, with its pointer, ``TooLarge``
    for a long text and for a file for which there is no room.
    """
    with uploads(session, parts) as files:
        return _post_message(session, who, message_id, text, parts, files)


def _post_message(
    session: Session,
    who: Principal,
    message_id: str,
    text: str,
    parts: Sequence[JsonObject],
    files: Mapping[int, Upload],
) -> JsonObject:
    others = inbound_parts(session, parts, uploads=files, from_peer=who.kind == "peer")
    if is_blank(text) and not others and not files:
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

    def effect(writer: Writer, place: Place | None) -> JsonObject:
        with live_sessions.open(writer.session, upto=writer.known_seq) as view:
            metadata = view.surfaces.data_models(keeper(writer.session))
        brought = {number: file.recorded(writer.session, who.key) for number, file in files.items()}
        came_with = [part for _, part in sorted({**others, **brought}.items())]
        message: MessageData = {"text": text, "name": who.name, "id": message_id}
        trigger: JsonObject = {"kind": "message", "text": text, "metadata": metadata}
        if came_with:
            message["parts"] = came_with
            trigger["parts"] = [part for part in came_with if not _sets_state(part)]
        for part in filter(_sets_state, came_with):
            states.propose(writer, None, part["data"], "peer")
        aside = _aside(writer.session)
        writer.add("message", message, turn=aside)
        if not writer.session.title:
            writer.session.title = title_of(text)
        _begin(writer, trigger, who, aside, place=place)
        return {}

    # What came with it may be on screen by now, which the first messages of its turn are about.
    return _opening(session, who, message_id, effect, at_once=not parts)


def _opening(
    session: Session, who: Principal, message_id: str, effect: Effect, *, at_once: bool = True
) -> JsonObject:
    """``once`` for what may open a turn, which may begin ``at_once``."""
    day_costs.look()
    with places.kept(session.pk) if at_once else nullcontext() as place:
        reserved = _QUEUED if place is None else _CLAIMED
        return once(session, who, message_id, lambda writer: effect(writer, place), reserved)


def _aside(session: Session) -> Turn | None:
    """The turn that goes on with what comes next; while staff have the conversation that is for them."""
    return aside_in(session) if session.put_aside and not session.taken_by else None


def _begin(
    writer: Writer,
    trigger: JsonObject,
    who: Principal,
    aside: Turn | None,
    *,
    place: Place | None,
    actor: str = "",
) -> None:
    """Open a turn, or let the one that was put aside go on with what has come; its originators are all who have said
    something in it. Raises ``TooManyMessages`` for people who have sent too many; programs are counted at their
    doors. Raises another one of its kind where answers have cost as much as they may today."""
    reached = day_costs.reached([originator(who)], writer.session.timezone)
    if reached is not None:
        metrics.REFUSED.labels(reached.facts["limit"]).inc()
        raise reached
    if who.kind in ("person", "guest"):
        take_message(who.key, who.address)
    if aside is None:
        open_in(place, writer, trigger, actor=actor, originators=[originator(who)])
        return
    if originator(who) not in aside.originators:
        aside.originators = [*aside.originators, originator(who)]
        aside.save(update_fields=["originators"])
    inject(
        writer, aside, Injection.objects.create(turn=aside, kind=trigger["kind"], data={"trigger": trigger})
    )


def _sets_state(part: JsonObject) -> bool:
    return part_types[part["metadata"]["partType"]].sets_state


def post_action(
    session: Session, who: Principal, message_id: str, target: Target, *, source: str = CHAT.name
) -> JsonObject:
    """A click on a surface's button; opens a turn, calls a function of the agent, or answers ``{effect: {openUrl}}``.

    ``target`` names the element only; name and context come from the server's own state (R2). On the surface of an
    approval it is a decision, made as any other at the door ``source``: see ``post_decision`` (R10); on another one of
    the runtime's it is for whoever made that (``runtime_surfaces``).
    """
    if isinstance(target, ComponentTarget) and target.owner == RUNTIME and made_by(target.surface_id) is None:
        approval_id, decision = _decision(session, target)
        return post_decision(session, who, message_id, approval_id, decision, source=source)

    def effect(writer: Writer, place: Place | None) -> JsonObject | BeachError:
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
        if done.owner == RUNTIME and (maker := made_by(done.surface_id)) is not None:
            return maker.act(writer, who, done)
        brought_in = is_principal(done.owner)
        if done.owner not in actors and not brought_in:
            raise NotFound("Nobody is here any more to take this action.")
        action = done.message["action"]
        click: ActionData = {
            "action": action,
            "owner": done.owner,
            "target": done.target,
            "label": done.label,
        }
        if brought_in:
            # Whoever brought the surface here follows it.
            writer.add("action", click)
            return {}
        aside = _aside(writer.session)
        if aside is not None and aside.actor != done.owner:
            aside = None
        writer.add("action", click, turn=aside)
        trigger = {"kind": "action", "action": action, "metadata": metadata}
        _begin(writer, trigger, who, aside, place=place, actor=done.owner)
        return {}

    return _opening(session, who, message_id, effect)


def post_submission(
    session: Session, who: Principal, message_id: str, name: str, data: Json, *, tool: str | None = None
) -> JsonObject:
    """An action that a front end of its own submits, as the session's contract lets it; opens a turn as a click does.

    ``tool`` is what the contract names as the next step: a hint for the agent, which decides.
    """
    action: JsonObject = {"name": name, "context": data}
    if tool is not None:
        action["tool"] = tool

    def effect(writer: Writer, place: Place | None) -> JsonObject:
        owner = keeper(writer.session)
        if owner not in actors:
            raise NotFound("Nobody is here any more to take this action.")
        click: ActionData = {"action": action, "owner": owner, "target": "", "label": name}
        aside = _aside(writer.session)
        if aside is not None and aside.actor != owner:
            aside = None
        with live_sessions.open(writer.session, upto=writer.known_seq) as view:
            metadata = view.surfaces.data_models(owner)
        writer.add("action", click, turn=aside)
        trigger = {"kind": "action", "action": action, "metadata": metadata}
        _begin(writer, trigger, who, aside, place=place, actor=owner)
        return {}

    return _opening(session, who, message_id, effect)


def _decision(session: Session, target: ComponentTarget) -> tuple[str, str]:
    """Which approval a click on a surface of the runtime is about, and what it decides. Raises ``SurfaceRefused`` where
    it decides nothing."""
    with live_sessions.open(session) as view:
        try:
            done = view.surfaces.act(target)
        except ActionError as error:
            approval_id = approval_of(target.surface_id)
            found = rights.find(approval_id)
            if found is not None and found[0].session_id == session.pk and not _is_asked_as(*found):
                # It has been decided or asked anew, which does not change: whoever comes late is told what happened.
                return approval_id, "denied"
            raise SurfaceRefused(error.code, error.message) from error
    action = done.message["action"] if isinstance(done, ClientAction) else {}
    decision = DECISIONS.get(action.get("name", ""))
    if decision is None:
        raise SurfaceRefused("not_found", "This decides nothing.")
    return approval_of(target.surface_id), decision


def _is_asked_as(approval: Approval, was: ApprovalVersion | None) -> bool:
    """Whether the question is open under the id by which it was found."""
    return was is None and approval.state == ApprovalStatus.PENDING


def post_decision(
    session: Session,
    who: Principal,
    message_id: str,
    approval_id: str,
    decision: str,
    *,
    reason: str = "",
    source: str = CHAT.name,
    sent: JsonObject | None = None,
) -> JsonObject:
    """An answer to an approval of this very session: an id of another one is as unknown as one that does not exist.
    Raises what ``approvals.decide`` does; that somebody tried who may not is recorded. ``sent`` is what else came
    along: recorded as well, and ignored (D20).

    A repeat is answered like any other message: a click that was sent again must not stand in the log as a late one.
    """
    found = rights.find(approval_id)
    if found is None or found[0].session_id != session.pk:
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
            audit.refused(writer, found[0], who, decision, refused, door=source, reason=reason)
            return refused
        decided = approvals.answer(
            writer, approval_id, decision, who, reason=reason, source=source, sent=sent
        )
        return decided if isinstance(decided, BeachError) else {"state": decided.state}

    return remembered(session, who, message_id, effect, _ROW)


def stop(session: Session, who: Principal, message_id: str) -> JsonObject:
    """Stop what is at work: the running turn ends at its next step, waiting and queued ones at once.

    Turns that wait for an approval stay: stopping is not an answer to a question. So do those that wait for an actor
    that they have asked: they end when that one does, if it is stopped.
    """

    def effect(writer: Writer) -> JsonObject:
        by = stopping.stopper_of(who)
        running = list(Turn.objects.filter(session=session, status=TurnStatus.RUNNING))
        for turn in running:
            stopping.request(turn, by)
        stopped = len(running)
        asking = (
            Turn.objects.filter(session=session).exclude(status=TurnStatus.SETTLED).values("delegated_from")
        )
        asking = asking.exclude(delegated_from=None)
        idle = Turn.objects.filter(session=session, status__in=[TurnStatus.QUEUED, TurnStatus.WAITING])
        for turn in idle.exclude(pk__in=asking):
            settle(writer, turn, turn_state="error", finalized_by="cancelled", stopped_by=by)
            stopped += 1
        writer.wake_runner()
        return {"stopped": stopped}

    return once(session, who, message_id, effect, Reserved(rows=0))
