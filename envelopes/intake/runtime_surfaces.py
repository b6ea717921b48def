"""Surfaces that the runtime itself shows and that ask a person something: who is told of a click on one (D21, D22).

Their ids are reserved, so no agent makes or changes one, and a click on it comes to whoever registered it and to nobody
else. Those of approvals are older than this, and go to their own door (``intake.post_action``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from a2ui import ClientAction
from envelopes.access import Principal
from envelopes.errors import BeachError
from envelopes.log.append import Writer
from envelopes.registries.base import Registry
from envelopes.types import JsonObject

Act: TypeAlias = Callable[[Writer, Principal, ClientAction], JsonObject | BeachError]

_PREFIX = "beach:"


@dataclass(frozen=True)
class RuntimeSurface:
    """``act(writer, who, click)`` does what somebody wants who owns the conversation, under its lock, and returns the
    answer for the client. An error that it returns is told after the commit, one that it raises leaves nothing."""

    name: str
    act: Act


class RuntimeSurfaceRegistry(Registry[RuntimeSurface]):
    """By name, the part of their ids between the first two colons."""

    _NAME = re.compile(r"[a-z][a-z-]{0,31}")


runtime_surfaces = RuntimeSurfaceRegistry("runtime surface")


def surface_id(name: str, key: str) -> str:
    """The id of the surface of this kind that is about ``key``."""
    return f"{_PREFIX}{name}:{key}"


def key_of(surface_id: str) -> str:
    """What a surface is about."""
    return surface_id.split(":", 2)[-1]


def made_by(surface_id: str) -> RuntimeSurface | None:
    """Who made a surface of the runtime's; None for those of approvals, and where nobody did."""
    prefix, _, rest = surface_id.partition(":")
    return runtime_surfaces.get(rest.partition(":")[0]) if f"{prefix}:" == _PREFIX else None
