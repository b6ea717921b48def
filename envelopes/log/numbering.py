"""Deliveries with numbers: for a session that somebody counts (``models.StreamView``), whoever appends rows gives each
of their deliveries the next number of each view that wants it, in the same transaction and under the same lock (D34,
D68). So numbers have no gaps, none is given twice, and nobody hears of a delivery that has none.

A session that nobody counts pays for one column of its own row, which an append reads or writes anyway. What a row
delivers is said by its transport (``count_with``), as a pure function of the row. Rows that came in without numbers,
from a process of an earlier version or before there was a view, get theirs with the next append.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, Protocol

from django.db import transaction
from django.utils import timezone

from envelopes.errors import NotFound
from envelopes.models.event import Event
from envelopes.models.session import Session
from envelopes.models.stream_view import StreamDelivery, StreamView
from envelopes.types import JsonObject

Replay = Literal["none", "latest", "all"]

AT_ONCE = 500
"""Rows that get their numbers in one transaction, where a new view begins with what is there."""

VIEWS = 8
"""How many views a session has: each costs its appends. The one that was used least recently goes for a new one, and
would get the same numbers again."""


class AnyRow(Protocol):
    """A row that has its number, or one on its way into the log."""

    @property
    def kind(self) -> str: ...
    @property
    def part_type(self) -> str: ...
    @property
    def actor(self) -> str: ...
    @property
    def data(self) -> JsonObject: ...
    @property
    def audience(self) -> str | None: ...
    @property
    def delivers(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Delivered:
    """One delivery that a row makes: what a view has to want to get it, its channel, whether it is replayed."""

    kind: str
    channel: str
    replay: Replay


Deliveries = Callable[[AnyRow], Sequence[Delivered]]

_by_transport: dict[str, Deliveries] = {}


def count_with(transport: str, deliveries: Deliveries) -> None:
    """``deliveries`` says what a row delivers over ``transport``, in order. Pure: the same in each process."""
    _by_transport[transport] = deliveries


def delivered(transport: str, row: AnyRow) -> Sequence[Delivered]:
    """What ``row`` delivers over ``transport``; found out once for whoever numbers it and whoever presents it."""
    found: Sequence[Delivered] | None = row.delivers.get(transport)
    if found is None:
        found = row.delivers[transport] = _by_transport[transport](row)
    return found


@dataclass(frozen=True, slots=True)
class ViewAt:
    """A view as the database has it, under the session's lock."""

    pk: int
    transport: str
    wants: frozenset[str]
    last: int
    upto: int

    def moved(self, last: int, upto: int) -> ViewAt:
        return replace(self, last=last, upto=upto)


@lru_cache(maxsize=64)
def wants_in(text: str | bytes) -> frozenset[str]:
    """``ViewAt.wants`` of what is stored. Sessions have few kinds of readers, and each append asks for all of them."""
    return frozenset(json.loads(text))


@dataclass(frozen=True, slots=True)
class Numbered:
    """What is to be stored: deliveries as (view, number, row, channel, replay), views as (view, last, upto)."""

    deliveries: list[tuple[int, int, int, str, str]]
    views: list[tuple[int, int, int]]


Missing = Callable[[int, int], Iterable[AnyRow]]
"""The rows of the session between two, neither of which is among them, in order."""


def numbered(views: Iterable[ViewAt], first: int, rows: Sequence[AnyRow], missing: Missing) -> Numbered:
    """The numbers that ``rows``, which stand in the log from ``first`` on, get in ``views`` of their session. Pure, but
    for ``missing``, which is asked where a view lacks rows before them."""
    made = Numbered([], [])
    for view in views:
        upto, last = view.upto, view.last
        if view.transport not in _by_transport or upto >= first + len(rows) - 1:
            continue
        lacking: Iterable[AnyRow] = missing(upto, first) if upto < first - 1 else ()
        for row in (*lacking, *rows[max(0, upto - first + 1) :]):
            upto += 1
            for one in delivered(view.transport, row):
                if one.kind in view.wants:
                    last += 1
                    made.deliveries.append((view.pk, last, upto, one.channel, one.replay))
        made.views.append((view.pk, last, upto))
    return made


def number(session_pk: int, first: int, rows: Sequence[AnyRow]) -> None:
    """Number ``rows``, which were just stored, in Django's transaction and under the session's lock."""
    found = StreamView.objects.filter(session=session_pk).order_by("pk")
    _store(numbered([_at(view) for view in found], first, rows, _between(session_pk)))


def _at(view: StreamView) -> ViewAt:
    return ViewAt(view.pk, view.transport, frozenset(view.wants), view.last, view.upto)


def _between(session_pk: int) -> Missing:
    def missing(after: int, before: int) -> Iterable[AnyRow]:
        events = Event.objects.filter(session_id=session_pk, seq__gt=after, seq__lt=before)
        return [event.as_row() for event in events.order_by("seq")]

    return missing


def _store(made: Numbered) -> None:
    StreamDelivery.objects.bulk_create(
        StreamDelivery(view_id=view, seq=seq, row=row, channel=channel, replay=replay)
        for view, seq, row, channel, replay in made.deliveries
    )
    for view, last, upto in made.views:
        StreamView.objects.filter(pk=view).update(last=last, upto=upto)


def open_view(session: Session, transport: str, key: str, wants: Iterable[str]) -> StreamView:
    """The view of ``session`` with this key, which has all rows of the log by now. A new one is made of them: a piece
    at a time, and only the last of it under the session's lock. Raises ``NotFound`` for a session that is gone."""
    named = {"session": session, "transport": transport, "key": key}
    view = StreamView.objects.select_related("session").filter(**named).first()
    if view is None:
        _make_room(session, transport)
        view, _ = StreamView.objects.get_or_create(**named, defaults={"wants": sorted(wants)})
    StreamView.objects.filter(pk=view.pk).update(used_at=timezone.now())
    if view.session.viewed and view.upto >= view.session.last_seq:
        return view
    while _catch_up(view.pk) == AT_ONCE:
        pass
    with transaction.atomic():
        locked = Session.objects.select_for_update().filter(pk=session.pk).first()
        if locked is None:
            raise NotFound("This conversation no longer exists.")
        _catch_up(view.pk, all_of_it=True)
        if not locked.viewed:
            Session.objects.filter(pk=session.pk).update(viewed=True)
    view.refresh_from_db(fields=["last", "upto", "wants"])
    return view


def _make_room(session: Session, transport: str) -> None:
    views = StreamView.objects.filter(session=session, transport=transport)
    kept = views.order_by("-used_at").values_list("pk", flat=True)[: VIEWS - 1]
    views.exclude(pk__in=list(kept)).delete()


def _catch_up(view_pk: int, *, all_of_it: bool = False) -> int:
    """Number what a view lacks, ``AT_ONCE`` rows or all of them; how many there were."""
    with transaction.atomic():
        view = StreamView.objects.select_for_update().filter(pk=view_pk).first()
        if view is None:
            raise NotFound("This conversation no longer exists.")
        events = Event.objects.filter(session_id=view.session_id, seq__gt=view.upto).order_by("seq")
        rows = [event.as_row() for event in (events if all_of_it else events[:AT_ONCE])]
        if rows:
            _store(numbered([_at(view)], view.upto + 1, rows, _between(view.session_id)))
    return len(rows)
