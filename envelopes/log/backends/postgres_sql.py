"""What the short way says to PostgreSQL; ``postgres`` prepares each statement once a connection."""

from __future__ import annotations

BEGIN = b"BEGIN ISOLATION LEVEL READ COMMITTED"
"""Each statement sees what was committed before it, whatever the database's own default is."""

LOCK = b"""
WITH locked AS (
  SELECT id, viewed FROM envelopes_session WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
SELECT set_config('beach.locked',
    '{' || coalesce(string_agg(id::text, ',') FILTER (WHERE $2 OR NOT viewed), '') || '}', true),
  (SELECT array_agg(id) FROM envelopes_session WHERE id = ANY ($1::bigint[])),
  array_agg(id) FILTER (WHERE viewed) FROM locked"""
"""Locks those of the group's sessions that nobody else has locked, and waits for none.

Those that it got, which it leaves to the next statement too, but for those whose deliveries are counted, unless $2;
those that exist; those that it got whose deliveries are counted."""

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

VIEWS = b"""
SELECT id, session_id, transport, wants, last, upto FROM envelopes_streamview
WHERE session_id = ANY ($1::bigint[]) ORDER BY id"""

LACKING = b"""
SELECT kind, part_type, actor, data, audience FROM envelopes_event
WHERE session_id = $1 AND seq > $2 AND seq < $3 ORDER BY seq"""

NUMBER = b"""
WITH delivered AS (
  INSERT INTO envelopes_streamdelivery (view_id, seq, log_seq, channel, replay)
  SELECT * FROM json_to_recordset($1::json) AS d(v bigint, s bigint, r bigint, c text, p text)
)
UPDATE envelopes_streamview v SET last = m.l, upto = m.u
FROM json_to_recordset($2::json) AS m(v bigint, l bigint, u bigint) WHERE v.id = m.v"""
"""For sessions whose deliveries are counted (``log.numbering``)."""

COMMIT = b"COMMIT"
ROLLBACK = b"ROLLBACK"
