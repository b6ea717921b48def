"""The short way on PostgreSQL: lock, then one statement for a whole group, in one round trip.

The lock is a statement of its own because what a statement reads is as old as its beginning. In one statement, an
append would look at its fence as it stood before the lock, and a runner that was overtaken meanwhile would still write.
"""

from __future__ import annotations

import json
import selectors
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone
from psycopg import errors, pq

from envelopes.errors import NotFound
from envelopes.log.append import JobFence, OwnerFence, TurnFence
from envelopes.log.backends.connection import open_connection
from envelopes.log.backends.port import Append, Behind, Locked, Outcome, Repeated, Stored
from envelopes.types import JsonObject

BEGIN = b"BEGIN ISOLATION LEVEL READ COMMITTED"
"""Each statement sees what was committed before it, whatever the database's own default is."""

LOCK = b"""
WITH locked AS (
  SELECT id FROM envelopes_session WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
SELECT set_config('beach.locked', '{' || coalesce(string_agg(id::text, ','), '') || '}', true),
  (SELECT array_agg(id) FROM envelopes_session WHERE id = ANY ($1::bigint[])) FROM locked"""
"""Locks those of the group's sessions that nobody else has locked, and waits for none.

Those that it got, which it leaves to the next statement too; those that exist."""

WRITE = b"""
WITH RECURSIVE now AS MATERIALIZED (
  SELECT $2::timestamptz + (clock_timestamp() - transaction_timestamp()) AS at
), able AS (
  SELECT a.member, a.session, a.count, a.expected, a.principal, a.message, a.answer, s.last_seq,
    row_number() OVER (PARTITION BY a.session ORDER BY a.member) AS place,
    row_number() OVER (PARTITION BY a.session, a.principal, a.message ORDER BY a.member) AS copy,
    CASE WHEN a.message IS NOT NULL THEN (
      SELECT m.answer FROM envelopes_clientmessage m
      WHERE m.session_id = a.session AND m.principal = a.principal AND m.message_id = a.message) END AS known
  FROM json_to_recordset($1::json)
    AS a(member int, session bigint, turn bigint, call bigint, attempt int, person bigint, guest text, count int,
    expected bigint, principal text, message text, answer jsonb)
  JOIN envelopes_session s ON s.id = a.session
  WHERE s.id = ANY (current_setting('beach.locked')::bigint[])
    AND (a.turn IS NULL OR EXISTS (
      SELECT FROM envelopes_turn t WHERE t.id = a.turn AND t.attempt = a.attempt AND t.status = 'running'))
    AND (a.call IS NULL OR EXISTS (
      SELECT FROM envelopes_toolcall c WHERE c.id = a.call AND c.attempt = a.attempt AND c.state = 'running'))
    AND (a.person IS NULL OR EXISTS (
      SELECT FROM envelopes_participant p
      WHERE p.session_id = a.session AND p.role = 'owner' AND p.user_id = a.person))
    AND (a.guest IS NULL OR EXISTS (
      SELECT FROM envelopes_participant p
      WHERE p.session_id = a.session AND p.role = 'owner' AND p.owner_key = a.guest AND p.user_id IS NULL))
), asked AS (
  SELECT *, known IS NULL AND (message IS NULL OR copy = 1) AS is_new FROM able
), walked AS (
  SELECT member, session, place, count, is_new AND coalesce(expected, last_seq) = last_seq AS stands,
    last_seq + CASE WHEN is_new AND coalesce(expected, last_seq) = last_seq THEN count ELSE 0 END AS last
  FROM asked WHERE place = 1
  UNION ALL
  SELECT b.member, b.session, b.place, b.count, b.is_new AND coalesce(b.expected, w.last) = w.last,
    w.last + CASE WHEN b.is_new AND coalesce(b.expected, w.last) = w.last THEN b.count ELSE 0 END
  FROM walked w JOIN asked b ON b.session = w.session AND b.place = w.place + 1
), numbered AS (
  UPDATE envelopes_session s SET last_seq = n.last, updated_at = now.at
  FROM (SELECT session, max(last) AS last FROM walked WHERE stands GROUP BY session) n, now WHERE s.id = n.session
), stored AS (
  INSERT INTO envelopes_event (session_id, seq, kind, part_type, audience, actor, turn, data, at)
  SELECT w.session, w.last - w.count + r.place, r.kind, r.part_type, r.audience, r.actor, r.turn, r.data, now.at
  FROM json_to_recordset($3::json) AS r(member int, place int, kind text, part_type text, audience text, actor text,
    turn int, data jsonb) JOIN walked w USING (member), now
  WHERE w.stands
  ORDER BY r.member, r.place
), remembered AS (
  INSERT INTO envelopes_clientmessage (session_id, principal, message_id, answer, at)
  SELECT b.session, b.principal, b.message, b.answer, now.at FROM walked w JOIN asked b USING (member), now
  WHERE w.stands AND b.message IS NOT NULL
)
SELECT member, w.last, w.stands::int, (extract(epoch FROM at) * 1000000)::bigint, b.known
FROM walked w JOIN asked b USING (member), now"""
"""Leaves out who may not write, has written before or is behind, numbers the rest in the order asked, moves the
sessions on and stores the rows and the answers to requests. The time is ours and not the database's, and counts on
in the transaction.

($1 the appends, $2 now, $3 their rows); the members that may write: the last number of the log after each, whether it
was stored, the time in microseconds, the answer that its request has got before."""

COMMIT = b"COMMIT"
ROLLBACK = b"ROLLBACK"

_STATEMENTS = {
    b"beach_begin": BEGIN,
    b"beach_lock": LOCK,
    b"beach_write": WRITE,
    b"beach_commit": COMMIT,
}
EPOCH = datetime.fromtimestamp(0, UTC)

_FAILED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.PIPELINE_ABORTED)


class PostgresBackend:
    """See ``port.Backend``. Speaks libpq: for one row, the cursors above it cost more than the row."""

    def __init__(self, alias: str) -> None:
        self._alias = alias
        self._wrapper: BaseDatabaseWrapper | None = None
        self._waiting = selectors.DefaultSelector()

    def write(self, group: Sequence[Append]) -> list[Outcome]:
        wrapper = self._connected()
        sessions = "{" + ",".join(str(append.session_pk) for append in group) + "}"
        asked, rows = _asked(group), _rows(group)
        at = timezone.now().isoformat().encode()
        with wrapper.wrap_database_errors:
            connection: pq.abc.PGconn = wrapper.connection.pgconn
            try:
                locked, written = self._run(connection, sessions.encode(), asked, at, rows)
            except BaseException:
                self._roll_back(connection)
                raise
        ours, there = (_ids(ids) for ids in _values(locked)[0])
        told = {int(found[0]): found[1:] for found in _values(written)}
        outcomes: list[Outcome] = []
        for member, append in enumerate(group):
            if member in told:
                outcomes.append(_told(append, *told[member]))
            elif append.session_pk in ours:
                outcomes.append(append.shut_out)
            elif append.session_pk in there:
                outcomes.append(Locked())
            else:
                outcomes.append(NotFound("This conversation no longer exists."))
        return outcomes

    def for_all(self, error: Exception) -> bool:
        return self._wrapper is None

    def close(self) -> None:
        if self._wrapper is not None:
            for key in list(self._waiting.get_map().values()):
                self._waiting.unregister(key.fileobj)
            self._wrapper.close()
            self._wrapper = None

    def _connected(self) -> BaseDatabaseWrapper:
        if self._wrapper is not None and not self._is_alive(self._wrapper.connection.pgconn):
            self.close()
        if self._wrapper is None:
            self._wrapper = open_connection(self._alias)
            connection = self._wrapper.connection.pgconn
            self._waiting.register(connection.socket, selectors.EVENT_READ)
            try:
                with self._wrapper.wrap_database_errors:
                    for name, text in _STATEMENTS.items():
                        _checked(connection.prepare(name, text))
            except BaseException:
                self.close()
                raise
        return self._wrapper

    def _is_alive(self, connection: pq.abc.PGconn) -> bool:
        """Whether a connection that was idle still stands: a server that went away has said so by now."""
        try:
            while any(ready & selectors.EVENT_READ for _, ready in self._waiting.select(0)):
                connection.consume_input()
        except psycopg.Error:
            return False
        return connection.status == pq.ConnStatus.OK

    def _run(
        self, connection: pq.abc.PGconn, sessions: bytes, asked: bytes, at: bytes, rows: bytes
    ) -> tuple[pq.abc.PGresult, pq.abc.PGresult]:
        """All of the transaction, sent at once; what LOCK and WRITE returned, after the commit."""
        connection.enter_pipeline_mode()
        connection.send_query_prepared(b"beach_begin", None)
        connection.send_query_prepared(b"beach_lock", [sessions])
        connection.send_query_prepared(b"beach_write", [asked, at, rows])
        connection.send_query_prepared(b"beach_commit", None)
        connection.pipeline_sync()
        results = self._results(connection)
        connection.exit_pipeline_mode()
        _, locked, written, _ = [_checked(result) for result in results]
        return locked, written

    def _results(self, connection: pq.abc.PGconn) -> list[pq.abc.PGresult]:
        """Waits for what was sent. libpq itself would hold the interpreter's lock meanwhile."""
        while connection.flush():
            self._wait(connection, selectors.EVENT_READ | selectors.EVENT_WRITE)
        found: list[pq.abc.PGresult] = []
        while True:
            while connection.is_busy():
                self._wait(connection, selectors.EVENT_READ)
            result = connection.get_result()
            if result is not None and result.status == pq.ExecStatus.PIPELINE_SYNC:
                return found
            if result is not None:
                found.append(result)
            elif connection.status != pq.ConnStatus.OK:
                raise psycopg.OperationalError("the connection was lost")

    def _wait(self, connection: pq.abc.PGconn, events: int) -> None:
        self._waiting.modify(connection.socket, events)
        for _, ready in self._waiting.select():
            if ready & selectors.EVENT_READ:
                connection.consume_input()

    def _roll_back(self, connection: pq.abc.PGconn) -> None:
        """So that the next write finds a connection without a transaction, or none."""
        try:
            connection.exit_pipeline_mode()
            if connection.transaction_status != pq.TransactionStatus.IDLE:
                _checked(connection.exec_(ROLLBACK))
        except psycopg.Error:
            self.close()
        else:
            if connection.status != pq.ConnStatus.OK:
                self.close()


def _checked(result: pq.abc.PGresult) -> pq.abc.PGresult:
    if result.status in _FAILED:
        if not result.error_field(pq.DiagnosticField.SQLSTATE):
            # Said by libpq and not by the server, which it has lost.
            raise psycopg.OperationalError(result.get_error_message())
        raise errors.error_from_result(result)
    return result


def _values(result: pq.abc.PGresult) -> list[list[bytes]]:
    return [
        [result.get_value(row, column) or b"" for column in range(result.nfields)]
        for row in range(result.ntuples)
    ]


def _ids(text: bytes) -> set[int]:
    return {int(number) for number in text.strip(b"{}").split(b",") if number}


def _told(append: Append, last: bytes, stands: bytes, at: bytes, known: bytes) -> Stored | Behind | Repeated:
    if known:
        return Repeated(json.loads(known))
    seq = int(last)
    if stands == b"0":
        return Behind(seq)
    return Stored(seq - len(append.rows) + 1, seq, EPOCH + timedelta(microseconds=int(at)))


def _asked(group: Sequence[Append]) -> bytes:
    asked = []
    for member, append in enumerate(group):
        one: JsonObject = {
            "member": member,
            "session": append.session_pk,
            "count": len(append.rows),
            "expected": append.expected,
        }
        match append.fence:
            case TurnFence(turn, attempt):
                one |= {"turn": turn, "attempt": attempt}
            case JobFence(call, attempt):
                one |= {"call": call, "attempt": attempt}
            case OwnerFence(who) if who.user is not None:
                one["person"] = who.user.pk
            case OwnerFence(who):
                one["guest"] = who.owner_key
        if (request := append.request) is not None:
            one |= {"principal": request.principal, "message": request.message_id, "answer": request.answer}
        asked.append(one)
    return json.dumps(asked).encode()


def _rows(group: Sequence[Append]) -> bytes:
    texts = []
    for member, append in enumerate(group):
        for place, row in enumerate(append.rows, 1):
            about = {
                "member": member, "place": place, "kind": row.kind, "part_type": row.part_type,
                "audience": row.audience, "actor": row.actor, "turn": row.turn,
            }  # fmt: skip
            texts.append(f'{json.dumps(about)[:-1]}, "data": {row.text}}}')
    return f"[{', '.join(texts)}]".encode()
