"""Conversations as the runtime writes them, by the thousand: copies of one that it has written."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from copy import copy
from typing import Any

from django.core.management.base import BaseCommand
from django.db import models, transaction

from envelopes import search
from envelopes.access import COOKIE, new_anonymous_owner
from envelopes.models import Event, Participant, Session, Turn

_AT_ONCE = 500


class Copier:
    """Copies a settled conversation, with its last turn repeated until the log is long enough."""

    def __init__(self, source: Session) -> None:
        self.source = source
        self.events = list(Event.objects.filter(session=source).order_by("seq"))
        self.turns = {turn.number: turn for turn in Turn.objects.filter(session=source)}
        self.people = list(Participant.objects.filter(session=source))
        ends = [event.seq for event in self.events if event.kind == "settled"]
        self.cut = ends[-2] if len(ends) > 1 else 0
        self.made: dict[type[models.Model], list[Any]] = {Participant: [], Turn: [], Event: []}

    def copy(self, session: Session, rows: int) -> dict[str, Any]:
        """The rows of one more conversation, not saved yet; what a page has to know of it."""
        who, cookie = new_anonymous_owner()
        for person in self.people:
            other = _new(person, session)
            other.owner_key = who.owner_key if person.owner_key else ""
            self.made[Participant].append(other)
        session.last_seq = session.turn_count = shown = 0
        head = [event for event in self.events if event.seq <= self.cut]
        tail = [event for event in self.events if event.seq > self.cut]
        while head or session.last_seq < max(rows, len(self.events)):
            for event in self._turns(head or tail, session):
                self.made[Event].append(event)
                shown = event.seq if event.audience == "delivered" else shown
            head = []
        return {"id": session.public_id, "cookie": f"{COOKIE}={cookie}", "seq": shown}

    def _turns(self, events: list[Event], session: Session) -> list[Event]:
        """Copies of these rows at the end of the log, and of the turns that they belong to."""
        numbers: dict[int, int] = {}
        names: dict[str, str] = {}
        shift = session.last_seq + 1 - events[0].seq
        for number in sorted({event.turn for event in events if event.turn}):
            session.turn_count += 1
            turn = _new(self.turns[number], session)
            turn.number, turn.trigger_seq = session.turn_count, turn.trigger_seq + shift
            numbers[number] = turn.number
            names[self.turns[number].public_id] = turn.public_id
            self.made[Turn].append(turn)
        made = [_new(event, session) for event in events]
        for event in made:
            event.seq += shift
            event.turn = numbers.get(event.turn, 0)
            event.data = _renamed(event.data, names, event.turn)
        session.last_seq = made[-1].seq
        return made

    def save(self) -> None:
        for kind, rows in self.made.items():
            kind._default_manager.bulk_create(rows, batch_size=_AT_ONCE)
            rows.clear()


def _new(row: Any, session: Session) -> Any:
    """The same row for another session, unsaved, with public ids of its own."""
    other = copy(row)
    other._state = models.base.ModelState()
    other.pk, other.session = None, session
    if hasattr(other, "public_id"):
        other.public_id = type(other)._meta.get_field("public_id").get_default()
    return other


def _renamed(data: Any, names: dict[str, str], turn: int) -> Any:
    """The data of a row that belongs to the turns with the new names."""
    written = json.dumps(data)
    for old, new in names.items():
        written = written.replace(old, new)
    renamed = json.loads(written)
    if isinstance(renamed, dict) and "number" in renamed and turn:
        renamed["number"] = turn
    return renamed


class Command(BaseCommand):
    help = "Copies conversations for the bench: orders as JSON, {like, count, rows}; prints a list for each."

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("orders", type=json.loads)

    def handle(self, *_: Any, orders: list[dict[str, Any]], **__: Any) -> None:
        with transaction.atomic():
            self.stdout.write(json.dumps([self._order(**order) for order in orders]))
        # As a server would have long since: else each one that is started would do it while it is measured.
        for _ in search.index_all():
            pass

    def _order(self, like: str, count: int, rows: int) -> list[dict[str, Any]]:
        source = Session.objects.get(public_id=like)
        copier = Copier(source)
        sessions = [_session(source) for _ in range(count)]
        Session.objects.bulk_create(sessions, batch_size=_AT_ONCE)
        made = []
        for session in sessions:
            made.append(copier.copy(session, rows))
            copier.save()
        Session.objects.bulk_update(sessions, ["last_seq", "turn_count"], batch_size=_AT_ONCE)
        return made


def _session(source: Session) -> Session:
    other = copy(source)
    other._state = models.base.ModelState()
    other.pk, other.made_with = None, ""
    other.public_id = type(other)._meta.get_field("public_id").get_default()
    return other
