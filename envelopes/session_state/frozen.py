"""What presenters have let go of: stored beside snapshots, read by number."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import QuerySet

from envelopes.models import by_hand
from envelopes.models.frozen_view import FrozenView
from envelopes.registries.transports import Frozen, Transport

STORED_AT_ONCE = 64
"""After so many they are stored: a presenter keeps them no longer than that."""


_FORGET_OLDER = "DELETE FROM envelopes_frozenview WHERE session_id = %s AND transport = %s AND version < %s"


def store(session_pk: int, transport: Transport, views: Iterable[Frozen], *, anew: bool = False) -> None:
    """Keep these. Other processes make the same ones, so what is there already stays, unless all of it was made
    ``anew``; those of earlier versions go."""
    version = transport.snapshot_version
    made = [
        FrozenView(
            session_id=session_pk,
            transport=transport.name,
            version=version,
            number=view.number,
            name=view.name,
            seq=view.seq,
            data=view.data,
        )
        for view in views
    ]
    # Together: nobody reads, and no crash leaves, what is there no more and not there yet.
    with transaction.atomic():
        if anew:
            forget(session_pk, transport)
        by_hand.insert_all(made)
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(_FORGET_OLDER, [session_pk, transport.name, version])


def forget(session_pk: int, transport: Transport) -> None:
    """Nothing is stored any more. The log has all of it."""
    FrozenView.objects.filter(session=session_pk, transport=transport.name).delete()


def load(session_pk: int, transport: Transport, first: int, last: int) -> list[Frozen]:
    """Those with a number from ``first`` to ``last``, in order, as far as they are stored."""
    found = _of(session_pk, transport).filter(number__gte=first, number__lte=last).order_by("number", "name")
    return [Frozen(*values) for values in found.values_list("number", "name", "seq", "data")]


def upto_row(session_pk: int, transport: Transport, seq: int, count: int) -> list[Frozen]:
    """The last ``count`` that began at row ``seq`` or before, newest first."""
    found = _of(session_pk, transport).filter(name="", seq__lte=seq).order_by("-number")[:count]
    return [Frozen(*values) for values in found.values_list("number", "name", "seq", "data")]


def with_id(session_pk: int, transport: Transport, view_id: str) -> Frozen | None:
    """The one whose data has this ``id``."""
    found = _of(session_pk, transport).filter(name="", data__id=view_id)
    values = found.values_list("number", "name", "seq", "data").first()
    return None if values is None else Frozen(*values)


def _of(session_pk: int, transport: Transport) -> QuerySet[FrozenView]:
    return FrozenView.objects.filter(
        session=session_pk, transport=transport.name, version=transport.snapshot_version
    )
