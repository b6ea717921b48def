"""Calls of agents' functions that are about to be made: as messages, in the form of the surface's version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from a2ui.binding.agent_calls import AgentCalls, Request
from a2ui.rendering.asking import requests
from a2ui.surface.surface import Surface


class CallsDue(NamedTuple):
    """Calls that a surface wants made: the `callAgentFunction` messages, and the ids of calls that are not shown any
    more and go to give them room. `clicked`: a person asked for it, and nothing shows the answer."""

    owner: str
    surface_id: str
    messages: list[dict[str, Any]]
    forget: list[str]
    clicked: bool = False


def due(surface: Surface) -> CallsDue | None:
    """What the surface, as it is drawn now, wants asked and was not; as much of it as there is room for."""
    calls = surface.calls
    if calls is None or not surface.view.live or not calls.parts:
        return None
    surface.note()
    shown = requests(surface.view, calls)
    wanted = [asked for key, asked in shown.items() if key not in calls.by_key]
    room = calls.room
    forget = [call.id for key, call in calls.by_key.items() if key not in shown] if room < len(wanted) else []
    made = wanted[: max(0, room + len(forget))]
    return CallsDue(surface.owner, surface.id, messages(surface, calls, made), forget) if made else None


def messages(surface: Surface, calls: AgentCalls, asked: Sequence[Request]) -> list[dict[str, Any]]:
    """A `callAgentFunction` for each request."""
    return [
        {
            "version": surface.version,
            "callAgentFunction": {
                "surfaceId": surface.id,
                "functionCallId": f"{surface.dom_id}-f{number}",
                "callFunction": _call(request),
            },
        }
        for number, request in enumerate(asked, calls.count + 1)
    ]


def _call(asked: Request) -> dict[str, Any]:
    whose = {"catalogId": asked.catalog_id} if asked.catalog_id else {}
    return {"@call": asked.name, **whose, "args": asked.arguments}
