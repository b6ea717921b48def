"""The log followed for the search, beside the way of its rows: whoever appends pays nothing for it.

What is stored of a conversation is stored only if nobody else has since, so any number of processes may do this; a
lease keeps them from doing the same work at once.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from django.db import DEFAULT_DB_ALIAS, IntegrityError, connections, transaction
from django.db.models import Q
from django.utils import timezone

from envelopes.models import ConversationFacts, ConversationWords, SearchCursor, Session, by_hand
from envelopes.search.backends import backend_for
from envelopes.search.behind import LONG_AGO, Changed, behind, due, known_until, outdated
from envelopes.search.making import Made, make

AT_ONCE = 10
"""Conversations that are asked for together where somebody waits for them."""

LOOKED_AT = 25
"""Conversations that one look takes in."""

TOGETHER = 4_000
"""Characters: conversations are stored in one transaction until what is said in them has as many, since whoever wants
to write meanwhile waits for it. Of most it is little, and of those in which only a job goes on nothing but a few
numbers changes."""

SLACK = timedelta(minutes=5)
"""A transaction may commit long after the time that it has written into its conversation."""

NOTED = timedelta(minutes=1)
"""How often it is written down how far the log is known, while nothing happens."""

LEASE = timedelta(seconds=15)

_ONE = 1
_MOVES = 20
"""So often a place that is taken is left for the next one."""


class Follower:
    """One process that follows the log."""

    def __init__(self) -> None:
        self._name = secrets.token_hex(16)
        # How far this round has come, by when conversations last changed.
        self._after: Changed | None = None

    def look(self) -> bool:
        """Take in some of what is new; whether there is more of it. Of conversations that go on there always will be,
        which can wait for the next round. Writes nothing where nothing is new."""
        began = timezone.now()
        cursor = SearchCursor.objects.filter(pk=_ONE).first()
        if cursor is not None and cursor.lease_owner != self._name and cursor.lease_until > began:
            return False
        since = cursor.known_until if cursor is not None else LONG_AGO
        found = due(self._after or since, began, LOOKED_AT)
        pks = [pk for _, pk in found]
        if (room := LOOKED_AT - len(pks)) > 0:
            # Also where others are found: some conversation or other always goes on.
            pks += outdated().values_list("pk", flat=True)[:room]
        if not pks:
            return self._caught_up(cursor, began)
        if not self._leased(cursor, began):
            return False
        _store_each(make(sorted(pks)))
        if len(pks) < LOOKED_AT:
            return self._caught_up(cursor, began)
        if found:
            self._after = found[-1]
        return True

    def _caught_up(self, cursor: SearchCursor | None, began: datetime) -> bool:
        if self._after is not None:
            # What has changed behind the round, in a transaction that took its time.
            self._after = None
            return True
        if cursor is not None and began - cursor.known_until > SLACK + NOTED:
            mine = SearchCursor.objects.filter(pk=_ONE, known_until=cursor.known_until)
            mine.update(known_until=began - SLACK)
        return False

    def _leased(self, cursor: SearchCursor | None, now: datetime) -> bool:
        if cursor is None:
            made = SearchCursor(
                pk=_ONE, known_until=LONG_AGO, lease_owner=self._name, lease_until=now + LEASE
            )
            SearchCursor.objects.bulk_create([made], ignore_conflicts=True)
            return SearchCursor.objects.filter(pk=_ONE, lease_owner=self._name).exists()
        if cursor.lease_owner == self._name and cursor.lease_until > now + LEASE / 2:
            return True
        free = SearchCursor.objects.filter(Q(lease_until__lte=now) | Q(lease_owner=self._name), pk=_ONE)
        return bool(free.update(lease_owner=self._name, lease_until=now + LEASE))


def catch_up(most: int) -> bool:
    """Take in the newest of what is new, for somebody who looks now: ``most`` conversations. Returns whether there are
    more. Two queries where nothing is new."""
    # Asked apart, so that the planner sees how few have changed since.
    known = SearchCursor.objects.filter(pk=_ONE).values_list("known_until", flat=True).first()
    # Those of whose people something has changed can wait for their turn.
    newest = behind().filter(updated_at__gte=known or LONG_AGO).order_by("-updated_at", "-pk")
    found = list(newest.values_list("pk", flat=True)[: most + 1])
    for at in range(0, len(found[:most]), AT_ONCE):
        store(found[at : min(at + AT_ONCE, most)])
    return len(found) > most


def index_all(*, anew: bool = False) -> Iterator[int]:
    """Take in whatever is new, or with ``anew`` everything from its first row on; yields how many conversations that
    were, piece by piece."""
    after = 0
    sessions = Session.objects.all() if anew else behind() | outdated()
    while pks := list(sessions.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        store(pks, anew=anew)
        after = pks[-1]
        yield len(pks)


def forget(session: Session) -> None:
    """Keep nothing of what was said in ``session``. Its next row, or the next look, makes it anew from what its log
    holds then; with the session itself all of it goes in any case. Under the lock of the session: what somebody has
    read of it before is stored before this, or never (``_is_as_read``)."""
    with transaction.atomic():
        Session.objects.select_for_update().filter(pk=session.pk).values_list("pk").first()
        known = known_until(lock=True)
        # Whoever follows the log looks at nothing that has not changed since. In any case it is another moment than
        # before, by which whoever has read of a conversation sees that one was forgotten.
        earlier = min(session.updated_at, known - timedelta(microseconds=1))
        SearchCursor.objects.filter(pk=_ONE).update(known_until=earlier)
        ConversationWords.objects.filter(session=session).delete()
        ConversationFacts.objects.filter(session=session).delete()


def compact() -> None:
    """Leave nothing of what was deleted in the index."""
    backend_for().compact()


def store(pks: Sequence[int], *, anew: bool = False) -> None:
    """Store what is to be known of these conversations."""
    _store_each(make(sorted(pks), anew=anew))


def _store_each(made: Iterable[Made]) -> None:
    """In transactions of few words (``TOGETHER``), which are held until then."""
    together: list[Made] = []
    again: list[int] = []
    characters = 0
    for each in made:
        together.append(each)
        characters += len(each.said or "")
        if characters >= TOGETHER:
            again += _store_together(together)
            together, characters = [], 0
    if together:
        again += _store_together(together)
    for pk in again:
        _store_under_lock(pk)


def _store_under_lock(pk: int) -> None:
    """Read it again and store that, while nobody forgets anything: who is erased out of a thousand conversations would
    else have it read a thousand times."""
    with transaction.atomic():
        # In the order of ``forget``.
        Session.objects.select_for_update().filter(pk=pk).values_list("pk").first()
        known_until(lock=True)
        for each in make([pk]):
            _store_alone(each)


def _store_together(made: Sequence[Made]) -> list[int]:
    """Returns which have to be read again."""
    try:
        with transaction.atomic():
            return [each.facts.session_id for each in made if not _store(each)]
    except IntegrityError:
        return [each.facts.session_id for each in made if not _store_alone(each)]


def _store_alone(made: Made) -> bool:
    """One that somebody has deleted meanwhile, or knows already, is left out; one whose place is taken moves up."""
    for _ in range(_MOVES):
        try:
            with transaction.atomic():
                return _store(made)
        except IntegrityError:
            pk = made.facts.session_id
            is_known = made.was is None and ConversationFacts.objects.filter(pk=pk).exists()
            if is_known or not Session.objects.filter(pk=pk).exists():
                return True
            made.facts.place += 1
    raise IntegrityError(f"No place is free for session {made.facts.session_id}.")


_CHANGED = tuple(field.name for field in ConversationFacts._meta.concrete_fields if not field.primary_key)
_SAY = """
INSERT INTO envelopes_conversationwords (session_id, said) VALUES (%s, %s)
ON CONFLICT (session_id) DO UPDATE SET said = excluded.said"""


def _store(made: Made) -> bool:
    """Whether it is stored, or need not be any more; False where it has to be read again."""
    facts, was = made.facts, made.was
    if was is None:
        if not _is_as_read(facts.pk, made.known_until):
            return False
        by_hand.insert(facts)
    elif not by_hand.update(facts, _CHANGED, {"seq": was.seq, "place": was.place}):
        # Somebody else has been here.
        return True
    if made.said is not None and made.tokens is not None:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(_SAY, [facts.pk, made.said])
        backend_for().store(facts.pk, facts.place, was.place if was is not None else None, made.tokens)
    return True


def _is_as_read(pk: int, known: datetime) -> bool:
    """Whether nothing was forgotten since the log was ``known`` so far, until this transaction ends: of a conversation
    of which nothing is known yet, nothing else tells that its rows are others by now."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        if cursor.db.vendor == "postgresql":
            # As the row of its facts will. SQLite has one lock for all.
            cursor.execute("SELECT 1 FROM envelopes_session WHERE id = %s FOR KEY SHARE", [pk])
    return SearchCursor.objects.filter(pk=_ONE, known_until=known).exists()
