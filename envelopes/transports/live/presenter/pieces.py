"""What a row makes, in pieces: one for each delivery, as text that lacks only the number that a view gives it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from envelopes.protocol.encoding import decoded, encoded
from envelopes.transports.live.surfaces import Dialect, as_said_in
from envelopes.types import JsonObject


class Piece(NamedTuple):
    """One delivery: ``envelope`` is JSON that lacks its number and its closing brace.

    Of a surface it is that for readers of A2UI 1.0 who know all catalogs; ``older`` is the one for those of 0.9.1,
    ``basic`` and ``older_basic`` those for who knows the Basic Catalog only. Each is empty where it says the same, but
    for the name of the version.
    """

    kind: str
    channel: str
    envelope: str
    older: str = ""
    basic: str = ""
    older_basic: str = ""
    is_surface: bool = False

    def in_dialect(self, dialect: Dialect) -> str:
        """The envelope for a reader of this dialect."""
        version, basic = dialect
        if version == "1.0":
            return (basic and self.basic) or self.envelope
        found = (basic and self.older_basic) or self.older
        if not self.is_surface or (found and version == "0.9.1"):
            return found or self.envelope
        made: Any = decoded((found or self.envelope) + "}")
        made["payload"]["messages"] = as_said_in(made["payload"]["messages"], version)
        return encoded(made)[:-1]


class Payload(str):
    """The pieces of a row; as a text, all that is kept of them. ``surfaces`` are those that there are from the row on,
    where it made or ended one. ``settles``: the row is the end of a turn."""

    __slots__ = ("pieces", "settles", "surfaces")

    pieces: tuple[Piece, ...]
    surfaces: list[JsonObject] | None
    settles: bool

    @classmethod
    def of(
        cls, pieces: Iterable[Piece], *, surfaces: list[JsonObject] | None = None, settles: bool = False
    ) -> Payload:
        found = tuple(pieces)
        made = cls("\n".join("\t".join(piece[:-1]).rstrip("\t") for piece in found))
        made.pieces, made.surfaces, made.settles = found, surfaces, settles
        return made
