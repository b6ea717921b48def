"""Each cell of the delivery table: part type, transport, class, reader, and whether it comes late."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from envelopes.delivery.rules import Reader, delivery_for, streams_text
from envelopes.registries.part_types import part_types
from envelopes.registries.transports import KNOWN, Connection
from envelopes.types import PROGRAMS

TABLE: dict[str, dict[str, str]] = yaml.safe_load((Path(__file__).parent / "delivery.yaml").read_text())
STREAM_TEXT = {"ack", "thinking", "response", "clarify"}
"""Of which text may be shown while it is being written (D7)."""

READERS = [
    Reader(kind, consumes, surfaces)
    for kind, consumes, surfaces in product(
        ("person", "guest", "peer", "service"), (frozenset[str](), frozenset(TABLE)), (False, True)
    )
]
CONNECTIONS = [Connection(name, kind) for name, kind in product(("", *KNOWN), ("streaming", "buffered"))]


def cell(name: str, connection: Connection, reader: Reader, *, late: bool) -> str:
    row = TABLE[name]
    asked = name in reader.consumes
    if row.get("only") == "consumers" and not (asked and reader.kind in PROGRAMS):
        return "drop"
    if row.get("only") == "drawing" and not (asked or reader.surfaces):
        return "drop"
    if row.get("only") == "people" and reader.kind in PROGRAMS:
        return "drop"
    if late:
        return row["streaming"] if row.get("late") == connection.kind else "drop"
    if row.get("peers") == "verbatim" and reader.kind == "peer":
        return {"streaming": "flush", "buffered": "once"}[connection.kind]
    return row[connection.kind]


OURS = {"staff-message"}
"""Of staff in a conversation the sources say nothing."""


def test_the_table_is_of_the_types_that_there_are() -> None:
    assert set(TABLE) == {kind.name for kind in part_types if kind.canonical} - OURS


@pytest.mark.parametrize("name", TABLE)
def test_each_cell(name: str) -> None:
    kind = part_types[name]
    for connection, reader, late in product(CONNECTIONS, READERS, (False, True)):
        wanted = cell(name, connection, reader, late=late)
        assert delivery_for(kind, connection, reader, late=late) == wanted, (connection, reader, late)
        text: Any = name in STREAM_TEXT and connection.kind == "streaming" and wanted == "flush"
        if not late:
            assert streams_text(kind, connection, reader) == text, (connection, reader)
