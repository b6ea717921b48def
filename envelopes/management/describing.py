"""What of a definition decides how it behaves, in a few words."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from envelopes.delivery import rules
from envelopes.protocol.text import shorten
from envelopes.registries.actors import Actor
from envelopes.registries.catalogs import Own
from envelopes.registries.doors import Door
from envelopes.registries.part_types import PartType
from envelopes.registries.state_machines import StateMachine
from envelopes.registries.surface_templates import SurfaceTemplate
from envelopes.registries.tools import Tool
from envelopes.registries.transports import Transport
from envelopes.registries.turn_states import TurnState

LONGEST = 80
"""Characters of a tool's description: it is written for models."""


@runtime_checkable
class Summed(Protocol):
    """A definition of a transport's own registry, which says what it is in a few words."""

    @property
    def summary(self) -> str: ...


def described(item: object) -> str:
    """Raises ``TypeError`` for a kind of definition that is not known here."""
    match item:
        case PartType():
            return _with(item.description, ", ".join(rules.in_words(item)))
        case SurfaceTemplate():
            return f"drawn by {item.draw.__module__}.{getattr(item.draw, '__qualname__', type(item.draw).__name__)}"
        case TurnState():
            marks = {
                "terminal": item.terminal,
                "emits an envelope": item.emits_envelope,
                "holds its actor": item.holds_actor,
                "passes its turn on": item.passes,
                "asks another actor": item.delegates,
                "not for models": not item.declarable,
            }
            return _with(item.meaning, ", ".join(name for name, holds in marks.items() if holds))
        case StateMachine():
            who = {"agents": item.allow_handler_transitions, "peers": item.allow_peer_transitions}
            changed = " and ".join(name for name, lets in who.items() if lets) or "code alone"
            return f"{', '.join(item.coordinates)}; changed by {changed}"
        case Transport():
            return ", ".join([item.kind, *sorted(item.capabilities)])
        case Actor():
            return f"{item.display_name}, tools: {', '.join(tool.name for tool in item.all_tools) or 'none'}"
        case Tool():
            return shorten(item.description, LONGEST)
        case Door():
            return str(item.label)
        case Own():
            return f"{len(item.catalog.components)} components, {len(list(item.catalog.functions))} functions"
        case Summed():
            return item.summary
        case _:
            raise TypeError(f"There are no words for a {type(item).__name__}.")


def _with(description: str, rules: str) -> str:
    return f"{description}: {rules}" if description and rules else description or rules
