"""Snapshots: the surfaces of a session and what each presenter knows, kept apart, at the same row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q

from envelopes.models.snapshot import SURFACES, Snapshot
from envelopes.registries.transports import Transport
from envelopes.types import Json

SNAPSHOT_VERSION = 4
"""Of the surfaces: raise it when what a snapshot holds changes shape, or the same rows make something else. Older ones
are then ignored and the log is replayed. A presenter's is its transport's ``snapshot_version``."""

SNAPSHOT_EVERY = 200
SNAPSHOT_SHARE = 20
"""After so many rows, and after so large a part of the log (a twentieth): each is as long as the conversation, and what
one row costs must not be."""

KEPT_SNAPSHOTS = 4
"""A few of each, since a socket that was away resumes from one that is older than what it missed."""


@dataclass(frozen=True)
class Kept:
    """A session as it was stored at row ``seq``; ``presenter`` is None where only the surfaces were asked for."""

    seq: int
    surfaces: Json
    presenter: Json | None = None


def newest(session_pk: int, transport: Transport | None = None, *, upto: int | None = None) -> Kept | None:
    """The last snapshot (up to row ``upto``) of the surfaces, and of what the presenter of ``transport`` knew then."""
    wanted = Q(transport=SURFACES, version=SNAPSHOT_VERSION)
    if transport is not None:
        wanted |= Q(transport=transport.name, version=transport.snapshot_version)
    found = Snapshot.objects.filter(wanted, session=session_pk)
    if upto is not None:
        found = found.filter(seq__lte=upto)
    # What they hold may be large: first which, then what.
    at: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for pk, seq, name in found.values_list("pk", "seq", "transport"):
        at[seq][name] = pk
    whole = 1 if transport is None else 2
    complete = [seq for seq, of in at.items() if len(of) == whole]
    if not complete:
        return None
    seq = max(complete)
    data = dict(Snapshot.objects.filter(pk__in=at[seq].values()).values_list("transport", "data"))
    if len(data) < whole:
        # Another process has stored newer ones meanwhile, and taken these away.
        return None
    return Kept(seq, data[SURFACES], data[transport.name] if transport is not None else None)


def forget(session_pk: int, transport: Transport) -> None:
    """What the presenter of ``transport`` knew goes: the next one is made from the first row on."""
    Snapshot.objects.filter(session=session_pk, transport=transport.name).delete()


def is_due(seq: int, saved: int) -> bool:
    """Whether a session at row ``seq``, stored last at row ``saved``, is to be stored again."""
    return seq - saved >= max(SNAPSHOT_EVERY, seq // SNAPSHOT_SHARE)


def store(snapshots: Iterable[Snapshot]) -> None:
    """Keep these, all of one session, and the few before them: each holds the whole conversation, so all of them would
    outgrow the log."""
    made = list(snapshots)
    Snapshot.objects.bulk_create(made, ignore_conflicts=True)
    of_session = Snapshot.objects.filter(session=made[0].session_id, keyframe=False)
    of: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for pk, seq, version, name in of_session.values_list("pk", "seq", "version", "transport"):
        of[name].append((seq, version, pk))
    kept = {name: sorted(rows)[-KEPT_SNAPSHOTS:] for name, rows in of.items()}
    # What a presenter knew is of use only with the surfaces of that row.
    presented = {seq for name, rows in kept.items() if name != SURFACES for seq, _, _ in rows}
    gone = {
        pk
        for name, rows in of.items()
        for seq, version, pk in rows
        if (seq, version, pk) not in kept[name] and not (name == SURFACES and seq in presented)
    }
    of_session.filter(pk__in=gone).delete()
