"""A row of the log as presenters see it: plain, frozen, without a database behind it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from envelopes.types import JsonObject

Audience = Literal["delivered", "audit"]

KINDS: dict[str, Audience] = {
    "message": "delivered",
    "action": "delivered",
    "edit": "delivered",
    "show": "delivered",
    "turn": "delivered",
    "part": "delivered",
    "withdrawn": "delivered",
    "tool": "delivered",
    "settled": "delivered",
    "free-text": "audit",
    "refused": "audit",
    "note": "audit",
    "tool-result": "audit",
    "late-decision": "audit",
    "diagnostic": "audit",
    "provider": "audit",
}
"""Every kind of row and who gets it unless the row says otherwise; the table in docs/architecture.md explains them."""

LISTED = frozenset({"turn", "settled"})
"""Kinds of rows after which a list of sessions shows theirs otherwise: new, at work, waiting for somebody, done."""


@dataclass(frozen=True, slots=True)
class Row:
    """``seq`` is gap-free from 1 within a session. ``turn`` is the number of the turn within the session, 0 for none.
    ``at`` is aware, UTC. ``data`` by kind as in docs/architecture.md."""

    seq: int
    kind: str
    at: datetime
    data: JsonObject
    part_type: str = ""
    actor: str = ""
    turn: int = 0
    audience: Audience = "delivered"
