"""The bytes of files in their storage: put before anything refers to them, removed after nothing does any more."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage, storages
from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils import timezone

from envelopes.conf import conf
from envelopes.errors import BeachError
from envelopes.models import ArtifactPiece
from envelopes.models.ids import public_id

logger = logging.getLogger(__name__)

ORPHANED = timedelta(hours=1)
"""A file that nothing refers to may be one whose row is being stored, for so long."""

ASKED_AT_ONCE = 500
"""Names in one question to the database."""


@dataclass
class Stored:
    """Bytes in the storage. ``use`` is called by whoever stores a row that refers to them; ``used`` once that is
    committed."""

    file: str
    size: int
    sha256: str
    used: bool = False

    def use(self) -> None:
        transaction.on_commit(self._committed)

    def _committed(self) -> None:
        self.used = True


def storage() -> Storage:
    """The storage of files. Raises ``InvalidStorageError`` where STORAGES has none by that name."""
    return storages[conf.BEACH_ARTIFACT_STORAGE]


@contextmanager
def stored(session_id: str, content: bytes | File[bytes]) -> Iterator[Stored]:
    """``content`` is in the storage while the block runs; afterwards only where a row refers to it (``kept``)."""
    with kept(put(session_id, content)) as bytes_there:
        yield bytes_there


@contextmanager
def kept(there: Stored) -> Iterator[Stored]:
    """After the block the bytes are there only where a row refers to them.

    After an error that is none of ours nobody knows whether the row was committed: then the bytes stay, and ``sweep``
    finds them where it was not.
    """
    try:
        yield there
    except BeachError:
        _forget(there)
        raise
    _forget(there)


def _forget(there: Stored) -> None:
    # Within a transaction that goes on, it is not known yet.
    if not there.used and not transaction.get_connection().in_atomic_block:
        remove(there.file)


def put(session_id: str, content: bytes | File[bytes]) -> Stored:
    """Put bytes into the storage, however long that takes: outside of transactions, and of the threads that have them.
    ``session_id`` is the public one. ``kept`` goes on with it."""
    file = ContentFile(content) if isinstance(content, bytes) else content
    digest, size = hashlib.sha256(), 0
    for piece in file.chunks():
        digest.update(piece)
        size += len(piece)
    file.seek(0)
    place = storage()
    name = place.save(f"{session_id}/{public_id()}", file)
    _settle(place, name)
    return Stored(name, size, digest.hexdigest())


def _settle(place: Storage, name: str) -> None:
    """Onto the disk, where it is one: the row that refers to it may outlive a loss of power."""
    try:
        path = Path(place.path(name))
    except NotImplementedError:
        return
    for each in (path, path.parent):
        handle = os.open(each, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove(file: str) -> None:
    """Nothing refers to it any more. A storage that fails keeps it for ``sweep``."""
    try:
        storage().delete(file)
    except Exception:
        logger.exception("The file %s cannot be removed; a sweep will.", file)


@receiver(post_delete, sender=ArtifactPiece, dispatch_uid="beach_remove_file")
def _remove_with_row(sender: Any, instance: ArtifactPiece, **kwargs: Any) -> None:
    """The bytes go with their row, also where that goes with its session: once this is committed."""
    transaction.on_commit(partial(remove, instance.file))


@dataclass(frozen=True)
class Sweep:
    """What a sweep found: files without a row, how many of them were removed, and rows whose bytes are gone."""

    orphans: int
    removed: int
    lost: list[str]


def sweep(*, delete: bool, older: timedelta = ORPHANED) -> Sweep:
    """Look for files that no row refers to and that are ``older``, and remove them where ``delete``; look for rows
    without a file."""
    place, before = storage(), timezone.now() - older
    orphans = removed = 0
    for names in _batches(_listed(place)):
        known = set(ArtifactPiece.objects.filter(file__in=names).values_list("file", flat=True))
        for name in names:
            if name in known or _made(place, name) > before:
                continue
            orphans += 1
            if delete:
                place.delete(name)
                removed += 1
    lost = [
        piece.artifact.artifact_id
        for piece in ArtifactPiece.objects.select_related("artifact").iterator()
        if not place.exists(piece.file)
    ]
    return Sweep(orphans, removed, sorted(set(lost)))


def _made(place: Storage, name: str) -> datetime:
    made = place.get_modified_time(name)
    return made if timezone.is_aware(made) else timezone.make_aware(made)


def _listed(place: Storage) -> Iterator[str]:
    """All files: a folder for each session, as ``put`` makes them."""
    try:
        folders, _ = place.listdir("")
    except FileNotFoundError:
        return
    for folder in folders:
        yield from (f"{folder}/{name}" for name in place.listdir(folder)[1])


def _batches(names: Iterator[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for name in names:
        batch.append(name)
        if len(batch) == ASKED_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
