"""Flows as generators, and how one is carried on from what a request says has happened already.

A flow yields what Sally does next and gets back how it went. It keeps nothing: each time the model is called, the
flow runs again from its start, and every tool call that already stands in the request answers one step of it. What
is left over is the reply. So a flow carries on after a crash at any point, in any process.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TypeAlias

from envelopes.providers.scripted import Call, Conversation, Outcome, Reply, Say, text
from envelopes.types import JsonObject


@dataclass(frozen=True)
class Later:
    """Wait for the result of the background tool that was called last."""


_STILL = "Still working on it"

Step: TypeAlias = Say | Call | Later
Flow: TypeAlias = Generator[Step, Outcome | None, None]


def play(flow: Flow, conversation: Conversation) -> Reply:
    """What comes after the steps that stand in the request: up to the next result that is needed."""
    past = iter([call for call in conversation.calls if not _is_waiting(call)])
    first = {outcome.call_id: outcome for outcome in conversation.outcomes if not outcome.late}
    late = {outcome.call_id: outcome for outcome in conversation.outcomes if outcome.late}
    blocks: list[Say | Call] = []
    answer: Outcome | None = None
    called = ""
    while True:
        try:
            step = flow.send(answer)
        except StopIteration:
            return Reply(blocks or [_ending(conversation)])
        answer = None
        if isinstance(step, Later):
            failed = first[called] if called in first and first[called].is_error else None
            answer = late.get(called) or failed
            if blocks or answer is None:
                return Reply(blocks or [_waiting()])
            continue
        done = next(past, None)
        if done is None:
            blocks.append(step)
            if isinstance(step, Call):
                return Reply(blocks)
        elif isinstance(step, Call):
            called = done["id"]
            answer = first.get(called)


def going_on(flow: Flow) -> Flow:
    """``flow``, after which another one follows in the same turn: its end is none."""
    answer: Outcome | None = None
    while True:
        try:
            step = flow.send(answer)
        except StopIteration:
            return
        answer = yield replace(step, state="awaiting") if isinstance(step, Say) else step


def _ending(conversation: Conversation) -> Say:
    """For a flow that is over although the model is asked again."""
    refused = any(o.is_error for o in conversation.outcomes if o.tool == "respond")
    if refused or conversation.corrections:
        return Say([text("error", "Part of my answer could not be shown. Ask me again.")], "error")
    return Say([text("response", "That is all. What else can I do for you?")])


def _waiting() -> Say:
    return Say([text("thinking", _STILL)], "awaiting")


def _is_waiting(call: JsonObject) -> bool:
    """Whether a call of the reply is what somebody was told who wrote while a tool was at work: no step of the flow."""
    parts = call["input"].get("parts") if call["name"] == "respond" else None
    return isinstance(parts, list) and [part.get("text") for part in parts] == [_STILL]
