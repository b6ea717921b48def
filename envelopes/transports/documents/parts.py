"""A document as a part of the log: the A2UI messages that draw it, and beside them the patch of the document that they
are made of, for whoever follows documents."""

from __future__ import annotations

from a2ui.compose import changes
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS, DocumentLimits
from envelopes.transports.documents.formats.normalise import check_size, normalise
from envelopes.transports.documents.formats.patches import root_replacement
from envelopes.transports.documents.rendering import surface_of
from envelopes.types import Json, JsonObject

KEY = "document"
"""The member of the data of a surface part: ``{surface, patch}``, or ``{surface, closed}``."""


def document_part(document: Json, limits: DocumentLimits = DEFAULT_LIMITS) -> JsonObject:
    """A part that shows ``document`` on a surface of its own, for agents and tools; what cannot be used of it is left
    out. Raises ``DocumentError`` where nothing can be shown."""
    made = normalise(document, limits).document
    check_size(made, limits)
    told: JsonObject = {"surface": made["surface"], "patch": root_replacement(made).as_json()}
    return surface_part(None, surface_of(made), told)


def surface_part(before: JsonObject | None, after: JsonObject, told: JsonObject | None) -> JsonObject:
    """The part by which a surface that was made with one body becomes what it would be with the other; None before
    where there is none. ``told`` is for whoever follows documents: the patch that makes one document of the other, to
    the letter; that it is ``closed``; or None for nothing."""
    messages = [{"version": "1.0", "createSurface": after}] if before is None else changes(before, after)
    data: JsonObject = {"messages": messages}
    if told is not None:
        data[KEY] = told
    return {"data": data, "metadata": {"partType": A2UI_SURFACE.name}}
