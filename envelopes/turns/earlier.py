"""The turns before one, and what each of them said: read when it begins, by hand, since every turn asks for it, and
kept with the session, since most of it was asked for by the turn before as well."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.models import Event, Turn
from envelopes.protocol.time import instant
from envelopes.providers.transcript import block_of
from envelopes.registries import retelling
from envelopes.registries.part_types import part_types
from envelopes.registries.statuses import TurnStatus
from envelopes.session_state import live_sessions
from envelopes.turns import window
from envelopes.turns.telling import Telling
from envelopes.types import JsonObject

KEPT_CHARACTERS = 60_000
"""Of a session that has said more in these turns, nothing is kept."""


@dataclass(frozen=True, slots=True)
class Source:
    """What is told of a turn is made of this. ``said``: its texts, in short what it showed, and what staff found out
    about its calls; what its model wrote stays where it is. ``at``: when it was asked for. ``joined``: what began turns
    whose message it has answered (D66)."""

    trigger: JsonObject
    said: str
    at: str
    joined: list[JsonObject]


Told = tuple[Sequence[JsonObject], JsonObject]
"""What a model reads of a turn, as blocks of text: what began it, and what it said."""


@dataclass(slots=True)
class Earlier:
    """A turn before. ``size``: bytes of what is told of it; ``told_from``: the first turn that its model read of, 0
    where that is not known. Kept for each of the last turns of every session that is at hand, so it holds the texts
    alone once they are made."""

    number: int
    status: str
    finalized_by: str
    size: int
    told_from: int
    _content: Source | tuple[str, ...]

    def told(self, make: Callable[[Earlier, Source], Told]) -> Told:
        """What ``make`` makes of it, which is asked once; what that was made of is let go of then."""
        if isinstance(self._content, Source):
            began, said = make(self, self._content)
            self._content = tuple(block["text"] for block in (*began, said))
        *began, said = map(block_of, self._content)
        return began, said


@dataclass
class _Kept:
    """Turns by number, as the log has them up to row ``seq``: those that have ``settled``, and what has been told of
    those that go on (``open``), or, where that is nothing, of which types what they had shown up to row ``looked`` was
    (``wordless``). ``since``: the first that has to be looked at again: the last that has settled, or one before it
    that goes on."""

    session_id: str
    zone: str
    seq: int = 0
    since: int = 0
    settled: dict[int, Earlier] = field(default_factory=dict)
    open: dict[int, Telling] = field(default_factory=dict)
    wordless: dict[int, set[str]] = field(default_factory=dict)
    looked: int = 0

    @property
    def newest(self) -> int:
        return max((*self.settled, *self.open), default=0)


_EARLIER = """
WITH earlier AS (
  SELECT id, number, trigger_seq, status, finalized_by, trigger, created_at, told_from FROM envelopes_turn
  WHERE session_id = %s AND number >= %s AND number < %s AND delegated_from_id IS NULL AND joined_id IS NULL
  ORDER BY number DESC LIMIT %s
)
SELECT 0, number, trigger_seq, status, finalized_by, '', trigger, created_at, told_from FROM earlier
UNION ALL
SELECT 2, earlier.number, joining.trigger_seq, '', '', '', joining.trigger, NULL, 0
FROM envelopes_turn joining JOIN earlier ON joining.joined_id = earlier.id
UNION ALL
SELECT 1, turn, seq, kind, part_type, actor, data, NULL, 0 FROM envelopes_event
WHERE session_id = %s AND seq >= (
    SELECT min(seq) FROM (SELECT trigger_seq AS seq FROM earlier WHERE number > %s UNION ALL SELECT %s) firsts
  )
  AND turn >= %s AND turn < %s AND ({asked})
ORDER BY 1, 3, 2"""
"""The last turns before one, and rows of theirs, in order: by the index on numbers of rows, none is on turns. Nothing
of a turn stands before its ``trigger_seq``; of turns that are known, only what is new is read. What an actor said that
another one had asked stands in that one's turn; a message that one of them has answered beside its own, with it."""

_JOINED = 2
"""The mark of what began a turn whose message one of these has answered."""

_SILENT = (
    "SELECT DISTINCT turn, part_type FROM envelopes_event"
    " WHERE session_id = %s AND seq >= %s AND turn < %s AND {asked} ORDER BY 1, 2"
)

_HAS = {"sqlite": "json_type(data, '$.{key}') IS NOT NULL", "postgresql": "data ? '{key}'"}

_SHOWN = "kind = 'part' AND audience = 'delivered' AND NOT ({late}) AND part_type {which}"


def earlier_turns(turn: Turn) -> list[Earlier]:
    """The last ones before ``turn``, oldest first. Under the lock of its session."""
    if turn.number == 1:
        return []
    memory = live_sessions.at_hand(turn.session).memory
    kept = memory.pop(_Kept, None)
    found = _found(turn, kept) if isinstance(kept, _Kept) else None
    turns, following = found or _found(turn, _Kept(turn.session.public_id, _zone(turn))) or ([], None)
    if following is not None:
        size = sum(each.size for each in following.settled.values())
        if size + sum(each.size for each in following.open.values()) <= KEPT_CHARACTERS:
            memory[_Kept] = following
    return turns


def _zone(turn: Turn) -> str:
    """What is told of each turn is written for it."""
    return f"{turn.session.timezone} {turn.session.locale}"


_NEVER = 2**62
"""Behind every row."""


def _found(turn: Turn, kept: _Kept) -> tuple[list[Earlier], _Kept | None] | None:
    """The last ones before ``turn``, and what to keep of them; None where what is ``kept`` is not true any more:
    something happened since to one that had settled, or the log was set back."""
    is_of_this = (kept.session_id, kept.zone) == (turn.session.public_id, _zone(turn))
    if not is_of_this or kept.newest >= turn.number:
        return None
    untold = [kind.name for kind in part_types if kind.retold in (None, retelling.nothing)]
    asked = f"{_shown('NOT IN', untold)} OR kind = 'tool-result' AND {_has('resolvedBy')}"
    oldest = min((kept.since, *kept.settled, *kept.open))
    first_new = kept.seq + 1 if kept.newest else _NEVER
    # One more than are told, to know whether there are.
    most = window.EARLIER_TURNS + 1
    values = (
        *(turn.session_id, kept.since, turn.number, most),
        *(turn.session_id, kept.newest, first_new, oldest, turn.number, *untold),
    )
    seqs: dict[int, int] = {}
    turns: dict[int, tuple[str, str, str, Any, int]] = {}
    tellings = dict(kept.open)
    last = kept.seq
    fetched = _fetched(_EARLIER.format(asked=asked), values)
    joined = _joined_to(fetched)
    for is_row, number, seq, kind, name, actor, data, at, told_from in (
        each for each in fetched if each[0] != _JOINED
    ):
        if not is_row:
            seqs[number], turns[number] = seq, (kind, name, data, at, told_from)
            continue
        if number in kept.settled and seq > kept.seq:
            return None
        if number in kept.settled or (number in kept.open and seq <= kept.seq):
            continue
        last = max(last, seq)
        telling = tellings.setdefault(number, Telling(number))
        if kind == "tool-result":
            telling.found_out(seq, json.loads(data))
        else:
            telling.part(turn.session_id, seq, name, actor, json.loads(data)["part"])
    known = {*kept.settled, *kept.open}
    if (known and kept.since not in turns) or any(
        number not in known for number in turns if number < kept.newest
    ):
        return None
    return _put_together(turn, kept, turns, seqs, tellings, joined, last)


def _put_together(
    turn: Turn,
    kept: _Kept,
    turns: dict[int, tuple[str, str, str, Any, int]],
    seqs: dict[int, int],
    tellings: dict[int, Telling],
    joined: dict[int, list[JsonObject]],
    last: int,
) -> tuple[list[Earlier], _Kept | None]:
    lines = {number: telling.said for number, telling in tellings.items() if not telling.is_silent}
    wordless: dict[int, set[str]] = {}
    if silent := turns.keys() - lines.keys() - kept.settled.keys():
        # Each row once: a job may show a hundred thousand that no model reads.
        since = min(kept.looked + 1 if number in kept.wordless else seqs[number] for number in silent)
        wordless = {number: set(kept.wordless.get(number, ())) for number in silent}
        for number, name in _shown_without_words(turn, since):
            if number in wordless:
                wordless[number].add(name)
        for number, names in wordless.items():
            lines[number] = "\n".join(f"[Shown, without words: {name}.]" for name in sorted(names))
    found = dict(kept.settled)
    for number, read_of_it in turns.items():
        if number not in found:
            found[number] = _earlier(number, read_of_it, lines.get(number, ""), joined.get(number, []))
    told = [found[number] for number in sorted(found)[-(window.EARLIER_TURNS + 1) :]]
    settled = {each.number: each for each in told if each.status == TurnStatus.SETTLED}
    if not told:
        return told, None
    going_on = [each.number for each in told if each.number not in settled]
    following = _Kept(
        kept.session_id,
        kept.zone,
        max([last, *seqs.values()]),
        min([*sorted(settled)[-1:], *going_on]),
        settled,
        {number: tellings.get(number) or Telling(number) for number in going_on},
        {number: wordless[number] for number in going_on if number in wordless},
        # What began this one is stored; whatever stands before that was there to be looked at.
        turn.trigger_seq,
    )
    return told, following


def _earlier(
    number: int, read: tuple[str, str, str, Any, int], said: str, joined: list[JsonObject]
) -> Earlier:
    status, finalized_by, trigger, at, told_from = read
    began = json.loads(trigger)
    size = _bytes(said) + sum(_bytes(_words(each)) for each in (began, *joined))
    source = Source(began, said, _instant(at), joined)
    # A database gives the same word as another string each time.
    return Earlier(number, sys.intern(status), sys.intern(finalized_by), size, told_from, source)


def _words(trigger: JsonObject) -> str:
    """What is told of a trigger later on."""
    return str(trigger.get("text") or trigger.get("action") or trigger.get("payload") or "")


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def _instant(at: Any) -> str:
    """A moment as the database gives it, which SQLite does as text."""
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return instant(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))


def _joined_to(fetched: Sequence[tuple[Any, ...]]) -> dict[int, list[JsonObject]]:
    """What began the turns whose messages others have answered, by the number of the one that did."""
    joined: dict[int, list[JsonObject]] = {}
    for what, number, _, _, _, _, trigger, *_ in fetched:
        if what == _JOINED:
            joined.setdefault(number, []).append(json.loads(trigger))
    return joined


def _shown_without_words(turn: Turn, since: int) -> list[tuple[int, str]]:
    """Turns before ``turn``, and types that no model reads of what they have shown from row ``since`` on."""
    if not (unread := [kind.name for kind in part_types if kind.retold is None]):
        return []
    values = (turn.session_id, since, turn.number, *unread)
    return [(number, name) for number, name in _fetched(_SILENT.format(asked=_shown("IN", unread)), values)]


def said_for(turn: Turn) -> str:
    """What ``turn`` has said in the turn of whoever delegated it, as the models of later turns read it."""
    rows = Event.objects.filter(
        session=turn.session_id,
        seq__gte=turn.trigger_seq,
        turn=turn.shown_in,
        actor=turn.actor,
        kind="part",
        audience="delivered",
    ).order_by("seq")
    telling = Telling(turn.number)
    for row in rows:
        telling.part(turn.session_id, row.seq, row.part_type, row.actor, row.data["part"])
    return telling.said


def _shown(which: str, names: Sequence[str]) -> str:
    """Parts that were shown in time, of types that are in a list of so many names, or not."""
    places = ", ".join(["%s"] * len(names)) or "''"
    return _SHOWN.format(late=_has("late"), which=f"{which} ({places})")


def _has(key: str) -> str:
    return _HAS[connections[DEFAULT_DB_ALIAS].vendor].format(key=key)


def _fetched(text: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(text, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
