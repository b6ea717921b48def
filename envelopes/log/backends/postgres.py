"""The short way on PostgreSQL: lock, then one statement for a whole group, in one round trip.

The lock is a statement of its own because what a statement reads is as old as its beginning. In one statement, an
append would look at its fence as it stood before the lock, and a runner that was overtaken meanwhile would still write.
"""

from __future__ import annotations

import json
import selectors
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone
from psycopg import errors, pq

from envelopes.errors import NotFound
from envelopes.log.append import JobFence, OwnerFence, TurnFence
from envelopes.log.backends.connection import open_connection
from envelopes.log.backends.port import Append, Behind, Locked, Outcome, Repeated, Stored
from envelopes.log.backends.postgres_sql import (
    BEGIN,
    COMMIT,
    LACKING,
    LOCK,
    NUMBER,
    ROLLBACK,
    VIEWS,
    WRITE,
)
from envelopes.log.new_row import NewRow
from envelopes.log.numbering import Numbered, ViewAt, numbered, wants_in
from envelopes.protocol.rows import Audience
from envelopes.types import JsonObject

_STATEMENTS = {
    b"beach_begin": BEGIN,
    b"beach_lock": LOCK,
    b"beach_write": WRITE,
    b"beach_views": VIEWS,
    b"beach_lacking": LACKING,
    b"beach_number": NUMBER,
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
        # Sessions whose deliveries are counted, as far as was seen: once they are, they stay so.
        self._viewed: set[int] = set()

    def write(self, group: Sequence[Append]) -> list[Outcome]:
        wrapper = self._connected()
        sessions = "{" + ",".join(str(append.session_pk) for append in group) + "}"
        asked, rows = _asked(group), _rows(group)
        at = timezone.now().isoformat().encode()
        with wrapper.wrap_database_errors:
            connection: pq.abc.PGconn = wrapper.connection.pgconn
            try:
                if self._viewed and not self._viewed.isdisjoint(append.session_pk for append in group):
                    locked, written = self._run_counted(connection, group, sessions.encode(), asked, at, rows)
                else:
                    locked, written = self._run(connection, sessions.encode(), asked, at, rows)
            except BaseException:
                self._roll_back(connection)
                raise
        ours, there, viewed = (_ids(ids) for ids in _values(locked)[0])
        # Told that they are locked, those that were not known of come again in a moment.
        self._viewed |= viewed
        return self._outcomes(group, written, ours, there)

    @staticmethod
    def _outcomes(
        group: Sequence[Append], written: pq.abc.PGresult, ours: set[int], there: set[int]
    ) -> list[Outcome]:
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
        connection.send_query_prepared(b"beach_lock", [sessions, b"f"])
        connection.send_query_prepared(b"beach_write", [asked, at, rows])
        connection.send_query_prepared(b"beach_commit", None)
        _, locked, written, _ = self._finished(connection)
        return locked, written

    def _finished(self, connection: pq.abc.PGconn) -> list[pq.abc.PGresult]:
        connection.pipeline_sync()
        results = self._results(connection)
        connection.exit_pipeline_mode()
        return [_checked(result) for result in results]

    def _run_counted(
        self,
        connection: pq.abc.PGconn,
        group: Sequence[Append],
        sessions: bytes,
        asked: bytes,
        at: bytes,
        rows: bytes,
    ) -> tuple[pq.abc.PGresult, pq.abc.PGresult]:
        """The same where deliveries of some are counted: what was stored has to be known before the commit."""
        connection.enter_pipeline_mode()
        connection.send_query_prepared(b"beach_begin", None)
        connection.send_query_prepared(b"beach_lock", [sessions, b"t"])
        connection.send_query_prepared(b"beach_write", [asked, at, rows])
        connection.send_query_prepared(b"beach_views", [sessions])
        _, locked, written, views = self._finished(connection)
        made = Numbered([], [])
        stored = {int(found[0]): _told(group[int(found[0])], *found[1:]) for found in _values(written)}
        at_hand = _views(views)
        for member, outcome in sorted(stored.items()):
            append = group[member]
            of_session = at_hand.get(append.session_pk, [])
            if isinstance(outcome, Stored) and of_session:
                lacking = partial(self._lacking, connection, append.session_pk)
                one = numbered(of_session, outcome.first, append.rows, lacking)
                made.deliveries.extend(one.deliveries)
                made.views.extend(one.views)
                moved = {pk: (last, upto) for pk, last, upto in one.views}
                at_hand[append.session_pk] = [
                    view.moved(*moved[view.pk]) if view.pk in moved else view for view in of_session
                ]
        # The last word on each view: one statement does not change a row twice.
        views_now = {pk: {"v": pk, "l": last, "u": upto} for pk, last, upto in made.views}
        deliveries = [dict(zip("vsrcp", each, strict=True)) for each in made.deliveries]
        connection.enter_pipeline_mode()
        if views_now:
            told = [json.dumps(deliveries).encode(), json.dumps(list(views_now.values())).encode()]
            connection.send_query_prepared(b"beach_number", told)
        connection.send_query_prepared(b"beach_commit", None)
        self._finished(connection)
        return locked, written

    def _lacking(self, connection: pq.abc.PGconn, session_pk: int, after: int, before: int) -> list[NewRow]:
        connection.enter_pipeline_mode()
        asked = [str(number).encode() for number in (session_pk, after, before)]
        connection.send_query_prepared(b"beach_lacking", asked)
        (found,) = self._finished(connection)
        return [
            NewRow(
                kind.decode(), json.loads(data), part_type.decode(), actor.decode(), audience=_audience(who)
            )
            for kind, part_type, actor, data, who in _values(found)
        ]

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


def _views(result: pq.abc.PGresult) -> dict[int, list[ViewAt]]:
    """By session."""
    found: dict[int, list[ViewAt]] = {}
    for pk, session, transport, wants, last, upto in _values(result):
        view = ViewAt(int(pk), transport.decode(), wants_in(wants), int(last), int(upto))
        found.setdefault(int(session), []).append(view)
    return found


def _audience(text: bytes) -> Audience:
    return "audit" if text == b"audit" else "delivered"


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
