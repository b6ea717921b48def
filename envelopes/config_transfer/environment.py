"""What an import cannot bring: settings of Beach, and the approvals that tools ask for in code. Told to be compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from envelopes.conf import KNOWN, conf
from envelopes.engine_settings import a2ui_limits
from envelopes.protocol.config_envelope import ConfigEnvironment
from envelopes.registries.actors import actors
from envelopes.registries.tools import tools
from envelopes.types import Json, JsonObject

SECRET = frozenset(
    {"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "REDIS_URL", "BEACH_WHATSAPP_VERIFY"}
    | {name for name in KNOWN if name.endswith(("_KEY", "_SECRET", "_TOKEN"))}
)
"""Keys, and addresses that may hold a password: not told at all."""


def environment() -> ConfigEnvironment:
    """As it is here and now."""
    return ConfigEnvironment(
        settings={name: _json(getattr(conf, name)) for name in sorted(set(KNOWN) - SECRET)}
        | {"BEACH_A2UI_LIMITS": _json(asdict(a2ui_limits()))},
        approvals=dict(sorted(_approvals())),
    )


def differences(there: ConfigEnvironment) -> Iterator[tuple[str, Json, Json]]:
    """Name, value in the file and value here, of whatever is not the same; None where there is none."""
    here = environment()
    for told, own in ((there.settings, here.settings), (there.approvals, here.approvals)):
        for name in sorted({*told, *own}):
            if told.get(name) != own.get(name):
                yield name, told.get(name), own.get(name)


def _approvals() -> Iterator[tuple[str, JsonObject]]:
    """What asks before it runs: tools of actors as ``actor.tool``, those for everybody by their name."""
    found = [(f"{actor.name}.{tool.name}", tool) for actor in actors for tool in actor.all_tools]
    for name, tool in [*found, *((tool.name, tool) for tool in tools)]:
        if (policy := tool.approval) is not None:
            yield name, {"risk": policy.risk, "expires_after": policy.expires_after}


def _json(value: object) -> Json:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case dict():
            return {str(key): _json(inner) for key, inner in value.items()}
        case set() | frozenset():
            return sorted(map(str, value))
        case list() | tuple():
            return [_json(inner) for inner in value]
        case _:
            raise TypeError(f"There is no JSON for a {type(value).__name__}.")
