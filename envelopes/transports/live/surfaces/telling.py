"""A surface as messages of one version: from nothing, and what became of its components."""

from __future__ import annotations

from a2ui import Surface
from a2ui.compose import Restating
from envelopes.transports.live.surfaces.versions import VERSIONS, Version
from envelopes.transports.live.surfaces.writes import writes
from envelopes.types import Json, JsonObject


def initial(surface: Surface, version: Version) -> list[JsonObject]:
    """What makes the surface, as it is now, for a reader that has none of that id."""
    return created(Restating(surface), surface.data_model, version)


def created(told: Restating, model: Json, version: Version, *, basic: bool = False) -> list[JsonObject]:
    """What makes a surface with this data model; with ``basic``, for a reader that knows the Basic Catalog only."""
    words = VERSIONS[version]
    found = told.said_in(words.form, basic=basic)
    if words.together:
        body = dict(found.create)
        if found.components:
            body["components"] = found.components
        if model:
            body["dataModel"] = model
        return [{"version": words.name, "createSurface": body}]
    return [
        {"version": words.name, "createSurface": found.create},
        *writes(told.surface_id, {}, model, version),
        *_defined(told.surface_id, found.components, version),
    ]


def defined(told: Restating, version: Version, *, basic: bool = False) -> list[JsonObject]:
    """The components as they were then."""
    found = told.said_in(VERSIONS[version].form, basic=basic)
    return _defined(told.surface_id, found.components, version)


def deleted(surface_id: str, version: Version) -> JsonObject:
    """The end of a surface."""
    return {"version": VERSIONS[version].name, "deleteSurface": {"surfaceId": surface_id}}


def _defined(surface_id: str, components: list[JsonObject], version: Version) -> list[JsonObject]:
    if not components:
        return []
    body = {"surfaceId": surface_id, "components": components}
    return [{"version": VERSIONS[version].name, "updateComponents": body}]
