"""The envelope protocol and its runtime: a log for each conversation, turns that agents run, transports that follow.

What an agent of an application is made of is named here, and stays: ``from envelopes import Actor, Tool, register``.
Each name is looked up when it is asked for, since Django imports this package before there are settings. The names for
other ends, and where they are, are a table in docs/extending.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "ACTOR",
    "ANYONE",
    "INBOUND",
    "OWNER",
    "STAFF",
    "Actor",
    "Answer",
    "ApprovalPolicy",
    "Ask",
    "Asking",
    "AutoApprove",
    "BeachError",
    "BlockEnded",
    "BlockStarted",
    "Conflict",
    "Coordinate",
    "Door",
    "Forbidden",
    "Group",
    "InputFragment",
    "Instructing",
    "Json",
    "JsonObject",
    "ModelEvent",
    "ModelRequest",
    "NoQuestion",
    "NotFound",
    "PartType",
    "Permission",
    "Prompt",
    "Provider",
    "ProviderError",
    "RegistrationError",
    "ReplyEnded",
    "Shown",
    "Slot",
    "StateMachine",
    "SurfaceTemplate",
    "TemplateContext",
    "TextFragment",
    "Tool",
    "ToolContext",
    "ToolFailed",
    "Transport",
    "TurnState",
    "Unavailable",
    "UsageTold",
    "ValidationFailed",
    "register",
]

if TYPE_CHECKING:
    from envelopes.errors import (
        BeachError,
        Conflict,
        Forbidden,
        NotFound,
        ProviderError,
        RegistrationError,
        ToolFailed,
        Unavailable,
        ValidationFailed,
    )
    from envelopes.providers.port import (
        BlockEnded,
        BlockStarted,
        InputFragment,
        ModelEvent,
        ModelRequest,
        Provider,
        ReplyEnded,
        TextFragment,
        UsageTold,
    )
    from envelopes.registries.actors import Actor, Instructing, Prompt
    from envelopes.registries.doors import Door
    from envelopes.registries.part_types import ACTOR, ANYONE, INBOUND, PartType
    from envelopes.registries.policies import (
        OWNER,
        STAFF,
        Answer,
        Ask,
        Asking,
        AutoApprove,
        Group,
        NoQuestion,
        Permission,
    )
    from envelopes.registries.registering import register
    from envelopes.registries.shown import Shown
    from envelopes.registries.slots import Slot
    from envelopes.registries.state_machines import Coordinate, StateMachine
    from envelopes.registries.surface_templates import SurfaceTemplate, TemplateContext
    from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
    from envelopes.registries.transports import Transport
    from envelopes.registries.turn_states import TurnState
    from envelopes.types import Json, JsonObject
else:
    # Not for type checkers: they would take any name for one that is here.

    _HOMES = {
        "errors": (
            "BeachError Conflict Forbidden NotFound ProviderError RegistrationError ToolFailed Unavailable "
            "ValidationFailed"
        ),
        "providers.port": (
            "BlockEnded BlockStarted InputFragment ModelEvent ModelRequest Provider ReplyEnded TextFragment UsageTold"
        ),
        "registries.actors": "Actor Instructing Prompt",
        "registries.doors": "Door",
        "registries.part_types": "ACTOR ANYONE INBOUND PartType",
        "registries.policies": "OWNER STAFF Answer Ask Asking AutoApprove Group NoQuestion Permission",
        "registries.registering": "register",
        "registries.shown": "Shown",
        "registries.slots": "Slot",
        "registries.state_machines": "Coordinate StateMachine",
        "registries.surface_templates": "SurfaceTemplate TemplateContext",
        "registries.tools": "ApprovalPolicy Tool ToolContext",
        "registries.transports": "Transport",
        "registries.turn_states": "TurnState",
        "types": "Json JsonObject",
    }
    _HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

    def __getattr__(name):
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"{__name__}.{home}"), name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
