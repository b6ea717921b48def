"""Conversations as they stand, each read by one statement: by hand, since one is read after every answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.models import ConversationFacts, Session, by_hand
from envelopes.registries.statuses import BUSY, CallStatus
from envelopes.search.states import Standing

_AT_WORK = ", ".join(f"'{status}'" for status in sorted(BUSY))

_READ = f"""
SELECT EXISTS (SELECT 1 FROM envelopes_approval a WHERE a.session_id = s.id),
  EXISTS (SELECT 1 FROM envelopes_approval a WHERE a.session_id = s.id AND a.state = 'pending'),
  EXISTS (SELECT 1 FROM envelopes_turn t WHERE t.session_id = s.id AND t.status IN ({_AT_WORK})),
  EXISTS (SELECT 1 FROM envelopes_toolcall c WHERE c.session_id = s.id AND c.state = '{CallStatus.UNKNOWN}'),
  newest.status, newest.turn_state, newest.finalized_by,
  {by_hand.columns(Session, of="s")}, {by_hand.columns(ConversationFacts, of="f")}
FROM envelopes_session s
  LEFT JOIN envelopes_conversationfacts f ON f.session_id = s.id
  LEFT JOIN envelopes_turn newest ON newest.session_id = s.id
    AND newest.number = (SELECT MAX(t.number) FROM envelopes_turn t WHERE t.session_id = s.id)
WHERE s.id {{among}} ORDER BY s.id"""  # noqa: S608 - names of ours
_SESSION_COLUMNS = len(Session._meta.concrete_fields)


@dataclass(frozen=True)
class Conversation:
    """``facts`` is what is known of it so far, ``asked`` whether anybody ever was to decide."""

    session: Session
    facts: ConversationFacts | None
    standing: Standing
    asked: bool


def standing(pks: Sequence[int]) -> list[Conversation]:
    """Those of these conversations that there are, in ascending order."""
    among, given = by_hand.among(pks)
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_READ.format(among=among), [given])
        return [_conversation(*row) for row in cursor.fetchall()]


def _conversation(
    asked: Any, waits: Any, works: Any, unknown: Any, status: Any, state: Any, end: Any, *columns: Any
) -> Conversation:
    session, facts = columns[:_SESSION_COLUMNS], columns[_SESSION_COLUMNS:]
    return Conversation(
        by_hand.made(Session, session),
        # Where there are none all of their columns are empty, the key as well.
        by_hand.made(ConversationFacts, facts) if facts[0] is not None else None,
        Standing(bool(waits), bool(works), bool(unknown), status, state or "", end or ""),
        bool(asked),
    )
