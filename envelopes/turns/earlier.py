"""The turns before one, and what each of them said: read when it begins, by hand, since every turn asks for it."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.models import Turn
from envelopes.protocol.parts import continued
from envelopes.registries import retelling
from envelopes.registries.part_types import part_types
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

EARLIER_TURNS = 20


class Earlier(NamedTuple):
    """A turn before. ``said``: its texts, in short what it showed, and what staff found out about its calls. What its
    model wrote stays where it is."""

    number: int
    status: str
    finalized_by: str
    trigger: JsonObject
    said: str


_EARLIER = """
WITH earlier AS (
  SELECT number, trigger_seq, status, finalized_by, trigger FROM envelopes_turn
  WHERE session_id = %s AND number < %s ORDER BY number DESC LIMIT %s
)
SELECT 0, number, trigger_seq, status, finalized_by, trigger FROM earlier
UNION ALL
SELECT 1, turn, seq, kind, part_type, data FROM envelopes_event
WHERE session_id = %s AND seq >= (SELECT min(trigger_seq) FROM earlier)
  AND turn >= (SELECT min(number) FROM earlier) AND turn < %s AND ({asked})
ORDER BY 1, 3, 2"""
"""The last turns before one, and rows of theirs, in order: by the index on numbers of rows, none is on turns. Nothing
of a turn stands before its ``trigger_seq``."""

_SILENT = (
    "SELECT DISTINCT turn, part_type FROM envelopes_event"
    " WHERE session_id = %s AND seq >= %s AND turn < %s AND {asked} ORDER BY 1, 2"
)

_HAS = {"sqlite": "json_type(data, '$.{key}') IS NOT NULL", "postgresql": "data ? '{key}'"}

_SHOWN = "kind = 'part' AND audience = 'delivered' AND NOT ({late}) AND part_type {which}"


def earlier_turns(turn: Turn) -> list[Earlier]:
    """The last ones before ``turn``, oldest first."""
    if turn.number == 1:
        return []
    untold = [kind.name for kind in part_types if kind.retold in (None, retelling.nothing)]
    asked = f"{_shown('NOT IN', untold)} OR kind = 'tool-result' AND {_has('resolvedBy')}"
    values = (turn.session_id, turn.number, EARLIER_TURNS, turn.session_id, turn.number, *untold)
    turns: list[tuple[int, int, str, str, str]] = []
    lines: dict[int, list[str]] = {}
    # Parts that later ones may continue (D8): the part as it is by now, and its line.
    known: dict[tuple[int, str, str], tuple[JsonObject, int]] = {}
    for is_row, number, seq, kind, name, data in _fetched(_EARLIER.format(asked=asked), values):
        if not is_row:
            turns.append((number, seq, kind, name, data))
            continue
        read = json.loads(data)
        told = lines.setdefault(number, [])
        if kind == "tool-result":
            told.append(_found_out(read))
            continue
        part, at = read["part"], len(told)
        part_id = part["metadata"].get("partId")
        if isinstance(part_id, str):
            earlier, at = known.get((number, name, part_id), (None, at))
            part = part if earlier is None else continued(earlier, part)
            known[number, name, part_id] = (part, at)
        told[at : at + 1] = [_line(turn, seq, name, part)]
    silent = {number for number, *_ in turns if not any(map(str.strip, lines.get(number, ())))}
    if silent:
        since = min(seq for number, seq, *_ in turns if number in silent)
        for number, name in _shown_without_words(turn, since):
            if number in silent:
                lines.setdefault(number, []).append(f"[Shown, without words: {name}.]")
    return [
        Earlier(
            number,
            status,
            finalized_by,
            json.loads(trigger),
            "\n".join(filter(str.strip, lines.get(number, ()))),
        )
        for number, _, status, finalized_by, trigger in turns
    ]


def _shown_without_words(turn: Turn, since: int) -> list[tuple[Any, ...]]:
    """``turn, part_type`` of what turns before ``turn`` have shown after row ``since`` and no model reads."""
    unread = [kind.name for kind in part_types if kind.retold is None]
    if not unread:
        return []
    values = (turn.session_id, since, turn.number, *unread)
    return _fetched(_SILENT.format(asked=_shown("IN", unread)), values)


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
