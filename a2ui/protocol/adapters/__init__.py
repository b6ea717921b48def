"""v0.8, translated to v0.9 messages: its surfaces and data are too unlike all later ones to be read straight (22)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from a2ui.protocol.adapters.port import Adapter, Host, Step
from a2ui.protocol.adapters.v0_8 import V08
from a2ui.protocol.dialects import V08_VERBS

_V08: Final = V08()


def adapter_for(message: object, host: Host) -> Adapter | None:
    """The adapter that translates a message; None for what the engine reads itself, or refuses as unknown.

    v0.8 has no version key and is known by its verbs; its `deleteSurface` by the surface that it names, or by naming
    none that there is, which is no fault.
    """
    if not isinstance(message, dict):
        return None
    version = message.get("version")
    if version not in (None, _V08.version):
        return None
    if any(verb in message for verb in V08_VERBS):
        return _V08
    body = message.get("deleteSurface")
    if not isinstance(body, dict):
        return None
    surface = host.surface(body.get("surfaceId"))
    return _V08 if surface is None or surface.version == _V08.version else None


def outgoing(message: Mapping[str, Any]) -> dict[str, Any]:
    """A client-to-server message of the engine (`action` or `error`) in the form that its version asks for."""
    return _V08.outgoing(message) if message.get("version") == _V08.version else dict(message)


__all__ = ["Adapter", "Host", "Step", "adapter_for", "outgoing"]
