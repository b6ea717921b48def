"""Calls of agents' functions by surfaces: made in the transaction of the row that makes them due.

So the log alone says what is pending. An ``AgentCall`` is there as long as a call is, for whoever has to answer it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

from a2ui import CallsDue, SurfaceSet
from envelopes.conf import conf
from envelopes.log.append import Writer
from envelopes.models import AgentCall, Turn
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.originators import Originator
from envelopes.protocol.rows import AgentCallData
from envelopes.registries.actors import actors
from envelopes.session_state import live_sessions
from envelopes.turns.opening import open_turn
from envelopes.turns.surfaces import trying
from envelopes.types import JsonObject

MAX_HOPS = 8
"""So many turns in a row may be opened by calls that came of the answers to others."""

INJECTION = "agent-function-calls"

_HOW = (
    f"The interface waits for these. Answer each in an {A2UI_SURFACE.name} part with a message "
    '{"version": ..., "agentFunctionResponse": {"functionCallId": ..., "value": ...}}, or "error": {"code", "message"} '
    "instead of value."
)


def is_for_calls(turn: Turn) -> bool:
    """Whether calls of surfaces opened the turn, for its actor to answer."""
    return bool(turn.trigger.get("injection") == INJECTION)


def hops_of(turn: Turn) -> int:
    """How many turns in a row calls had opened when they opened this one; 0 for any other."""
    hops = turn.trigger.get("hops") if is_for_calls(turn) else 0
    return hops if isinstance(hops, int) else 0


def are_pending(turn: Turn) -> bool:
    """Whether one of the calls that opened the turn still waits for its answer."""
    messages = turn.trigger["payload"]["calls"]
    ids = [message["callAgentFunction"]["functionCallId"] for message in messages]
    return AgentCall.objects.filter(session=turn.session_id, call_id__in=ids).exists()


def make(
    writer: Writer,
    due: Iterable[CallsDue],
    *,
    turn: Turn | None = None,
    originators: Sequence[Originator] = (),
    hops: int = 0,
) -> None:
    """Make the calls: a row for each surface, and whoever answers is told. ``turn`` made them due, or ``originators``
    did; ``hops`` is how often that was an answer."""
    whose = list(turn.originators if turn is not None else originators)
    hops = hops_of(turn) if turn is not None else hops
    deadline = writer.now + timedelta(seconds=conf.BEACH_FUNCTION_SECONDS)
    asked: dict[str, list[JsonObject]] = {}
    for one in due:
        data: AgentCallData = {
            "owner": one.owner,
            "surfaceId": one.surface_id,
            "messages": one.messages,
            "forget": one.forget,
            "clicked": one.clicked,
        }
        writer.add("agent-call", data, turn=turn, actor=one.owner)
        end(writer, one.forget)
        actor = actors.get(one.owner)
        calls: list[AgentCall] = []
        for message in one.messages:
            body = message["callAgentFunction"]
            name = body["callFunction"]["@call"]
            by_tool = actor is not None and actor.answering(name) is not None
            calls.append(
                AgentCall(
                    session=writer.session,
                    call_id=body["functionCallId"],
                    owner=one.owner,
                    version=message["version"],
                    name=name,
                    args=body["callFunction"]["args"],
                    by_tool=by_tool,
                    originators=whose,
                    hops=hops + 1,
                    deadline=deadline,
                )
            )
            if not by_tool:
                asked.setdefault(one.owner, []).append(message)
        AgentCall.objects.bulk_create(calls)
        writer.wake_answering()
    for owner, messages in asked.items():
        # Beyond that, and where the actor is gone, nobody answers: they time out.
        if owner in actors and hops < MAX_HOPS:
            payload = {"calls": messages, "note": _HOW}
            trigger = {"kind": "injection", "injection": INJECTION, "payload": payload, "hops": hops + 1}
            open_turn(writer, trigger, actor=owner, originators=whose)


def end(writer: Writer, call_ids: Iterable[str]) -> None:
    """These calls wait no more: they were answered, or what made them is gone."""
    ids = list(call_ids)
    if ids:
        AgentCall.objects.filter(session=writer.session.pk, call_id__in=ids).delete()


def make_due(
    writer: Writer, change: Callable[[SurfaceSet], object], *, originators: Sequence[Originator] = ()
) -> None:
    """Make the calls that ``change`` of the surfaces makes due: right after the row that says the same was added, and
    before it is stored."""
    with live_sessions.open(writer.session, upto=writer.known_seq) as view:
        if not view.engine.catalogs.asks_agents or all(one.calls is None for one in view.surfaces):
            return

    def changed(surfaces: SurfaceSet) -> list[CallsDue]:
        change(surfaces)
        surfaces.flush()
        return surfaces.calls.due()

    make(writer, trying(writer, changed), originators=originators)
