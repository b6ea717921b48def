"""Trying again what failed, as the error part asked for (respond() document, "error": "may be re-emitted through retry
policies").

The next attempt is a turn that waits for its time: opened in the transaction in which the failed one settles, and begun
once, whoever is gone meanwhile. A person who stops what is at work stops that too.
"""

from __future__ import annotations

from envelopes.log.append import Writer, writing
from envelopes.models import Turn
from envelopes.protocol.parts import Part
from envelopes.protocol.payloads import RetryPolicy
from envelopes.protocol.respond import RespondCall
from envelopes.registries.part_types import part_types
from envelopes.registries.statuses import TURN, TurnStatus
from envelopes.turns.lifecycle import settle, time_out
from envelopes.turns.opening import open_turn, trigger_again, turn_data
from envelopes.turns.parts import append_parts
from envelopes.types import JsonObject

REPEATED = "repeated"
"""The key in a part's metadata that says which emission of it this is: ``{number, of}``."""


def schedule(writer: Writer, turn: Turn, part: JsonObject) -> Turn | None:
    """Open the next attempt of ``turn``, which has settled with the error ``part``; None where there are no more. Of a
    turn that was delegated whoever waits for it decides."""
    if turn.delegated_from is not None:
        return None
    policy = RetryPolicy.model_validate(part["data"]["retryPolicy"])
    before = turn.trigger.get("retry", {})
    number, of = before.get("number", 0) + 1, min(policy.attempts, before.get("of", policy.attempts))
    if number > of:
        return None
    retry = {"number": number, "of": of, "mode": policy.mode}
    if policy.mode == "emit":
        retry["part"] = part
    return open_turn(
        writer,
        {**trigger_again(turn), "retry": retry},
        actor=turn.actor,
        originators=turn.originators,
        status=TurnStatus.WAITING,
        reason="retry",
        due_at=writer.now.timestamp() + policy.afterSeconds,
    )


def begin_due(turn_pk: int, session_pk: int, now: float) -> None:
    """Begin a turn whose time has come, or end one whose time is up, of ``sweeping.due_turns``."""
    with writing(session_pk) as writer:
        turn = Turn.objects.select_related("session").get(pk=turn_pk)
        if turn.status != TurnStatus.WAITING:
            return
        if turn.deadline is not None and turn.deadline <= now:
            time_out(writer, turn)
        elif turn.due_at is not None and turn.due_at <= now:
            _begin(writer, turn)


def _begin(writer: Writer, turn: Turn) -> None:
    retry = turn.trigger["retry"]
    turn.due_at = None
    if retry["mode"] == "turn":
        TURN.check(turn.status, TurnStatus.QUEUED)
        turn.status = TurnStatus.QUEUED
        turn.save(update_fields=["status", "due_at"])
        writer.add("turn", turn_data(turn, turn.status, reason="retry"), turn=turn)
        writer.wake_runner()
        return
    turn.save(update_fields=["due_at"])
    part = retry["part"]
    told = {**part["metadata"], REPEATED: {"number": retry["number"], "of": retry["of"]}}
    append_parts(writer, turn, [{**part, "metadata": told}], "runtime", state="error")
    settle(writer, turn, turn_state="error", finalized_by="error")
    schedule(writer, turn, part)


def retried_part(call: RespondCall) -> JsonObject | None:
    """The last part of ``call`` that names a retry policy, and may."""
    named = [part for part in call.parts if part_types[part.part_type].may_retry and _policy_of(part)]
    return named[-1].as_json() if named else None


def _policy_of(part: Part) -> object:
    return (part.data or {}).get("retryPolicy")
