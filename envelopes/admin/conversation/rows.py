"""What a page about one moment of a conversation reads of the log: one statement, bounded, without what is large."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, F, JSONField, When

from envelopes.costs import Taken, paid, taken
from envelopes.delivery import rules
from envelopes.models import Event, Session
from envelopes.part_types.staff_message import STAFF_MESSAGE
from envelopes.protocol.rows import Row
from envelopes.registries.part_types import part_types
from envelopes.types import JsonObject

AROUND = 1_000
"""Rows before and after the moment that are read."""

SPOKEN = frozenset({"message", "action", "edit", "show", "part", "takeover", "consent"})
"""Kinds of rows in which somebody says or does something: the conversation itself tells of those."""

_TOLD = ("turn", "settled", "provider", "tool", "takeover", "refused", "state-refused", "diagnostic", "note")
_KEYS = {"name": "data__name", "state": "data__state", "error": "data__error", "kind_of": "data__dataKind"}


@dataclass(frozen=True)
class Glance:
    """A row without what is large of it: ``data`` is what a line about it needs."""

    seq: int
    kind: str
    part_type: str
    actor: str
    turn: int
    audience: str
    at: datetime
    data: JsonObject

    @property
    def is_runtime(self) -> bool:
        """Whether people did not see it."""
        return self.audience == "audit" or self.kind not in SPOKEN

    @property
    def failed(self) -> bool:
        """Whether something went wrong there."""
        match self.kind:
            case "settled":
                return self.data.get("finalizedBy") in ("error", "timeout")
            case "tool-result":
                return self.data.get("state") in ("failed", "unknown")
            case "provider":
                return bool(self.data.get("error"))
        return self.kind == "refused"

    @property
    def usage(self) -> int:
        """Tokens that a model read, from a cache too, and wrote."""
        return self.taken.total

    @property
    def taken(self) -> Taken:
        """The same by kind."""
        return taken(self.data.get("usage") if self.kind == "provider" else None)

    @property
    def cost(self) -> float:
        """What it cost; 0 where that is not known."""
        return paid(self.data.get("cost")) if self.kind == "provider" else 0.0

    def as_row(self) -> Row:
        audience: Any = self.audience
        return Row(self.seq, self.kind, self.at, self.data, self.part_type, self.actor, self.turn, audience)


@dataclass(frozen=True)
class Near:
    """The rows around the moment ``at``, in order. ``first`` is 1 where the log begins with them."""

    rows: Sequence[Glance]
    at: int
    first: int
    last: int

    @property
    def now(self) -> Glance | None:
        return next((row for row in self.rows if row.seq == self.at), None)

    @property
    def before(self) -> int | None:
        """The last row before this one that people saw something of."""
        seen = [row.seq for row in self.rows if row.seq < self.at and not row.is_runtime]
        return seen[-1] if seen else (self.first - 1 or None)

    @property
    def after(self) -> int | None:
        """The next one; the last row of all where only the runtime did something since."""
        later = [row.seq for row in self.rows if row.seq > self.at]
        seen = next((row.seq for row in self.rows if row.seq > self.at and not row.is_runtime), None)
        return seen or (later[-1] if later else None)

    def marks(self) -> list[tuple[int, str]]:
        """What stands out: a row, and the class of its mark."""
        found = ((row.seq, _mark(row)) for row in self.rows)
        return [(seq, mark) for seq, mark in found if mark]


def _mark(row: Glance) -> str:
    if row.failed:
        return "is-bad"
    if row.kind in ("message", "action"):
        return "is-me"
    if row.kind == "takeover" or row.part_type == STAFF_MESSAGE.name:
        return "is-staff"
    kind = part_types.get(row.part_type)
    if row.kind == "part" and row.audience == "delivered" and kind is not None:
        return "is-ask" if rules.is_question(kind) else "is-said"
    return ""


def near(session: Session, at: int) -> Near:
    """Of long conversations only what is near ``at``."""
    first = max(1, at - AROUND + 1)
    events = Event.objects.filter(session=session, seq__gte=first, seq__lte=at + AROUND).order_by("seq")
    of_tools = {
        name: Case(When(kind="tool-result", then=F(path)), output_field=JSONField())
        for name, path in _KEYS.items()
    }
    told = Case(When(kind__in=_TOLD, then=F("data")), output_field=JSONField())
    found = events.annotate(told=told, **of_tools).values_list(
        "seq", "kind", "part_type", "actor", "turn", "audience", "at", "told", *_KEYS
    )
    return Near([_glance(values) for values in found], at, first, session.last_seq)


def _glance(values: Iterable[Any]) -> Glance:
    seq, kind, part_type, actor, turn, audience, at, told, name, state, error, data_kind = values
    data = told if isinstance(told, dict) else {}
    if kind == "tool-result":
        data = {"name": str(name), "state": state, "error": error, "dataKind": data_kind}
    return Glance(seq, kind, part_type, actor, turn, audience, at, data)
