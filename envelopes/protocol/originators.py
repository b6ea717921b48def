"""Who began a turn, and what they take: stored when it opens, so its end does not depend on who is there then (D59)."""

from __future__ import annotations

from typing import TypedDict

from envelopes.protocol.surfaces import is_reserved
from envelopes.types import PrincipalKind


class Originator(TypedDict):
    """``principal`` is the key of whoever it was. ``consumes`` are the part types that their card names, for those who
    have one."""

    principal: str
    kind: PrincipalKind
    consumes: list[str]


def is_principal(owner: str) -> bool:
    """Whether the owner of a surface is the key of a principal (``access``): it was brought in, and is no actor's,
    whose names have no colon, nor the runtime's."""
    return ":" in owner and not is_reserved(owner)
