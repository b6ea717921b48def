"""Who began a turn, and what they take: stored when it opens, so its end does not depend on who is there then (D59)."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from envelopes.protocol.surfaces import is_reserved
from envelopes.types import PrincipalKind


class Originator(TypedDict):
    """``principal`` is the key of whoever it was. ``consumes`` are the part types that their card names, for those who
    have one. ``origin`` stands for the address of a guest where what those cost is bounded (``turns.day_costs``)."""

    principal: str
    kind: PrincipalKind
    consumes: list[str]
    origin: NotRequired[str]


def is_principal(owner: str) -> bool:
    """Whether the owner of a surface is the key of a principal (``access``): it was brought in, and is no actor's,
    whose names have no colon, nor the runtime's."""
    return ":" in owner and not is_reserved(owner)
