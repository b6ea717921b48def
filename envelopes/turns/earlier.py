"""The turns before one, and what each of them said: read when it begins, by hand, since every turn asks for it, and
kept with the session, since most of it was asked for by the turn before as well."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.models import Event, Turn
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol.parts import continued
from envelopes.protocol.slots import Key, key_of, update_of
from envelopes.protocol.time import instant
from envelopes.registries import retelling
from envelopes.registries.part_types import part_types
from envelopes.registries.statuses import TurnStatus
from envelopes.session_state import live_sessions
from envelopes.turns import window
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

SAID_CHARACTERS = 40_000
"""How much is told of what one turn said."""

KEPT_CHARACTERS = 30_000
"""Of a session that has said more in these turns, nothing is kept."""


Blocks = tuple[list[JsonObject], list[JsonObject]]
"""What a model reads of a turn: what began it, and what it said."""


@dataclass(slots=True)
class Earlier:
    """A turn before. ``said``: its texts, in short what it showed, and what staff found out about its calls. What its
    model wrote stays where it is. ``size``: bytes of all this. ``at``: when it was asked for; ``told_from``: the first
    turn that its model read of, 0 where that is not known. ``joined``: what began turns whose message this one has
    answered (D66)."""

    number: int
    status: str
    finalized_by: str
    trigger: JsonObject
    said: str
    size: int
    at: str
    told_from: int
    joined: list[JsonObject] = field(default_factory=list)
    _blocks: Blocks | None = None

    def blocks(self, make: Callable[[Earlier], Blocks]) -> Blocks:
        """What ``make`` makes of it, once. What that was made of is let go of then."""
        if self._blocks is None:
            self._blocks = make(self)
            self.trigger, self.joined, self.said = {}, [], ""
        return self._blocks


@dataclass
class _Kept:
    """Turns that have settled, by number, as the log has them up to row ``seq``. ``since``: the first that has to be
    read again: the last of these, or one before it that goes on."""

    session_id: str
    zone: str
    seq: int = 0
    since: int = 0
    turns: dict[int, Earlier] = field(default_factory=dict)


_EARLIER = """
WITH earlier AS (
  SELECT id, number, trigger_seq, status, finalized_by, trigger, created_at, told_from FROM envelopes_turn
  WHERE session_id = %s AND number >= %s AND number < %s AND delegated_from_id IS NULL AND joined_id IS NULL
  ORDER BY number DESC LIMIT %s
)
SELECT 0, number, trigger_seq, status, finalized_by, trigger, created_at, told_from FROM earlier
UNION ALL
SELECT 2, earlier.number, joining.trigger_seq, '', '', joining.trigger, NULL, 0
FROM envelopes_turn joining JOIN earlier ON joining.joined_id = earlier.id
UNION ALL
SELECT 1, turn, seq, kind, part_type, data, NULL, 0 FROM envelopes_event
WHERE session_id = %s AND seq >= (SELECT min(trigger_seq) FROM earlier)
  AND turn >= %s AND turn < %s AND ({asked})
ORDER BY 1, 3, 2"""
"""The last turns before one, and rows of theirs, in order: by the index on numbers of rows, none is on turns. Nothing
of a turn stands before its ``trigger_seq``. What an actor said that another one had asked stands in that one's turn; a
message that one of them has answered beside its own, with it."""

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
    turns, seq = found or _found(turn, _Kept(turn.session.public_id, _zone(turn))) or ([], 0)
    settled = {each.number: each for each in turns if each.status == TurnStatus.SETTLED}
    if settled and sum(each.size for each in turns) <= KEPT_CHARACTERS:
        since = min([max(settled), *(each.number for each in turns if each.number not in settled)])
        memory[_Kept] = _Kept(turn.session.public_id, _zone(turn), seq, since, settled)
    return turns


def _zone(turn: Turn) -> str:
    """What is told of each turn is written for it."""
    return f"{turn.session.timezone} {turn.session.locale}"


def _found(turn: Turn, kept: _Kept) -> tuple[list[Earlier], int] | None:
    """The last ones before ``turn``, and a row up to which they are so; None where that is not true of what is kept:
    something happened to one of them since, or the log was set back."""
    is_of_this = (kept.session_id, kept.zone) == (turn.session.public_id, _zone(turn))
    if not is_of_this or max(kept.turns, default=0) >= turn.number:
        return None
    untold = [kind.name for kind in part_types if kind.retold in (None, retelling.nothing)]
    asked = f"{_shown('NOT IN', untold)} OR kind = 'tool-result' AND {_has('resolvedBy')}"
    oldest = min([kept.since, *kept.turns])
    # One more than are told, to know whether there are.
    most = window.EARLIER_TURNS + 1
    values = (turn.session_id, kept.since, turn.number, most, turn.session_id, oldest, turn.number, *untold)
    seqs: dict[int, int] = {}
    turns: dict[int, tuple[str, str, str, Any, int]] = {}
    lines: dict[int, list[str]] = {}
    last = kept.seq
    # What later parts join: the part as it is by now, and its line.
    gathered: dict[tuple[int, str, Key], tuple[JsonObject, int]] = {}
    fetched = _fetched(_EARLIER.format(asked=asked), values)
    joined = _joined_to(fetched)
    for is_row, number, seq, kind, name, data, at, told_from in (
        each for each in fetched if each[0] != _JOINED
    ):
        if not is_row:
            seqs[number], turns[number] = seq, (kind, name, data, at, told_from)
            continue
        if number in kept.turns:
            if seq > kept.seq:
                return None
            continue
        last = max(last, seq)
        read = json.loads(data)
        told = lines.setdefault(number, [])
        if kind == "tool-result":
            told.append(_found_out(read))
            continue
        part, place = read["part"], len(told)
        if (key := _key(name, part, number)) is not None:
            # It is told once, as it was in the end.
            before, place = gathered.get((number, name, key), (None, place))
            part = part if before is None else _joined(name, before, part)
            gathered[number, name, key] = part, place
        told[place : place + 1] = [_line(turn, seq, name, part)]
    if kept.turns and kept.since not in turns:
        return None
    spoken = {number for number, told in lines.items() if any(map(str.strip, told))}
    if silent := turns.keys() - spoken - kept.turns.keys():
        lines |= _shown_without_words(turn, silent, since=min(seqs[number] for number in silent))
    found = dict(kept.turns)
    for number, read_of_it in turns.items():
        if number not in found:
            found[number] = _earlier(number, read_of_it, lines.get(number, ()), joined.get(number, []))
    return [found[number] for number in sorted(found)[-most:]], max([last, *seqs.values()])


def _earlier(
    number: int,
    read: tuple[str, str, str, Any, int],
    lines: Iterable[str],
    joined: list[JsonObject],
) -> Earlier:
    status, finalized_by, trigger, at, told_from = read
    said = _clipped("\n".join(filter(str.strip, lines)))
    began = json.loads(trigger)
    size = _bytes(said) + sum(_bytes(_words(each)) for each in (began, *joined))
    return Earlier(number, status, finalized_by, began, said, size, _instant(at), told_from, joined)


def _clipped(said: str) -> str:
    """What a turn said, up to a bound: one must not take the place of all others."""
    if len(said) <= SAID_CHARACTERS:
        return said
    return f"{said[:SAID_CHARACTERS]} (cut: {len(said)} characters in all)"


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
    for what, number, _, _, _, trigger, *_ in fetched:
        if what == _JOINED:
            joined.setdefault(number, []).append(json.loads(trigger))
    return joined


def _shown_without_words(turn: Turn, silent: Collection[int], *, since: int) -> dict[int, list[str]]:
    """What these turns before ``turn`` have shown after row ``since`` that no model reads, in a line each."""
    lines: dict[int, list[str]] = {}
    if unread := [kind.name for kind in part_types if kind.retold is None]:
        values = (turn.session_id, since, turn.number, *unread)
        for number, name in _fetched(_SILENT.format(asked=_shown("IN", unread)), values):
            if number in silent:
                lines.setdefault(number, []).append(f"[Shown, without words: {name}.]")
    return lines


def _key(part_type: str, part: JsonObject, turn: int) -> Key | None:
    """What later parts of a type have, too, where they join ``part``: a slot, or the id of a part (D8, D11)."""
    metadata = part.get("metadata")
    if not isinstance(metadata, dict):
        return None
    if part_type == DOMAIN_DATA.name:
        return key_of(metadata, turn)
    part_id = metadata.get("partId")
    return ("id", str(turn), part_id) if isinstance(part_id, str) else None


def _joined(part_type: str, before: JsonObject, part: JsonObject) -> JsonObject:
    update = update_of(part) if part_type == DOMAIN_DATA.name else None
    return continued(before, part) if update is None else {**part, "data": update.of(before.get("data"))}


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
    lines = [_line(turn, row.seq, row.part_type, row.data["part"]) for row in rows]
    return "\n".join(line for line in lines if line.strip())


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


def _found_out(data: JsonObject) -> str:
    """What staff recorded about a call whose outcome nobody knew: its turn may not have heard of it any more."""
    outcome = data["error"] or data["result"]
    note = outcome.get("note") or outcome.get("message", "")
    return f"[Staff found out that {data['name']} has {data['state']}: {note}]"


def _line(turn: Turn, seq: int, part_type: str, part: JsonObject) -> str:
    kind = part_types.get(part_type)
    retold = kind.retold if kind is not None and kind.retold is not None else retelling.words
    try:
        return retold(part)
    except Exception:
        # An application's own: what it cannot tell of must not keep the next turn from beginning.
        logger.exception("Row %s of session %s cannot be retold.", seq, turn.session_id)
        return ""
