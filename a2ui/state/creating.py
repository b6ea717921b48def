"""Surfaces that come into being: by `createSurface` (rulebook 2.2), or from a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from a2ui.errors import BUDGET_EXCEEDED, A2uiError, Diagnostic
from a2ui.protocol.catalog_ids import unmixed
from a2ui.protocol.messages import CreateSurface
from a2ui.state.surface import Surface
from a2ui.state.theme import check_theme

if TYPE_CHECKING:
    from a2ui.engine import Engine

CATALOG_NOT_FOUND = "CATALOG_NOT_FOUND"


def created(
    engine: Engine, message: CreateSurface, owner: str, dom_id: str, *, beside: int
) -> tuple[Surface | None, list[Diagnostic]]:
    """The new surface and what is wrong with its theme; None where that refuses the message.

    `beside` is the number of surfaces that the session has. Raises A2uiError for one too many and for a catalog that
    is not known.
    """
    limits = engine.options.limits
    if beside >= limits.surfaces:
        raise A2uiError(
            f"A session has at most {limits.surfaces} surfaces. Delete one first.",
            code=BUDGET_EXCEEDED,
            fault="agent",
            limit="surfaces",
            allowed=limits.surfaces,
        )
    catalog = engine.catalogs.find(message.catalog_id)
    if catalog is None:
        raise A2uiError(
            f"Catalog not found: {unmixed(message.catalog_id)[:200]}",
            code=CATALOG_NOT_FOUND,
            path="/catalogId",
            fault="agent",
            supported=list(engine.catalogs.ids[:2]),
        )
    theme, problems = check_theme(message.theme, message.surface_id, strict=engine.options.strict)
    if any(problem.refused for problem in problems):
        return None, problems
    surface = Surface(
        engine,
        catalog,
        owner=owner,
        surface_id=message.surface_id,
        catalog_id=message.catalog_id,
        version=message.version,
        dom_id=dom_id,
        theme=theme,
        send_data_model=message.send_data_model,
    )
    return surface, problems


def restored(engine: Engine, data: Mapping[str, Any]) -> Surface:
    """A surface from `Surface.snapshot()`. Raises A2uiError for a catalog that is not there."""
    catalog = engine.catalogs.find(data["catalogId"])
    if catalog is None:
        raise A2uiError(
            f"Catalog not found: {data['catalogId']}", code=CATALOG_NOT_FOUND, fault="configuration"
        )
    surface = Surface(
        engine,
        catalog,
        owner=data["owner"],
        surface_id=data["surfaceId"],
        catalog_id=data["catalogId"],
        version=data["version"],
        dom_id=data["domId"],
        theme=data["theme"],
        send_data_model=data["sendDataModel"],
    )
    surface.load(data)
    return surface
