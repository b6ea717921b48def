"""What a job says after its turn has settled: whose it is. What is new there begins the turn that its result will be
answered in, so that it is on the page, in that turn's envelope and in what later models read."""

from __future__ import annotations

from collections.abc import Sequence

from a2ui import SurfaceSet
from envelopes.delivery import rules
from envelopes.log.append import Writer
from envelopes.models import ToolCall, Turn
from envelopes.protocol.parts import Part
from envelopes.protocol.surfaces import messages_of
from envelopes.registries.part_types import part_types
from envelopes.registries.statuses import TurnStatus
from envelopes.session_state import live_sessions
from envelopes.turns.opening import follow_up


def turn_for(writer: Writer, turn: Turn, call: ToolCall, parts: Sequence[Part], owner: str) -> Turn:
    """The turn that ``parts`` of ``call`` go to: ``turn``, or, once that has settled and some of them are to be kept, a
    new one that waits for the outcome of the call. ``owner`` is the actor whose surfaces they speak of.

    Raises ``ValidationFailed`` for surface parts that hold no messages.
    """
    if turn.status != TurnStatus.SETTLED:
        return turn
    with live_sessions.open(writer.session) as view:
        if not brings_new(view.surfaces, parts, owner):
            return turn
    trigger = {"kind": "injection", "injection": "tool-result", "tool": call.name, "callId": call.call_id}
    return follow_up(writer, turn, trigger, status=TurnStatus.WAITING)


def brings_new(surfaces: SurfaceSet, parts: Sequence[Part], owner: str) -> bool:
    """Whether some of ``parts`` are to be kept, and begin a turn where theirs has settled. Raises as ``turn_for``."""
    return any(_is_new(surfaces, part, owner) for part in parts)


def _is_new(surfaces: SurfaceSet, part: Part, owner: str) -> bool:
    kind = part_types[part.part_type]
    if rules.begins_turn(kind, new=False):
        return True
    return rules.begins_turn(kind, new=True) and _opens_surface(surfaces, part, owner)


def _opens_surface(surfaces: SurfaceSet, part: Part, owner: str) -> bool:
    """Whether it speaks of a surface that is not there: whatever it says of it, it begins one or is refused."""
    named = {
        body["surfaceId"]
        for message in messages_of(part.data)
        for verb, body in message.items()
        if verb != "deleteSurface" and isinstance(body, dict) and isinstance(body.get("surfaceId"), str)
    }
    return any(surfaces.get(owner, surface_id) is None for surface_id in named)
