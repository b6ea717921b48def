"""Turns as sentences: where one stands, how the replies of its model ended, and how it ended itself."""

from __future__ import annotations

from django.utils.translation import gettext as _

from envelopes.costs import with_cost
from envelopes.markup.asked_again import was_to_be_asked
from envelopes.part_types.llm_context import LLM_CONTEXT
from envelopes.protocol.rows import Row
from envelopes.protocol.text import shorten
from envelopes.registries.turn_states import emits_envelope
from envelopes.types import Json, JsonObject

_CHARACTERS = 400


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return shorten(value, _CHARACTERS) if isinstance(value, str) else ""


def stands(row: Row) -> str:
    status, reason = str(row.data.get("status")), str(row.data.get("reason"))
    retry = _object(row.data.get("retry"))
    if reason == "model" and "at" not in retry:
        return _("Tried again ({}).").format(_attempt(retry))
    if reason == "model":
        return f"{was_to_be_asked(retry, _text(retry.get('at')))} ({_attempt(retry)})."
    if status == "running":
        again = _("Taken over after the previous worker stopped (attempt {}).")
        words = again if reason == "recovered" else _("Started (attempt {}).")
        return words.format(row.data.get("attempt"))
    told = {
        ("queued", "approval"): _("Resumed after the decision."),
        ("queued", "came-in"): _("Resumed: something has come in."),
        ("queued", "retry"): _("Tried again ({})."),
        ("suspended", "state"): _("Put aside until something comes in."),
        ("waiting", "peer"): _("Waiting for the agent it asked."),
        ("waiting", "retry"): _("To be tried again ({}) at {}."),
        "queued": _("Queued."),
        "suspended": _("Waiting for approval."),
        "waiting": _("Waiting for background work."),
    }
    found = told.get((status, reason)) or told.get(status)
    return found.format(_attempt(retry), retry.get("at", "?")) if found else _("Status: {}.").format(status)


def _attempt(retry: JsonObject) -> str:
    return _("{} of {}").format(retry.get("number", "?"), retry.get("of", "?"))


def settled(row: Row) -> str:
    if "joined" in row.data:
        return _("Read as part of answer {}, which was already running when it arrived.").format(
            row.data["joined"]
        )
    state, by = row.data.get("turnState"), row.data.get("finalizedBy")
    problem = _text(_object(row.data.get("problem")).get("message"))
    if problem:
        return _("Answer ended: {} ({}). {}").format(state, by, problem)
    plain = _("Answer ended: {}.").format(state)
    told = plain if state == by else _("Answer ended: {} ({}).").format(state, by)
    stopped = {
        "person": _("Stopped by the person."),
        "program": _("Stopped by the program that asked."),
        "staff": _("Stopped by staff."),
    }
    told = f"{told} {stopped.get(str(row.data.get('stoppedBy')), '')}".strip()
    # The answer of an actor that was asked is part of another one's.
    has_envelope = emits_envelope(state) and "delegatedFrom" not in row.data
    return f"{told} {LLM_CONTEXT.name}: {_context(row)}." if has_envelope else told


def _context(row: Row) -> str:
    """What became of the words for other agents' models."""
    known = {
        "": _("none, nobody who began it reads it"),
        "made": _("made by the second model"),
        "actor": _("written by the actor"),
        "no-model": _("none, the actor has no second model"),
        "nothing-said": _("none, there was nothing to explain"),
        "limit": _("none, a limit on tokens or cost was reached"),
        "timeout": _("none, the second model took too long"),
        "failed": _("none, the second model failed"),
        "empty": _("none, the second model said nothing"),
        "stopped": _("none, the turn was stopped meanwhile"),
        "delegated": _("left to the actor that was asked"),
        "interrupted": _("none, the server stopped meanwhile"),
    }
    became = str(row.data.get("llmContext") or "")
    return known.get(became, became)


def replied(row: Row) -> str:
    error = row.data.get("error")
    usage = _object(row.data.get("usage"))
    used = ", ".join(f"{name} {count:,}" for name, count in usage.items() if isinstance(count, int))
    used = with_cost(used, row.data.get("cost")) if used else used
    if row.data.get("estimated"):
        used = _("Estimated: {}").format(used)
    if error:
        told = _("The model failed: {}").format(_text(_object(error).get("message")) or _text(error))
        return f"{told} {used}".strip()
    if purpose := _text(row.data.get("purpose")):
        return _("The second model was asked for {}. {}").format(purpose, used)
    if row.data.get("estimated") and "stopReason" not in row.data:
        return _("Model reply was stopped. {}").format(used)
    return _("Model reply ended: {}. {}").format(row.data.get("stopReason"), used).strip()
