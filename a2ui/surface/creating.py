"""Surfaces that come into being: by `createSurface` (rulebook 2.2), or from a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from a2ui.catalog.envelope import metadata_problems
from a2ui.catalog.registry import NO_CATALOG, Catalog
from a2ui.data.pointer import ABSENT
from a2ui.errors import BUDGET_EXCEEDED, VALIDATION_FAILED, A2uiError, Diagnostic
from a2ui.journal import Journal
from a2ui.options import Shared
from a2ui.protocol.dialects import speaks_1_0
from a2ui.protocol.messages import CreateSurface, UpdateDataModel
from a2ui.surface.lasting import LastingSurface
from a2ui.surface.reserved import without_names
from a2ui.surface.surface import Surface
from a2ui.surface.theme import check_theme

CATALOG_NOT_FOUND = "CATALOG_NOT_FOUND"


def created(
    engine: Shared, message: CreateSurface, owner: str, dom_id: str, journal: Journal, *, beside: int
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
    catalog = catalog_for(engine, message.catalog_id, message.version)
    if catalog is None:
        offered = engine.catalogs.ids("1.0" if speaks_1_0(message.version) else "0.9")
        raise A2uiError(
            f"Catalog not found: {message.catalog_id[:200]}",
            code=CATALOG_NOT_FOUND,
            path="/catalogId",
            fault="agent",
            supported=list(offered[:2]),
        )
    theme, problems = _theme(message, strict=engine.options.strict)
    if message.metadata is not None:
        problems += _metadata(message, engine)
    if any(problem.refused for problem in problems):
        return None, problems
    surface = _kind(engine)(
        engine,
        catalog,
        owner=owner,
        surface_id=message.surface_id,
        catalog_id=message.catalog_id,
        version=message.version,
        dom_id=dom_id,
        theme=theme,
        send_data_model=message.send_data_model,
        metadata=message.metadata if isinstance(message.metadata, dict) else None,
        journal=journal,
    )
    return surface, problems


def _kind(engine: Shared) -> type[Surface]:
    return LastingSurface if engine.options.contained else Surface


def filled(surface: Surface, message: CreateSurface) -> list[Diagnostic]:
    """Gives a new surface the data and the components that came with it; a refused problem refuses the surface. Raises
    what `Surface.update_data` raises."""
    problems: list[Diagnostic] = []
    if message.data_model is not ABSENT:
        problems += surface.update_data(UpdateDataModel(message.version, surface.id, "", message.data_model))
    if message.components is not None:
        problems += surface.update_components(message.components, message.notation)
    return problems


def catalog_for(engine: Shared, catalog_id: str, version: str) -> Catalog | None:
    """The default catalog of a surface of this version; None for an id that is not known, or is for newer versions."""
    if not catalog_id:
        return NO_CATALOG if speaks_1_0(version) else None
    found = engine.catalogs.find(catalog_id)
    if found is not None and found.protocol == "1.0" and not speaks_1_0(version):
        return None
    return found


def _theme(message: CreateSurface, *, strict: bool) -> tuple[dict[str, Any], list[Diagnostic]]:
    """What is used of the theme. 1.0 has none: branding belongs to the host (3.1)."""
    if not speaks_1_0(message.version):
        return check_theme(message.theme, message.surface_id, strict=strict)
    if message.theme is None:
        return {}, []
    text = "A surface of 1.0 has no theme; it is left out."
    return {}, [Diagnostic(VALIDATION_FAILED, text, "/theme", message.surface_id, refused=strict)]


def _metadata(message: CreateSurface, engine: Shared) -> list[Diagnostic]:
    return [
        replace(
            problem,
            path=f"/metadata{problem.path}",
            surface_id=message.surface_id,
            refused=problem.refused or engine.options.strict,
        )
        for problem in metadata_problems(message.metadata, engine.options.limits)
    ]


def restored(engine: Shared, kept: Iterable[Mapping[str, Any]], journal: Journal) -> Iterator[Surface]:
    """Surfaces from what `Surface.snapshot()` made of each, without those and the actions that their owners may not
    have by now. Raises A2uiError for a catalog that is not there."""
    reserved = engine.options.reserved
    for data in kept:
        allowed = data if reserved is None else without_names(data, reserved)
        if allowed is not None:
            yield _restored(engine, allowed, journal)


def _restored(engine: Shared, data: Mapping[str, Any], journal: Journal) -> Surface:
    catalog_id = data["catalogId"]
    catalog = catalog_for(engine, catalog_id, data["version"])
    if catalog is None:
        raise A2uiError(f"Catalog not found: {catalog_id}", code=CATALOG_NOT_FOUND, fault="configuration")
    surface = _kind(engine)(
        engine,
        catalog,
        owner=data["owner"],
        surface_id=data["surfaceId"],
        catalog_id=catalog_id,
        version=data["version"],
        dom_id=data["domId"],
        theme=data["theme"],
        send_data_model=data["sendDataModel"],
        metadata=data.get("metadata"),
        journal=journal,
    )
    surface.restore(data)
    return surface
