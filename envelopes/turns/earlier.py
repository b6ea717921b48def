"""The turns before one, and what each of them said: read when it begins, by hand, since every turn asks for it."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.models import Turn
from envelopes.registries import retelling
from envelopes.registries.part_types import part_types
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

EARLIER_TURNS = 20


class Earlier(NamedTuple):
    """A turn before. What its model wrote stays where it is. ``trigger_seq``: nothing of it stands before that row."""

    number: int
    status: str
    finalized_by: str
    trigger: JsonObject
    trigger_seq: int


_TURNS = (
    "SELECT number, status, finalized_by, trigger, trigger_seq FROM envelopes_turn"
    " WHERE session_id = %s AND number < %s ORDER BY number DESC LIMIT %s"
)

_HAS = {"sqlite": "json_type(data, '$.{key}') IS NOT NULL", "postgresql": "data ? '{key}'"}

_ROWS = (
    "SELECT seq, kind, part_type, turn, data FROM envelopes_event"
    " WHERE session_id = %s AND seq >= %s AND turn >= %s AND turn < %s AND ({asked}) ORDER BY seq"
)
"""By the index on numbers of rows: none is on turns."""

_SHOWN = "kind = 'part' AND audience = 'delivered' AND NOT ({late}) AND part_type {which}"


def earlier_turns(turn: Turn) -> list[Earlier]:
    """The last ones before ``turn``, newest first."""
    if turn.number == 1:
        return []
    found = _fetched(_TURNS, (turn.session_id, turn.number, EARLIER_TURNS))
    return [
        Earlier(number, status, finalized_by, json.loads(trigger), seq)
        for number, status, finalized_by, trigger, seq in found
    ]


def said_by(turn: Turn, earlier: Sequence[Earlier]) -> dict[int, str]:
    """What each of the turns before ``turn`` said, by number: its texts, in short what it showed, and what staff found
    out about its calls."""
    if not earlier:
        return {}
    lines: dict[int, list[str]] = {}
    untold = [kind.name for kind in part_types if kind.retold in (None, retelling.nothing)]
    found_out = f"kind = 'tool-result' AND {_has('resolvedBy')}"
    for seq, kind, part_type, number, data in _rows(
        turn, earlier, f"{_shown('NOT IN', untold)} OR {found_out}", untold
    ):
        read = json.loads(data)
        line = _found_out(read) if kind == "tool-result" else _line(turn, seq, part_type, read)
        if line.strip():
            lines.setdefault(number, []).append(line)
    silent = {other.number for other in earlier}.difference(lines)
    unread = [kind.name for kind in part_types if kind.retold is None]
    if silent and unread:
        shown = {(row[3], row[2]) for row in _rows(turn, earlier, _shown("IN", unread), unread)}
        for number, name in sorted(shown):
            if number in silent:
                lines.setdefault(number, []).append(f"[Shown, without words: {name}.]")
    return {number: "\n".join(found) for number, found in lines.items()}


def _rows(turn: Turn, earlier: Sequence[Earlier], asked: str, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """``seq, kind, part_type, turn, data`` of rows of these turns, which follow one another up to ``turn``."""
    since = min(other.trigger_seq for other in earlier)
    values = (turn.session_id, since, earlier[-1].number, turn.number, *names)
    return _fetched(_ROWS.format(asked=asked), values)


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


def _line(turn: Turn, seq: int, part_type: str, data: JsonObject) -> str:
    kind = part_types.get(part_type)
    retold = kind.retold if kind is not None and kind.retold is not None else retelling.words
    try:
        return retold(data["part"])
    except Exception:
        # An application's own: what it cannot tell of must not keep the next turn from beginning.
        logger.exception("Row %s of session %s cannot be retold.", seq, turn.session_id)
        return ""
