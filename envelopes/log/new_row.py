"""Rows on their way into the log."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from envelopes.protocol.rows import KINDS, Audience, Row
from envelopes.types import JsonObject


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row that has no number yet. ``turn`` is the number of the turn within the session, 0 for none.

    ``text`` is ``data`` as a JSONField writes it, made here and now: what changes in ``data`` later is not stored, and
    what is no JSON raises ``TypeError`` before anybody else's rows stand beside it in a transaction. ``delivers`` as in
    ``Row``, which has the same.
    """

    kind: str
    data: JsonObject
    part_type: str = ""
    actor: str = ""
    turn: int = 0
    audience: Audience | None = None
    text: str = field(init=False, repr=False)
    delivers: dict[str, Any] = field(init=False, default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "audience", self.audience or KINDS[self.kind])
        object.__setattr__(self, "text", json.dumps(self.data))

    def numbered(self, seq: int, at: datetime, data: JsonObject) -> Row:
        """The row as readers see it; ``data`` is what ``text`` is when it is read back (``reading``)."""
        audience = self.audience or KINDS[self.kind]
        return Row(seq, self.kind, at, data, self.part_type, self.actor, self.turn, audience, self.delivers)
