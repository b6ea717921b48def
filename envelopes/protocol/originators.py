"""Who began a turn, and what they take: stored when it opens, so its end does not depend on who is there then (D59)."""

from __future__ import annotations

from typing import TypedDict

from envelopes.types import PrincipalKind


class Originator(TypedDict):
    """``principal`` is the key of whoever it was. ``consumes`` are the part types that their card names, for those who
    have one."""

    principal: str
    kind: PrincipalKind
    consumes: list[str]
