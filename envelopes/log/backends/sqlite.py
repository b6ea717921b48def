"""The short way on SQLite: one writer at a time, so BEGIN IMMEDIATE is the lock, and it is that of ``writing``."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from envelopes.errors import NotFound
from envelopes.log.append import JobFence, OwnerFence, TurnFence
from envelopes.log.backends.connection import open_connection
from envelopes.log.backends.port import Append, AppendFence, Behind, Outcome, Repeated, Stored
from envelopes.log.new_row import NewRow
from envelopes.log.numbering import ViewAt, numbered, wants_in

BEGIN = "BEGIN IMMEDIATE"
"""Waits for other writers as long as the setting says. What is read from here on is what the commit will meet."""

NUMBER = (
    "UPDATE envelopes_session SET last_seq = last_seq + ?, updated_at = ?"
    " WHERE id = ? AND last_seq = coalesce(?, last_seq){fence}{once} RETURNING last_seq, viewed"
)
"""Takes the numbers of one append: (how many, now, session, expected, *fence, *once). No row: it is refused."""

WHY = "SELECT last_seq, TRUE{fence}, {answer} FROM envelopes_session WHERE id = ?"
"""Why one was refused: (*fence, *once, session) the last number, whether the fence holds, the answer that its request
has got. No row: there is no session."""

TURN_FENCE = " AND EXISTS (SELECT 1 FROM envelopes_turn WHERE id = ? AND attempt = ? AND status = 'running')"
JOB_FENCE = (
    " AND EXISTS (SELECT 1 FROM envelopes_toolcall WHERE id = ? AND attempt = ? AND state = 'running')"
)
OWNED = (
    " AND EXISTS (SELECT 1 FROM envelopes_participant"
    " WHERE session_id = envelopes_session.id AND role = 'owner' AND {whose})"
)
USER_FENCE = OWNED.format(whose="user_id = ?")
GUEST_FENCE = OWNED.format(whose="owner_key = ? AND user_id IS NULL")

ANSWER = (
    "(SELECT answer FROM envelopes_clientmessage WHERE session_id = ? AND principal = ? AND message_id = ?)"
)
ONCE = f" AND {ANSWER} IS NULL"
"""(session, principal, id of the message)"""

NUMBER_BY = {
    (fence, once): NUMBER.format(fence=fence, once=once)
    for fence in ("", TURN_FENCE, JOB_FENCE, USER_FENCE, GUEST_FENCE)
    for once in ("", ONCE)
}

INSERT = (
    "INSERT INTO envelopes_event (session_id, seq, kind, part_type, audience, actor, turn, data, at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
"""Stores one row; run for all of a group at once."""

REMEMBER = "INSERT INTO envelopes_clientmessage (session_id, principal, message_id, answer, at) VALUES (?, ?, ?, ?, ?)"
"""Stores the answer to one request; run for all of a group at once."""

VIEWS = "SELECT id, transport, wants, last, upto FROM envelopes_streamview WHERE session_id = ? ORDER BY id"
LACKING = (
    "SELECT kind, part_type, actor, data, audience FROM envelopes_event"
    " WHERE session_id = ? AND seq > ? AND seq < ? ORDER BY seq"
)
NUMBER_DELIVERIES = (
    "INSERT INTO envelopes_streamdelivery (view_id, seq, log_seq, channel, replay) VALUES (?, ?, ?, ?, ?)"
)
MOVE_VIEW = "UPDATE envelopes_streamview SET last = ?, upto = ? WHERE id = ?"
"""For sessions whose deliveries are counted (``log.numbering``)."""

COMMIT = "COMMIT"
ROLLBACK = "ROLLBACK"

_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN)


class SqliteBackend:
    """See ``port.Backend``."""

    def __init__(self, alias: str) -> None:
        self._alias = alias
        self._wrapper: BaseDatabaseWrapper | None = None
        self._path = Path()
        self._file: tuple[int, int] | None = None

    def write(self, group: Sequence[Append]) -> list[Outcome]:
        wrapper = self._connected()
        connection: sqlite3.Connection = wrapper.connection
        cursor = connection.cursor()
        with wrapper.wrap_database_errors:
            cursor.execute(BEGIN)
            try:
                now = timezone.now()
                outcomes = _written(cursor, group, now, wrapper.ops.adapt_datetimefield_value(now))
                cursor.execute(COMMIT)
            except BaseException:
                self._roll_back(connection)
                raise
        return outcomes

    def for_all(self, error: Exception) -> bool:
        code = getattr(error.__cause__ or error, "sqlite_errorcode", None)
        return code is not None and code & 0xFF in _LOCKED

    def close(self) -> None:
        if self._wrapper is not None:
            self._wrapper.close()
            self._wrapper = None

    def _connected(self) -> BaseDatabaseWrapper:
        if self._wrapper is not None and self._file != _identity(self._path):
            # A backup was put in its place: what is written to the old file nobody would ever read.
            self.close()
        if self._wrapper is None:
            self._wrapper = open_connection(self._alias)
            self._path = Path(self._wrapper.settings_dict["NAME"])
            self._file = _identity(self._path)
        return self._wrapper

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        # After some errors (a full disk) SQLite has done so itself.
        if connection.in_transaction:
            try:
                connection.execute(ROLLBACK)
            except sqlite3.Error:
                # Closing does it too, and the next write must not find this transaction open.
                self.close()


def _written(cursor: sqlite3.Cursor, group: Sequence[Append], now: datetime, at: str | None) -> list[Outcome]:
    outcomes: list[Outcome] = []
    rows: list[tuple[Any, ...]] = []
    answers: list[tuple[Any, ...]] = []
    brought: set[_Key] = set()
    counted: list[tuple[Append, int]] = []
    for append in group:
        count, session = len(append.rows), append.session_pk
        fence, held = _fence(append.fence)
        once = _key(append)
        sql = NUMBER_BY[fence, ONCE if once else ""]
        asked = (count, at, session, append.expected, *held, *once)
        found = cursor.execute(sql, asked).fetchall() if once not in brought else []
        if not found:
            outcomes.append(_refused(cursor, append, fence, held))
            if once and isinstance(outcomes[-1], Behind):
                brought.add(once)
            continue
        first = found[0][0] - count + 1
        if found[0][1]:
            counted.append((append, first))
        outcomes.append(Stored(first, found[0][0], now))
        rows += [
            (session, seq, row.kind, row.part_type, row.audience, row.actor, row.turn, row.text, at)
            for seq, row in enumerate(append.rows, first)
        ]
        if append.request is not None:
            brought.add(once)
            answers.append((*once, append.request.text, at))
    cursor.executemany(INSERT, rows)
    if answers:
        cursor.executemany(REMEMBER, answers)
    for append, first in counted:
        _number(cursor, append, first)
    return outcomes


def _number(cursor: sqlite3.Cursor, append: Append, first: int) -> None:
    def missing(after: int, before: int) -> list[NewRow]:
        lacking = cursor.execute(LACKING, (append.session_pk, after, before)).fetchall()
        return [
            NewRow(kind, json.loads(data), part_type, actor, audience=audience)
            for kind, part_type, actor, data, audience in lacking
        ]

    views = [
        ViewAt(pk, transport, wants_in(wants), last, upto)
        for pk, transport, wants, last, upto in cursor.execute(VIEWS, (append.session_pk,)).fetchall()
    ]
    made = numbered(views, first, append.rows, missing)
    cursor.executemany(NUMBER_DELIVERIES, made.deliveries)
    cursor.executemany(MOVE_VIEW, [(last, upto, pk) for pk, last, upto in made.views])


def _refused(cursor: sqlite3.Cursor, append: Append, fence: str, held: tuple[Any, ...]) -> Outcome:
    once = _key(append)
    why = WHY.format(fence=fence, answer=ANSWER if once else "NULL")
    found = cursor.execute(why, (*held, *once, append.session_pk)).fetchall()
    if not found:
        return NotFound("This conversation no longer exists.")
    last_seq, holds, answer = found[0]
    if not holds:
        return append.shut_out
    return Repeated(json.loads(answer)) if answer is not None else Behind(last_seq)


_Key = tuple[()] | tuple[int, str, str]


def _key(append: Append) -> _Key:
    """By what a request is known as the same; nothing where there is none."""
    request = append.request
    return (append.session_pk, request.principal, request.message_id) if request is not None else ()


def _fence(fence: AppendFence | None) -> tuple[str, tuple[Any, ...]]:
    match fence:
        case None:
            return "", ()
        case TurnFence():
            return TURN_FENCE, (fence.turn, fence.attempt)
        case JobFence():
            return JOB_FENCE, (fence.tool_call, fence.attempt)
        case OwnerFence(who) if who.user is not None:
            return USER_FENCE, (who.user.pk,)
        case OwnerFence(who):
            return GUEST_FENCE, (who.owner_key,)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands under the database's name, or None where there is none (in memory, or just being replaced)."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
