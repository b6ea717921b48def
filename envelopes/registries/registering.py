"""One call for whatever an application registers: by what it is, it goes to the registry of its kind."""

from __future__ import annotations

from typing import Any, TypeAlias

from a2ui import Catalog
from envelopes.errors import RegistrationError
from envelopes.registries import catalogs
from envelopes.registries.actors import Actor, actors
from envelopes.registries.base import Registry
from envelopes.registries.doors import Door, doors
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.state_machines import StateMachine, state_machines
from envelopes.registries.surface_templates import SurfaceTemplate, surface_templates
from envelopes.registries.tools import Tool, tools
from envelopes.registries.transports import Transport, transports
from envelopes.registries.turn_states import TurnState, turn_states

Registrable: TypeAlias = (
    Actor | Catalog | Door | PartType | StateMachine | SurfaceTemplate | Tool | Transport | TurnState
)

_REGISTRIES: dict[type, Registry[Any]] = {
    Actor: actors,
    Door: doors,
    PartType: part_types,
    StateMachine: state_machines,
    SurfaceTemplate: surface_templates,
    Tool: tools,
    Transport: transports,
    TurnState: turn_states,
}


def register(*definitions: Registrable) -> None:
    """Register each of ``definitions``, in their order: in the module ``beach.py`` of an application, which is imported
    at start-up. The tools of an actor come with it; a tool is registered for the actors of other applications.

    Raises ``RegistrationError`` for a name that is taken, for what comes too late, and for anything else than a
    definition; nothing of the call is registered in the last case.
    """
    given: tuple[object, ...] = definitions
    kinds = (Catalog, *_REGISTRIES)
    if wrong := [item for item in given if not isinstance(item, kinds)]:
        known = ", ".join(sorted(kind.__name__ for kind in kinds))
        instead = f"{wrong[0].__name__} is a class" if isinstance(wrong[0], type) else f"{wrong[0]!r:.60}"
        raise RegistrationError(f"Register one of {known}: {instead} is none.")
    for item in definitions:
        if isinstance(item, Catalog):
            catalogs.register(item)
            continue
        registry = next(found for kind, found in _REGISTRIES.items() if isinstance(item, kind))
        registry.register(item)
