"""The view that a reader subscribes to (D68): what it wants, where it stands, what of it is replayed (reading, 5.2)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from django.db.models import Max, QuerySet

from envelopes.conf import conf
from envelopes.delivery import rules
from envelopes.delivery.rules import Reader
from envelopes.log.numbering import open_view
from envelopes.models import Event, Session, StreamDelivery, StreamView
from envelopes.registries.part_types import part_types
from envelopes.session_state.resumed import REPLAYED_ROWS
from envelopes.transports.live.contracts import KNOWN
from envelopes.transports.live.presenter import deliveries
from envelopes.transports.live.presenter.envelopes import early
from envelopes.transports.live.presenter.pieces import Piece
from envelopes.transports.live.stored import replayable
from envelopes.transports.live.transport import LIVE
from envelopes.types import PROGRAMS


def wants_of(reader: Reader) -> frozenset[str]:
    """The kinds of deliveries that ``reader`` gets: of the rules of delivery, asked once for each part type."""
    wanted = {f"{deliveries.ROWS}{kind}" for kind in deliveries.ROWS_FOR_ALL}
    if reader.surfaces:
        wanted |= {f"{deliveries.ROWS}{kind}" for kind in deliveries.ROWS_OF_SURFACES}
    if reader.kind not in PROGRAMS:
        wanted |= {f"{deliveries.ROWS}{kind}" for kind in deliveries.ROWS_FOR_PEOPLE}
    for kind in part_types:
        if rules.gets(kind, LIVE.connection, reader):
            wanted.add(f"{deliveries.PARTS}{kind.name}")
        if rules.gets(kind, LIVE.connection, reader, late=True):
            wanted.add(f"{deliveries.LATE}{kind.name}")
    return frozenset(wanted)


def key_of(wants: frozenset[str]) -> str:
    """Two readers with one key have one view."""
    text = json.dumps([deliveries.FORM, *sorted(wants)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def view_for(session: Session, reader: Reader) -> StreamView:
    """The view of ``session`` for such a reader, made where there is none. In a thread."""
    wants = wants_of(reader)
    return open_view(session, LIVE.name, key_of(wants), wants)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a subscription begins: ``early`` deliveries with their numbers, then those of the log after row ``after``, of
    which the first has the number ``counted`` + 1. Up to row ``row`` only those in ``kept`` are sent; the last of them
    has the number ``last``."""

    row: int
    last: int
    after: int
    counted: int
    kept: frozenset[int]
    early: tuple[tuple[int, Piece], ...]
    truncated: bool


def plan(view: StreamView, session: Session, row: int, from_seq: int | None) -> Plan:
    """What a reader gets that has delivery ``from_seq`` and subscribes at row ``row``; None for one that has none and
    wants none but those of the server's own channels (reading, 5.3). In a thread."""
    made = StreamDelivery.objects.filter(view=view, row__lte=row)
    last = made.aggregate(last=Max("seq"))["last"] or 0
    # Farther back nobody replays rows for one reader.
    horizon = max(0, row - REPLAYED_ROWS + 100)
    current = replayable(session)
    ring = list(_ring(made)[: conf.BEACH_LIVE_RING + 1].values_list("seq", "row", "channel"))
    evicted = ring[-1][0] if len(ring) > conf.BEACH_LIVE_RING else 0
    ring = [one for one in ring[: conf.BEACH_LIVE_RING] if _is_replayed(one[2], current)]
    since = from_seq or 0
    if from_seq is None:
        kept = {seq: at for seq, at, channel in ring if channel in KNOWN}
        return Plan(row, last, row, last, frozenset(), _early(session, view, kept), truncated=False)
    beyond = [seq for seq, at, _ in ring if at <= horizon]
    evicted = max([evicted, *beyond])
    found = {seq: at for seq, at, _ in ring if seq > max(since, evicted)}
    latest = _latest(made, since, current)
    after = min(found.values(), default=row + 1) - 1
    counted = made.filter(row__lte=after).aggregate(last=Max("seq"))["last"] or 0
    before = {seq: at for seq, at in latest.items() if at <= after}
    kept_here = frozenset(found) | frozenset(seq for seq, at in latest.items() if at > after)
    return Plan(
        row, last, after, counted, kept_here, _early(session, view, before), truncated=since < evicted
    )


def _ring(made: QuerySet[StreamDelivery]) -> QuerySet[StreamDelivery]:
    return made.filter(replay="all").order_by("-seq")


def _is_replayed(channel: str, current: frozenset[str]) -> bool:
    """Whether the channel is still one: the contract of now says what is replayed (reading, 5.2)."""
    return channel in KNOWN or channel.startswith(deliveries.OURS) or channel in current


def _latest(made: QuerySet[StreamDelivery], since: int, current: frozenset[str]) -> dict[int, int]:
    newest = made.filter(replay="latest").order_by().values("channel").annotate(newest=Max("seq"))
    numbers = [
        one["newest"] for one in newest if one["newest"] > since and _is_replayed(one["channel"], current)
    ]
    return dict(made.filter(seq__in=numbers).values_list("seq", "row"))


def _early(session: Session, view: StreamView, kept: dict[int, int]) -> tuple[tuple[int, Piece], ...]:
    """The deliveries with these numbers, by the rows that made them."""
    wants = frozenset(view.wants)
    rows = {
        event.seq: event.as_row()
        for event in Event.objects.filter(session=session, seq__in=set(kept.values()))
    }
    by_row: dict[int, list[int]] = {}
    for seq, row in sorted(kept.items()):
        by_row.setdefault(row, []).append(seq)
    told: list[tuple[int, Piece]] = []
    for at, numbers in sorted(by_row.items()):
        wanted = [piece for piece in early(session.public_id, rows[at]) if piece.kind in wants]
        told += zip(numbers, wanted[-len(numbers) :], strict=True)
    return tuple(told)
