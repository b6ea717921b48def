"""What a model gets to read when a turn begins: earlier turns in text form, then what started this one (D17).

Tool calls, their results and thinking never cross turns. Long data is cut, and the text says so.
"""

from __future__ import annotations

import json

from envelopes.models import Event, Turn
from envelopes.protocol.time import instant
from envelopes.providers.transcript import action_block, assistant_text, extended, injection_block, user_text
from envelopes.types import JsonObject

EARLIER_TURNS = 20
DATA_CHARACTERS = 2_000


def opening_messages(turn: Turn) -> list[JsonObject]:
    """The first messages of ``turn``, in the shape of the Messages API."""
    messages: list[JsonObject] = []
    earlier = list(turn.session.turns.filter(number__lt=turn.number).order_by("-number")[:EARLIER_TURNS])
    said = _said(turn, earlier)
    left_out = turn.number - 1 - len(earlier)
    if left_out:
        note = {"leftOut": left_out, "note": "Turns before these are not shown to you."}
        messages = extended(messages, "user", [injection_block("earlier-turns", note)])
    for other in reversed(earlier):
        messages = extended(messages, "user", _trigger_blocks(other, with_data=False))
        messages = extended(messages, "assistant", [assistant_text(said.get(other.number) or _unsaid(other))])
    context = {
        "now": instant(turn.created_at),
        "timezone": turn.session.timezone,
        "locale": turn.session.locale,
    }
    blocks = [injection_block("context", context)]
    if "handoff" in turn.trigger:
        handoff = {key: value for key, value in turn.trigger["handoff"].items() if key != "hops"}
        blocks.append(injection_block("handoff", handoff))
    return extended(messages, "user", [*blocks, *_trigger_blocks(turn, with_data=True)])


def _trigger_blocks(turn: Turn, *, with_data: bool) -> list[JsonObject]:
    trigger = turn.trigger
    model = trigger.get("dataModel") if with_data else None
    match trigger.get("kind"):
        case "action":
            return [action_block(trigger["action"], model)]
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
            return [*blocks, user_text(trigger.get("text", ""))]


def _unsaid(turn: Turn) -> str:
    if turn.status == "settled":
        return f"[This turn ended without an answer: {turn.finalized_by}.]"
    if turn.status == "suspended":
        return "[This turn waits for a person's approval.]"
    return "[This turn is still at work.]"


SPOKEN = ("response", "clarify", "error", "domain-data", "approval-request", "approval-response")
"""The part types that a later turn reads about."""


def _said(turn: Turn, earlier: list[Turn]) -> dict[int, str]:
    """What each of those turns said, by number: its texts, and in short what it showed."""
    lines: dict[int, list[str]] = {}
    if not earlier:
        return {}
    events = Event.objects.filter(
        session=turn.session_id,
        # Nothing of a turn stands before what triggered it: the index on seq finds these rows, none is on turns.
        seq__gte=min(other.trigger_seq for other in earlier),
        turn__in=[other.number for other in earlier],
        kind="part",
        part_type__in=SPOKEN,
        audience="delivered",
    )
    for event in events.order_by("seq"):
        line = _line(event)
        if line:
            lines.setdefault(event.turn, []).append(line)
    return {number: "\n".join(found) for number, found in lines.items()}


def _line(event: Event) -> str:
    part = event.data["part"]
    match event.part_type:
        case "response" | "clarify" | "error":
            return str(part.get("text", ""))
        case "domain-data":
            text = json.dumps(part.get("data"), ensure_ascii=False, separators=(",", ":"))
            if len(text) > DATA_CHARACTERS:
                text = f"{text[:DATA_CHARACTERS]} (cut: {len(text)} characters in all)"
            return f"[Data shown, {part['metadata'].get('dataKind', 'no kind')}: {text}]"
        case "approval-request":
            return f"[Asked for approval: {part['metadata'].get('question', '')}]"
        case "approval-response":
            data = part["data"]
            reason = f", reason: {data['reason']}" if data.get("reason") else ""
            return f"[Approval {data['decision']}{reason}]"
        case _:
            return ""
