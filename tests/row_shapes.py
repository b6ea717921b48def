"""Whether rows hold what the shape of their kind says."""

from __future__ import annotations

from typing import Any, NotRequired, get_origin, get_type_hints

from envelopes.protocol.rows import SHAPES, Row


def misfits(rows: list[Row]) -> list[tuple[str, set[str]]]:
    """Kinds of rows with keys that their shape has not, or without keys that it wants."""
    found = []
    for row in rows:
        shape: Any = SHAPES[row.kind]
        hints = get_type_hints(shape, include_extras=True)
        wanted = {
            key for key, hint in hints.items() if shape.__total__ and get_origin(hint) is not NotRequired
        }
        wrong = (row.data.keys() - hints.keys()) | (wanted - row.data.keys())
        if wrong:
            found.append((row.kind, wrong))
    return found
