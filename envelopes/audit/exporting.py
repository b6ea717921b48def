"""The decision log as a file: JSON Lines, with all that verifying it needs, or CSV for people."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC

from django.db.models import QuerySet

from envelopes.models.audit import AuditEntry
from envelopes.types import JsonObject

AT_ONCE = 500
COLUMNS = (
    "number", "at", "kind", "approval", "session", "role", "door", "facts", "who", "name", "reason", "digest",
    "details", "erased",
)  # fmt: skip
FORMATS = {"jsonl": "application/jsonl", "csv": "text/csv"}

_FORMULA = r"[^\S\t\r\n]*[-=+@\uff1d\uff0b\uff0d\uff20]"
_BEGINS = re.compile(rf"^(?=[\ufeff\u200b]*(?:{_FORMULA}|[\t\r\n]))|(?<=[;\t\r\n])(?={_FORMULA})")
"""A cell that begins so is a formula to a spreadsheet: those in full width too, and whatever blanks stand in front. A
spreadsheet that parts lines at semicolons or tabs finds the beginning of a cell within a text as well."""


def pieces(entries: QuerySet[AuditEntry], kind: str) -> Iterator[str]:
    """``entries`` as text of a format, oldest first, some lines at a time: few queries, and never all of it."""
    if kind == "csv":
        yield _row(COLUMNS)
    after = 0
    while True:
        found = list(entries.order_by("number").filter(number__gt=after)[:AT_ONCE])
        if found:
            after = found[-1].number
            yield "".join(_row(_cells(entry)) if kind == "csv" else _line(entry) for entry in found)
        if len(found) < AT_ONCE:
            return


def as_json(entry: AuditEntry) -> JsonObject:
    """All of an entry. ``salt`` is there for whoever verifies the file; what was erased has none."""
    return {
        "number": entry.number,
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "kind": entry.kind,
        "approval": entry.approval_id,
        "session": entry.session_id,
        "role": entry.role,
        "door": entry.door,
        "facts": entry.facts,
        **entry.personal,
        "erased": not entry.salt,
        "salt": entry.salt,
        "contentDigest": entry.content_digest,
        "chainDigest": entry.chain_digest,
    }


def _line(entry: AuditEntry) -> str:
    return json.dumps(as_json(entry), ensure_ascii=False) + "\n"


def _cells(entry: AuditEntry) -> list[str]:
    values = as_json(entry)
    return [_cell(values[name]) for name in COLUMNS]


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # Read as what it is: a text.
    return _BEGINS.sub("'", text)


def _row(cells: list[str] | tuple[str, ...]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells)
    return line.getvalue()
