"""SQLite: a table of FTS5 whose row ids are the places of conversations, so that the newest come first without any
sorting. Tokens stand with blanks between them; its tokenizer knows what joins them (``folding.JOINERS``) and leaves
them as they are. A trigger deletes them with the facts of their conversation."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db import connections

from envelopes.search.backends.port import FACTS, Matching

TABLE = "envelopes_conversationtokens"

_FORGET = f"DELETE FROM {TABLE} WHERE rowid = %s"  # noqa: S608
_COMPACT = f"INSERT INTO {TABLE} ({TABLE}) VALUES ('optimize')"  # noqa: S608
_STORE = f"INSERT INTO {TABLE} (rowid, tokens) VALUES (%s, %s)"  # noqa: S608


class SqliteBackend:
    """See ``port.Backend``."""

    def __init__(self, alias: str) -> None:
        self._alias = alias

    def store(self, session_pk: int, place: int, was_at: int | None, tokens: Collection[str]) -> None:
        """In place of what was there before."""
        with connections[self._alias].cursor() as cursor:
            if was_at is not None:
                cursor.execute(_FORGET, [was_at])
            cursor.execute(_STORE, [place, " ".join(sorted(tokens))])

    def matching(self, tokens: Sequence[tuple[str, bool]]) -> Matching:
        """From the tokens to the facts, in the order of places: FTS5 gives it, and SQLite would sort otherwise."""
        asked = " AND ".join(f'"{token}"{"*" if begins else ""}' for token, begins in tokens)
        source = f"{TABLE} CROSS JOIN {FACTS} f ON f.place = {TABLE}.rowid"
        return Matching(source, f"{TABLE} MATCH %s", (asked,), f"{TABLE}.rowid")

    def compact(self) -> None:
        """FTS5 only marks tokens as deleted, until their segments are written again."""
        with connections[self._alias].cursor() as cursor:
            cursor.execute(_COMPACT)
