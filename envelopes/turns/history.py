"""What a model gets to read when a turn begins: earlier turns in text form, then what started this one (D17).

Tool calls, their results and thinking never cross turns. Long data is cut, and the text says so.
"""

from __future__ import annotations

from a2ui import joined_data_models
from envelopes.conf import conf
from envelopes.models import Session, Turn
from envelopes.protocol.time import instant
from envelopes.providers.transcript import (
    CONTEXT,
    DATA_MODEL,
    LEFT_OUT,
    action_block,
    assistant_text,
    injection_block,
    joined_block,
    user_text,
)
from envelopes.session_state import live_sessions
from envelopes.session_state.engines import capabilities, engine_for
from envelopes.turns import window
from envelopes.turns.earlier import Earlier, Source, Told, earlier_turns
from envelopes.turns.on_screen import on_screen
from envelopes.turns.results import bounded
from envelopes.turns.window import first_told
from envelopes.types import Json, JsonObject


def opening_messages(turn: Turn, *, upto: int | None = None) -> list[JsonObject]:
    """The first messages of ``turn``, in the shape of the Messages API; ``turn.told_from`` is set with them. Under the
    lock of its session, whose log goes to row ``upto``.

    What its model reads now, the models of later turns read in the same words and at the same place, so that what was
    sent stays the beginning of what is sent next: first what is always the same, then turns, each with its ``context``
    and what began it. What holds only now stands behind that.
    """
    all_before = earlier_turns(turn)
    shown = first_told(all_before, most_turns=window.EARLIER_TURNS, most_tokens=conf.BEACH_HISTORY_TOKENS)
    earlier = all_before[shown:]
    turn.told_from = earlier[0].number if earlier else turn.number
    first = [*_always(turn), *left_out(turn.told_from)]
    messages: list[JsonObject] = []
    for other in earlier:
        began, said = other.told(lambda each, source: _told(each, source, turn.session))
        messages.append({"role": "user", "content": [*first, *began]})
        messages.append({"role": "assistant", "content": [said]})
        first = []
    context = _context(turn.number, instant(turn.created_at), turn.session)
    last = [*first, context, *trigger_blocks(turn.trigger, with_data=True), *_now(turn, upto)]
    messages.append({"role": "user", "content": last})
    return messages


def left_out(told_from: int) -> list[JsonObject]:
    """What a model reads where turns before the one with this number are not shown to it. The first turn of a
    conversation is nobody's but its own."""
    if told_from <= 1:
        return []
    note = {"leftOut": told_from - 1, "note": "Turns before these are not shown to you."}
    return [injection_block(LEFT_OUT, note)]


def _always(turn: Turn) -> list[JsonObject]:
    """What renders here: the same for every turn of a conversation."""
    engine = engine_for(turn.session.locale, turn.session.timezone)
    renderer: JsonObject = {}
    offered = capabilities(engine)
    if offered is not None:
        renderer["a2uiRendererCapabilities"] = offered
    return [injection_block("renderer", renderer)] if renderer else []


def _context(number: int, at: str, session: Session) -> JsonObject:
    surroundings: JsonObject = {
        "turn": number,
        "now": at,
        "timezone": session.timezone,
        "locale": session.locale,
    }
    return injection_block(CONTEXT, surroundings)


def _now(turn: Turn, upto: int | None) -> list[JsonObject]:
    """What holds for this turn alone, as long as it is at work: later ones do not read it any more."""
    blocks = []
    if "handoff" in turn.trigger:
        handoff = {key: value for key, value in turn.trigger["handoff"].items() if key != "hops"}
        blocks.append(injection_block("handoff", handoff))
    if "delegation" in turn.trigger:
        # What was gathered for whoever was asked first is in what they handed over.
        left = {"depth", "mailbox"} if "handoff" in turn.trigger else {"depth"}
        asked = {key: value for key, value in turn.trigger["delegation"].items() if key not in left}
        blocks.append(injection_block("delegation", asked))
    told = _models(turn.trigger)
    with live_sessions.open(turn.session, upto=upto) as view:
        names = told.get("surfaces", {}) if isinstance(told, dict) else {}
        screen = on_screen(view.surfaces, turn.actor, told=names)
    if screen is not None:
        blocks.append(injection_block("surfaces", screen))
    return blocks


def _told(turn: Earlier, source: Source, session: Session) -> Told:
    """What began it, with what has joined it, and what it said."""
    began = [_context(turn.number, source.at, session)]
    for trigger in (source.trigger, *source.joined):
        began += trigger_blocks(trigger, with_data=False)
    return began, assistant_text(source.said or _unsaid(turn))


def trigger_blocks(trigger: JsonObject, *, with_data: bool) -> list[JsonObject]:
    """What begins a turn, or goes on with it, as its model reads it. Of earlier turns, without data: what has joined
    them is told where it was said."""
    began = _began(trigger, with_data=with_data)
    for joined in trigger.get("joined", ()) if with_data else ():
        began += [joined_block(), *trigger_blocks(joined, with_data=True)]
    return began


def _began(trigger: JsonObject, *, with_data: bool) -> list[JsonObject]:
    model = _models(trigger) if with_data else None
    data = [injection_block(DATA_MODEL, model)] if model else []
    match trigger.get("kind"):
        case "action":
            return [action_block(trigger["action"]), *data]
        case "staff":
            note = "A member of staff, who had this conversation for a while, wrote without being asked."
            return [injection_block("staff", {"member": trigger.get("name", ""), "note": note})]
        case "injection":
            kind, call_id = trigger.get("injection", "tool-result"), trigger.get("callId", "")
            payload = bounded(call_id, trigger.get("payload"))
            return [injection_block(kind, payload, tool=trigger.get("tool", ""), call_id=call_id)]
        case _:
            if with_data and trigger.get("parts"):
                data.append(injection_block("message-parts", trigger["parts"]))
            return [user_text(trigger.get("text", "")), *data]


def _models(trigger: JsonObject) -> Json:
    """The data models that surfaces sent along. Until 1.0 a trigger had them as one object."""
    return joined_data_models(trigger.get("metadata", {})) or trigger.get("dataModel")


def _unsaid(turn: Earlier) -> str:
    if turn.finalized_by == "passed":
        return "[This turn was passed on to another actor.]"
    if turn.status == "settled":
        return f"[This turn ended without an answer: {turn.finalized_by}.]"
    if turn.status == "suspended":
        return "[This turn waits for a person's approval.]"
    return "[This turn is still at work.]"
