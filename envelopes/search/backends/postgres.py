"""PostgreSQL: a column of ``tsvector``, made of the tokens themselves, with a GIN index. No parser and no dictionary of
the database ever sees a text."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db import connections

from envelopes.search.backends.port import FACTS, WORDS, Matching

_STORE = f"UPDATE {WORDS} SET tokens = array_to_tsvector(%s::text[]) WHERE session_id = %s"  # noqa: S608 - names of ours


class PostgresBackend:
    """See ``port.Backend``."""

    def __init__(self, alias: str) -> None:
        self._alias = alias

    def store(self, session_pk: int, place: int, was_at: int | None, tokens: Collection[str]) -> None:
        """The row of its words is there."""
        with connections[self._alias].cursor() as cursor:
            cursor.execute(_STORE, [sorted(tokens), session_pk])

    def matching(self, tokens: Sequence[tuple[str, bool]]) -> Matching:
        """The planner chooses: from the index of tokens for what is rare, by place for what is common."""
        asked = " & ".join(f"'{token}'{':*' if begins else ''}" for token, begins in tokens)
        source = f"{FACTS} f JOIN {WORDS} w ON w.session_id = f.session_id"
        return Matching(source, "w.tokens @@ %s::tsquery", (asked,), "f.place")

    def compact(self) -> None:
        """No statement sees a deleted row; its room is vacuum's affair."""
