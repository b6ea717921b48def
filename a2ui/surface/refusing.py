"""What the schemas refuse of a message, for the surface that it is about (rulebook 5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2ui.catalog.registry import Vocabulary
from a2ui.catalog.strict import strict_problems
from a2ui.errors import Diagnostic
from a2ui.options import Shared
from a2ui.protocol.dialects import PLAIN
from a2ui.protocol.messages import CreateSurface, ServerMessage, UpdateComponents
from a2ui.surface.creating import catalog_for
from a2ui.surface.surface import Surface


def schema_problems(
    engine: Shared, message: Mapping[str, Any], typed: ServerMessage, surface: Surface | None
) -> list[Diagnostic]:
    """The refusals; none where there is no surface, or no catalog, to judge by: that is refused elsewhere. `typed` is
    what was read of the message, `surface` the one that it names, where there is one."""
    if isinstance(typed, CreateSurface):
        catalog = catalog_for(engine, typed.catalog_id, typed.version)
        words = Vocabulary(catalog, engine.catalogs) if catalog is not None else None
    else:
        words = surface.vocabulary if surface is not None else None
    if words is None:
        return []
    notation = typed.notation if isinstance(typed, CreateSurface | UpdateComponents) else PLAIN
    return strict_problems(message, notation, words)
