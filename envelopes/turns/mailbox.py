"""What a turn has gathered, for the actor that goes on with it or is asked within it (respond() document, "passTo")."""

from __future__ import annotations

from envelopes.models import Injection, ToolCall, Turn
from envelopes.registries.statuses import CallStatus
from envelopes.types import JsonObject


def mailbox_of(turn: Turn) -> list[JsonObject]:
    """What this turn was given and what has come in for it: each of its calls with its result, its error or how far it
    is, and what other actors answered. What nobody has read yet is left out: it comes by itself.

    Data that was shown stands in what models read of earlier turns, as ever.
    """
    given = [
        entry
        for source in ("handoff", "delegation")
        for entry in turn.trigger.get(source, {}).get("mailbox", [])
        # It comes again, with how far it is by now.
        if entry.get("status") != "running"
    ]
    unread = set(turn.injections.filter(consumed_at=None).values_list("data__callId", flat=True))
    earlier = turn.lineage()
    calls = ToolCall.objects.filter(turn=turn).order_by("position")
    running = ToolCall.objects.filter(turn__in=earlier, background=True, state=CallStatus.RUNNING)
    answers = Injection.objects.filter(turn=turn, kind="delegated").exclude(consumed_at=None)
    return [
        *given,
        *(_entry(call) for call in calls if call.state != CallStatus.RUNNING and call.call_id not in unread),
        *({"delegated": injection.data.get("payload")} for injection in answers),
        *({"tool": call.name, "args": call.args, "status": "running"} for call in running.order_by("pk")),
    ]


def _entry(call: ToolCall) -> JsonObject:
    if call.state == CallStatus.SUCCEEDED:
        return {"tool": call.name, "result": call.result}
    return {"tool": call.name, "status": call.state, "error": call.error}
