"""The bytes of a file from the pieces that it was written in, from any place on and never all at once."""

from __future__ import annotations

import hashlib
import io
from bisect import bisect_right
from collections.abc import Generator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from django.core.files.base import File

from envelopes.artifacts.storing import storage
from envelopes.models import ArtifactPiece

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

AT_ONCE = 64 * 1024
"""Bytes that are in memory at once."""


class PiecesReader(io.RawIOBase):
    """``pieces``, in their order, as one file to read. The storage has to give files that can seek. Close it."""

    def __init__(self, pieces: Sequence[ArtifactPiece]) -> None:
        self._pieces = pieces
        self._ends = list(accumulate(piece.size_bytes for piece in pieces))
        self._at = 0
        self._open: tuple[int, File[bytes]] | None = None

    @property
    def size(self) -> int:
        return self._ends[-1] if self._ends else 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = max(0, begin + offset)
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        if self._at >= self.size:
            return 0
        which = bisect_right(self._ends, self._at)
        within = self._at - (self._ends[which - 1] if which else 0)
        file = self._piece(which)
        file.seek(within)
        got = file.read(min(len(view), self._ends[which] - self._at))
        if not got:
            raise OSError(f"{self._pieces[which].file} is shorter than it was.")
        view[: len(got)] = got
        self._at += len(got)
        return len(got)

    def _piece(self, which: int) -> File[bytes]:
        if self._open is None or self._open[0] != which:
            self._let_go()
            self._open = (which, storage().open(self._pieces[which].file))
        return self._open[1]

    def _let_go(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def close(self) -> None:
        self._let_go()
        super().close()


def spans(pieces: Sequence[ArtifactPiece], start: int, stop: int) -> Generator[bytes]:
    """The bytes from ``start`` up to ``stop``, ``AT_ONCE`` at a time."""
    with PiecesReader(pieces) as reader:
        reader.seek(start)
        left = stop - start
        while left > 0:
            got = reader.read(min(AT_ONCE, left))
            if not got:
                return
            left -= len(got)
            yield got


def digest_of(pieces: Sequence[ArtifactPiece]) -> str:
    """The SHA-256 of all bytes."""
    if len(pieces) == 1:
        return pieces[0].sha256
    digest = hashlib.sha256()
    for span in spans(pieces, 0, sum(piece.size_bytes for piece in pieces)):
        digest.update(span)
    return digest.hexdigest()
