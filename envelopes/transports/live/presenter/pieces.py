"""What a row makes, in pieces: one for each delivery, as text that lacks only the number that a view gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from envelopes.protocol.encoding import decoded, encoded
from envelopes.transports.live.surfaces import Dialect, Version, as_said_in
from envelopes.types import JsonObject

LATER_CHARACTERS: Final = 8_192
"""Up to this length what somebody may read later is made when they do; until then the surface is kept for it as it was.
More is made at once, since a kept text is smaller than what it is made of."""

PLAIN: Final = Dialect("1.0")

FORMS: Final[tuple[Version, ...]] = ("1.0", "0.9.1")
"""Versions that say things in other words than under another name."""

Say = Callable[[Dialect], str]


class Piece:
    """One delivery: ``envelope`` is JSON that lacks its number and its closing brace.

    Of a surface it is that for readers of one dialect, the one that it was made with; others are made when somebody
    reads them (``in_dialect``).
    """

    __slots__ = ("_basic", "_made", "_say", "channel", "envelope", "kind")

    def __init__(self, kind: str, channel: str, envelope: str) -> None:
        self.kind, self.channel, self.envelope = kind, channel, envelope
        self._made: dict[Dialect, str] = {}
        self._say: Say | None = None
        self._basic = False

    @classmethod
    def of_surface(cls, kind: str, channel: str, say: Say, first: Dialect, *, basic: bool) -> Piece:
        """``say`` makes the envelope for a dialect, also later; ``first`` is made now. ``basic``: who knows the Basic
        Catalog only is told otherwise."""
        first = Dialect(first.version, basic and first.basic)
        made = cls(kind, channel, say(first))
        made._basic, made._made[first] = basic, made.envelope
        if len(made.envelope) <= LATER_CHARACTERS:
            made._say = say
            return made
        for dialect in (Dialect(form, one) for form in FORMS for one in (False, True)[: 1 + basic]):
            if dialect not in made._made:
                made._made[dialect] = say(dialect)
        return made

    def in_dialect(self, dialect: Dialect) -> str:
        """The envelope for a reader of this dialect."""
        if not self._made:
            return self.envelope
        dialect = Dialect(dialect.version, self._basic and dialect.basic)
        if dialect not in self._made:
            self._made[dialect] = self._say(dialect) if self._say is not None else self._renamed(dialect)
        return self._made[dialect]

    def _renamed(self, dialect: Dialect) -> str:
        """In 0.9, which has the words of 0.9.1 under another name."""
        made: Any = decoded(self._made[Dialect("0.9.1", dialect.basic)] + "}")
        made["payload"]["messages"] = as_said_in(made["payload"]["messages"], dialect.version)
        return encoded(made)[:-1]

    def __str__(self) -> str:
        texts = self._made.values() or (self.envelope,)
        return "\t".join((self.kind, self.channel, *texts))


class Payload(str):
    """The pieces of a row; as a text, all that is made of them at once. ``surfaces`` are those that there are from the
    row on, where it made or ended one. ``settles``: the row is the end of a turn."""

    __slots__ = ("pieces", "settles", "surfaces")

    pieces: tuple[Piece, ...]
    surfaces: list[JsonObject] | None
    settles: bool

    @classmethod
    def of(
        cls, pieces: Iterable[Piece], *, surfaces: list[JsonObject] | None = None, settles: bool = False
    ) -> Payload:
        found = tuple(pieces)
        made = cls("\n".join(map(str, found)))
        made.pieces, made.surfaces, made.settles = found, surfaces, settles
        return made
