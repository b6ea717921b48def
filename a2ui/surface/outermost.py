"""Which places of a data model to compare, of many that were touched."""

from __future__ import annotations

from a2ui.data.pointer import Tokens

_MANY = 8
_GATHERED_LEVELS = 8
"""With more than so many changed paths in a container of the uppermost levels, the container itself is compared."""


def outermost(paths: list[Tokens]) -> list[Tokens]:
    """The paths that no other one contains, in an order that every process finds. For many in one container the
    container stands: comparing its members once costs less than following each path."""
    found: list[Tokens] = []
    for path in sorted(_gathered(paths), key=len):
        if not any(path[: len(known)] == known for known in found):
            found.append(path)
    return found


def _gathered(paths: list[Tokens]) -> dict[Tokens, None]:
    members: dict[Tokens, set[str]] = {}
    for path in paths:
        for depth in range(min(len(path), _GATHERED_LEVELS)):
            members.setdefault(path[:depth], set()).add(path[depth])
    return dict.fromkeys(
        next((path[:at] for at in range(len(path)) if len(members.get(path[:at], ())) > _MANY), path)
        for path in paths
    )
