"""Claiming a turn in the transaction that opens it, where a runner of this process has a place for it.

What is opened any other way is queued, and claimed in a transaction of its own by whoever hears of it
(``turns.leases``). The log has the same rows either way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from django.db import DEFAULT_DB_ALIAS, connections, transaction

from envelopes.log.append import Writer
from envelopes.models import Session
from envelopes.protocol.originators import Originator
from envelopes.turns.leases import Claim, claim_opened, lease
from envelopes.turns.opening import open_turn
from envelopes.types import JsonObject


@dataclass
class Place:
    """What a runner keeps free for the next turn of a session. ``take`` is called with its claim once that is stored,
    ``give_back`` where there is none; both from any thread. ``claim``: the one that is stored."""

    owner: str
    take: Callable[[Claim], None]
    give_back: Callable[[], None]
    claim: Claim | None = None


class Places:
    """Those of the runners of this process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runners: dict[Callable[[int], Place | None], None] = {}

    def offer(self, keep: Callable[[int], Place | None]) -> Callable[[], None]:
        """Ask ``keep(session)`` whoever is about to open a turn in that session; returns what ends that."""
        with self._lock:
            self._runners[keep] = None

        def stop() -> None:
            with self._lock:
                self._runners.pop(keep, None)

        return stop

    @contextmanager
    def kept(self, session_pk: int) -> Iterator[Place | None]:
        """A place for one turn of this session, where there is one: around the transaction that may open it.

        What is committed has been handed to readers when its turn begins. Inside of somebody else's transaction there
        is none: when that commits, or whether, is not known here.
        """
        place = None if connections[DEFAULT_DB_ALIAS].in_atomic_block else self._asked_for(session_pk)
        try:
            yield place
        finally:
            if place is not None and place.claim is not None:
                place.take(place.claim)
            elif place is not None:
                place.give_back()

    def _asked_for(self, session_pk: int) -> Place | None:
        with self._lock:
            asked = list(self._runners)
        return next((place for keep in asked if (place := keep(session_pk)) is not None), None)


places = Places()
"""The places of this process."""


def open_in(
    place: Place | None,
    writer: Writer,
    trigger: JsonObject,
    *,
    actor: str = "",
    originators: Sequence[Originator] = (),
) -> None:
    """``open_turn``, with the turn claimed for ``place`` at once where nothing in its session goes before it."""
    if place is None or _has_to_wait(writer.session):
        open_turn(writer, trigger, actor=actor, originators=originators)
        return
    claimed = partial(lease, owner=place.owner, now=writer.now)
    turn = open_turn(writer, trigger, actor=actor, originators=originators, claim=claimed)
    claim = claim_opened(writer, turn)
    if claim is not None:
        transaction.on_commit(partial(setattr, place, "claim", claim))


_AT_WORK = "SELECT 1 FROM envelopes_turn WHERE session_id = %s AND status IN ('queued', 'running') LIMIT 1"


def _has_to_wait(session: Session) -> bool:
    """Whether the next turn of this session has to wait: for others, or for staff. Asked for every message, so by
    hand."""
    if session.taken_by:
        return True
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_AT_WORK, [session.pk])
        return cursor.fetchone() is not None
