"""What a model gets to read when a turn begins: earlier turns in text form, then what started this one (D17).

Tool calls, their results and thinking never cross turns. Long data is cut, and the text says so.
"""

from __future__ import annotations

from a2ui import joined_data_models
from envelopes.models import Turn
from envelopes.protocol.time import instant
from envelopes.providers.transcript import (
    action_block,
    assistant_text,
    extend,
    injection_block,
    joined_block,
    user_text,
)
from envelopes.session_state.engines import capabilities, engine_for
from envelopes.turns.earlier import Blocks, Earlier, earlier_turns
from envelopes.types import JsonObject


def opening_messages(turn: Turn) -> list[JsonObject]:
    """The first messages of ``turn``, in the shape of the Messages API."""
    messages: list[JsonObject] = []
    earlier = earlier_turns(turn)
    # The first turn of a conversation is nobody's but its own.
    left_out = earlier[0].number - 1 if earlier else 0
    if left_out:
        note = {"leftOut": left_out, "note": "Turns before these are not shown to you."}
        extend(messages, "user", [injection_block("earlier-turns", note)])
    for other in earlier:
        began, said = other.blocks(_blocks)
        # Others have them too.
        extend(messages, "user", map(dict, began))
        extend(messages, "assistant", map(dict, said))
    context: JsonObject = {
        "now": instant(turn.created_at),
        "timezone": turn.session.timezone,
        "locale": turn.session.locale,
    }
    engine = engine_for(turn.session.locale, turn.session.timezone)
    offered = capabilities(engine)
    if offered is not None:
        context["a2uiRendererCapabilities"] = offered
    blocks = [injection_block("context", context)]
    if "handoff" in turn.trigger:
        handoff = {key: value for key, value in turn.trigger["handoff"].items() if key != "hops"}
        blocks.append(injection_block("handoff", handoff))
    if "delegation" in turn.trigger:
        # What was gathered for whoever was asked first is in what they handed over.
        left = {"depth", "mailbox"} if "handoff" in turn.trigger else {"depth"}
        asked = {key: value for key, value in turn.trigger["delegation"].items() if key not in left}
        blocks.append(injection_block("delegation", asked))
    extend(messages, "user", [*blocks, *trigger_blocks(turn.trigger, with_data=True)])
    return messages


def _blocks(turn: Earlier) -> Blocks:
    """What began it, with what has joined it, and what it said."""
    began = [
        block
        for trigger in (turn.trigger, *turn.joined)
        for block in trigger_blocks(trigger, with_data=False)
    ]
    return began, [assistant_text(turn.said or _unsaid(turn))]


def trigger_blocks(trigger: JsonObject, *, with_data: bool) -> list[JsonObject]:
    """What begins a turn, or goes on with it, as its model reads it. Of earlier turns, without data: what has joined
    them is told where it was said."""
    began = _began(trigger, with_data=with_data)
    for joined in trigger.get("joined", ()) if with_data else ():
        began += [joined_block(), *trigger_blocks(joined, with_data=True)]
    return began


def _began(trigger: JsonObject, *, with_data: bool) -> list[JsonObject]:
    # Until 1.0 a trigger had the data models as one object.
    model = (
        (joined_data_models(trigger.get("metadata", {})) or trigger.get("dataModel")) if with_data else None
    )
    match trigger.get("kind"):
        case "action":
            return [action_block(trigger["action"], model)]
        case "staff":
            note = "A member of staff, who had this conversation for a while, wrote without being asked."
            return [injection_block("staff", {"member": trigger.get("name", ""), "note": note})]
        case "injection":
            return [
                injection_block(
                    trigger.get("injection", "tool-result"),
                    trigger.get("payload"),
                    tool=trigger.get("tool", ""),
                    call_id=trigger.get("callId", ""),
                )
            ]
        case _:
            blocks = [injection_block("data-model", model)] if model else []
            if with_data and trigger.get("parts"):
                blocks.append(injection_block("message-parts", trigger["parts"]))
            return [*blocks, user_text(trigger.get("text", ""))]


def _unsaid(turn: Earlier) -> str:
    if turn.finalized_by == "passed":
        return "[This turn was passed on to another actor.]"
    if turn.status == "settled":
        return f"[This turn ended without an answer: {turn.finalized_by}.]"
    if turn.status == "suspended":
        return "[This turn waits for a person's approval.]"
    return "[This turn is still at work.]"
