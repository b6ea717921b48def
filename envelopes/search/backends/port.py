"""What a backend of the search promises. A token is any text without blanks and quotes; none is read or changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

FACTS = "envelopes_conversationfacts"
WORDS = "envelopes_conversationwords"


@dataclass(frozen=True)
class Matching:
    """How conversations that have all of some tokens are selected: what stands after FROM, with the facts as ``f``; a
    condition with its values; and the column of their place, by which they come in order at no cost."""

    source: str
    condition: str
    values: tuple[Any, ...]
    place: str


class Backend(Protocol):
    """On Django's connection, so inside of its transaction."""

    def store(self, session_pk: int, place: int, was_at: int | None, tokens: Collection[str]) -> None:
        """These are the tokens of a conversation, whose facts and words are stored. ``was_at`` is the place that it had
        before, None for a new one."""
        ...

    def matching(self, tokens: Sequence[tuple[str, bool]]) -> Matching:
        """Conversations that have each of these, or, where it is True, one that begins so."""
        ...

    def compact(self) -> None:
        """Leave nothing of what was deleted in the tables of the index."""
        ...
