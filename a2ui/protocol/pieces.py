"""Names of what a component is made of, for readers who have the pieces in place of the whole: those of a form that was
said in components of the Basic Catalog. A component of the agent's own that has such a name goes before it.
"""

from __future__ import annotations

from typing import Final

_MARK: Final = "~"

SEND: Final = ":send"
"""The piece that sends a form; a field is named by its id, which holds neither of the two marks."""


def inside(component_id: str, piece: str) -> str:
    """The id of a piece of a component."""
    return f"{component_id}{_MARK}{piece}"


def taken_apart(name: str) -> tuple[str, str] | None:
    """The component and its piece that ``inside`` made ``name`` of; None for any other."""
    component_id, mark, piece = name.rpartition(_MARK)
    return (component_id, piece) if mark and component_id and piece else None
