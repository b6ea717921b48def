"""A surface as messages of one version: from nothing, and what became of its components."""

from __future__ import annotations

from collections.abc import Iterable

from a2ui import Surface
from a2ui.compose import restated
from envelopes.transports.live.surfaces.versions import VERSIONS, Version
from envelopes.transports.live.surfaces.writes import writes
from envelopes.types import JsonObject


def initial(surface: Surface, version: Version, *, basic: bool = False) -> list[JsonObject]:
    """What makes the surface, as it is now, for a reader that has none of that id; with ``basic``, for one that knows
    the Basic Catalog only."""
    words = VERSIONS[version]
    found = restated(surface, words.form, basic=basic)
    if words.together:
        body = dict(found.create)
        if found.components:
            body["components"] = found.components
        if surface.data_model:
            body["dataModel"] = surface.data_model
        return [{"version": words.name, "createSurface": body}]
    return [
        {"version": words.name, "createSurface": found.create},
        *writes(surface.id, {}, surface.data_model, version),
        *_defined(surface.id, found.components, version),
    ]


def defined(
    surface: Surface, ids: Iterable[str] | None, version: Version, *, basic: bool = False
) -> list[JsonObject]:
    """The components with these ids, or all, as they are now."""
    found = restated(surface, VERSIONS[version].form, ids, basic=basic)
    return _defined(surface.id, found.components, version)


def deleted(surface_id: str, version: Version) -> JsonObject:
    """The end of a surface."""
    return {"version": VERSIONS[version].name, "deleteSurface": {"surfaceId": surface_id}}


def _defined(surface_id: str, components: list[JsonObject], version: Version) -> list[JsonObject]:
    if not components:
        return []
    body = {"surfaceId": surface_id, "components": components}
    return [{"version": VERSIONS[version].name, "updateComponents": body}]
