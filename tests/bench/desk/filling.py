"""A database with many conversations: copies of one that the runtime has written, row for row, by bulk statements.

Each copy has a person, words and ids of its own. What the search keeps is made by the search's own code.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, models, transaction
from django.utils import timezone

from envelopes.models import (
    Approval,
    Artifact,
    ConversationFacts,
    ConversationWords,
    Event,
    Participant,
    SearchCursor,
    Session,
    ToolCall,
    Turn,
)
from envelopes.models.ids import public_id
from envelopes.search import index_all
from envelopes.search.backends import backend_for
from envelopes.search.folding import tokens_of
from envelopes.search.indexing import SLACK
from envelopes.search.places import place_of
from tests import factories

ROWS = 10
"""Rows of one conversation."""

RARE, COMMON = "hapax", "refund"
"""A word that three conversations have, and one that nine of ten have."""

_AT_ONCE = 5_000
_NAMES = ("Ada", "Mary", "Emmy", "Alan", "Charles", "Grace", "Zoë", "Jürgen", "Łukasz", "Noor")
_PLACES = ("Corfu", "Porto", "Lisbon", "Zürich", "Köln", "Aarhus", "Sofia", "Kraków", "Bergen", "Málaga")
_WORDS = [
    *(
        "flight",
        "hotel",
        "seat",
        "window",
        "invoice",
        "luggage",
        "delay",
        "voucher",
        "train",
        "ticket",
        "night",
    ),
    *("morning", "family", "child", "wheelchair", "breakfast", "airport", "connection", "visa", "passport"),
    *("insurance", "weather", "beach", "harbour", "ferry", "bicycle"),
]
_MARK = "@@words@@"


@dataclass
class _Table:
    """Rows of one model as the database has them, by column."""

    model: type[models.Model]
    columns: list[str]
    sources: list[dict[str, Any]]
    made: list[list[Any]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.model._meta.db_table

    @classmethod
    def of(cls, model: type[models.Model], session: Session, order: str = "id") -> _Table:
        key = "id" if model is Session else "session_id"
        with connection.cursor() as cursor:
            table = model._meta.db_table
            cursor.execute(f"SELECT * FROM {table} WHERE {key} = %s ORDER BY {order}", [session.pk])  # noqa: S608
            columns = [column[0] for column in cursor.description]
            return cls(model, columns, [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()])

    def add(self, source: dict[str, Any], **changes: Any) -> None:
        row = {**source, **changes}
        self.made.append([row[column] for column in self.columns])

    def write(self) -> None:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                listed = ", ".join(f'"{column}"' for column in self.columns)
                with cursor.copy(f"COPY {self.name} ({listed}) FROM STDIN") as copy:
                    for row in self.made:
                        copy.write_row(row)
        else:
            places = ", ".join(["%s"] * len(self.columns))
            listed = ", ".join(f'"{column}"' for column in self.columns)
            statement = f"INSERT INTO {self.name} ({listed}) VALUES ({places})"  # noqa: S608 - names of ours
            with connection.cursor() as cursor:
                cursor.executemany(statement, self.made)
        self.made.clear()


def fill(count: int) -> None:
    """``count`` conversations of ``ROWS`` rows each, with an answer, an action, an approval and a file."""
    picked = random.Random(7)
    people = _people(max(1, min(count // 10, 1_000)))
    source = _source()
    tables = {model: _Table.of(model, source) for model in _MODELS}
    keys = {model: _highest(model) for model in _MODELS}
    newest = timezone.now()
    kept: list[_Kept] = []
    for number in range(count):
        at = newest - timedelta(seconds=30) * (count - 1 - number)
        kept.append(_copy(tables, keys, number, count, at, people, picked))
        if len(kept) == _AT_ONCE or number == count - 1:
            with transaction.atomic():
                for table in tables.values():
                    table.write()
                _store(kept)
            kept.clear()
    _settle(newest)


@dataclass(frozen=True)
class _Kept:
    """What the search keeps of one conversation."""

    session: int
    at: datetime
    state: str
    owner: str
    said: str
    names: str


_MODELS: tuple[type[models.Model], ...] = (Session, Participant, Turn, ToolCall, Approval, Artifact, Event)


def _people(count: int) -> list[User]:
    first = User.objects.count()
    return User.objects.bulk_create(
        User(username=f"person{first + number}", email=f"person{first + number}@example.org", password="!")
        for number in range(count)
    )


def _source() -> Session:
    """One conversation, written by the runtime's own code."""
    session = factories.make_session(title=_MARK)
    turn = factories.make_turn(session, text=_MARK)
    factories.add_part(turn, "ack", text="I am looking.")
    factories.add_part(turn, "response", text=f"{_MARK} It is possible.")
    factories.add_part(turn, "domain-data", data={"bookings": [{"reference": _MARK}]}, dataKind="bookings")
    factories.make_approvals(turn, {"order": _MARK, "amount": 12.5, "note": ""})
    while (left := ROWS - 1 - Session.objects.get(pk=session.pk).last_seq) > 0:
        factories.add_part(turn, "thinking", text=f"{left} more.")
    factories.settle_turn(turn)
    session.refresh_from_db()
    if session.last_seq != ROWS:
        raise AssertionError(f"the source has {session.last_seq} rows")
    Artifact.objects.create(session=session, name="ticket.pdf", mime_type="application/pdf", size_bytes=4_096)
    return session


def _highest(model: type[models.Model]) -> int:
    return int(model._default_manager.aggregate(most=models.Max("pk"))["most"] or 0)


_STATES = ("granted",) * 6 + ("denied",) * 3 + ("expired",)


def _copy(
    tables: dict[type[models.Model], _Table],
    keys: dict[type[models.Model], int],
    number: int,
    count: int,
    at: datetime,
    people: Sequence[User],
    picked: random.Random,
) -> _Kept:
    """One more conversation: its rows are added to ``tables``."""
    session, turn, call = (keys[model] + 1 for model in (Session, Turn, ToolCall))
    stamp = _stamp(at)
    waits = number >= count - min(50, count // 4)
    fails = not waits and number % 100 == 0
    state = "pending" if waits else _STATES[number % len(_STATES)]
    words = [picked.choice(_NAMES), picked.choice(_PLACES), *picked.sample(_WORDS, 6), f"BCH-{number:06X}"]
    if number % 10:
        words.append(COMMON)
    if number in (count // 5, count // 2, count - 2):
        words.append(RARE)
    said = " ".join(words)
    owner = people[number % len(people)] if number % 2 else None
    guest = f"{number:064x}"
    ids = {name: public_id() for name in ("session", "turn", "approval", "artifact")}

    def add(model: type[models.Model], which: int = 0, **changes: Any) -> None:
        keys[model] += 1
        named = {"id": keys[model], **changes}
        if model is not Session:
            named["session_id"] = session
        tables[model].add(tables[model].sources[which], **named)

    add(
        Session, public_id=ids["session"], title=said[:100], made_with="",
        created_at=stamp, updated_at=stamp, last_seq=ROWS, turn_count=1,
    )  # fmt: skip
    for which, person in enumerate(tables[Participant].sources):
        mine = person["role"] == "owner"
        add(
            Participant, which,
            user_id=owner.pk if mine and owner else None,
            owner_key=guest if mine and not owner else "",
            name=words[0] if mine else person["name"],
        )  # fmt: skip
    ended = (
        {"status": "suspended", "turn_state": "suspended", "settled_at": None}
        if waits
        else {"settled_at": stamp}
    )
    failed: dict[str, Any] = {"turn_state": "error", "finalized_by": "error"} if fails else {}
    add(Turn, public_id=ids["turn"], created_at=stamp, **ended, **failed)
    done = {"granted": "succeeded", "pending": "awaiting-approval"}.get(state, "denied")
    add(ToolCall, turn_id=turn, call_id=f"call{number}", created_at=stamp, state=done)
    add(
        Approval, approval_id=ids["approval"], turn_id=turn, tool_call_id=call, state=state, requested_at=stamp,
        decided_at=None if waits else stamp, decided_by="" if waits else f"user:{people[0].pk}",
        expires_at=_stamp(at + timedelta(hours=2)),
    )  # fmt: skip
    add(Artifact, artifact_id=ids["artifact"], created_at=stamp)
    approval = tables[Approval].sources[0]
    for which, event in enumerate(tables[Event].sources):
        text = _json(event["data"]).replace(_MARK, said).replace(approval["approval_id"], ids["approval"])
        add(Event, which, data=text, at=stamp)
    stands = "waiting" if waits else "failed" if fails else "answered"
    key = f"user:{owner.pk}" if owner else f"anonymous:{guest[:32]}"
    names = f"{said[:100]} {ids['session']} {words[0]} {owner.email if owner else guest}"
    return _Kept(session, at, stands, key, f"{said}\n{said} It is possible.\n{said}", names)


def _stamp(at: datetime) -> Any:
    return at if connection.vendor == "postgresql" else at.replace(tzinfo=None).isoformat(" ")


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _store(kept: Sequence[_Kept]) -> None:
    facts = [
        ConversationFacts(
            session_id=one.session, seq=ROWS, place=place_of(one.at, one.session), state=one.state,
            actor=factories.ACTOR, owner=one.owner, has_approval=True, has_error=one.state == "failed",
            last_words=one.said.rpartition("\n")[2][:200],
        )
        for one in kept
    ]  # fmt: skip
    ConversationFacts.objects.bulk_create(facts, batch_size=500)
    ConversationWords.objects.bulk_create(
        [ConversationWords(session_id=one.session, said=one.said) for one in kept], batch_size=500
    )
    backend = backend_for()
    for one, made in zip(kept, facts, strict=True):
        backend.store(one.session, made.place, None, tokens_of([one.said, one.names]))


def _settle(newest: datetime) -> None:
    """As a site is that has run for long: everything is known, keys go on, and the planner knows what there is."""
    SearchCursor.objects.update_or_create(
        pk=1, defaults={"known_until": newest - SLACK, "lease_until": datetime.now(UTC)}
    )
    sum(index_all())
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            for model in _MODELS:
                table = model._meta.db_table
                cursor.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT MAX(id) FROM {table}))"  # noqa: S608
                )
            if not connection.in_atomic_block:
                cursor.execute("VACUUM ANALYZE")
