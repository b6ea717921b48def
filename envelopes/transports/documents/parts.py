"""A document as a part of the log: the A2UI messages that draw it, and beside them the patch of the document that they
are made of, for whoever follows documents."""

from __future__ import annotations

from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS, DocumentLimits
from envelopes.transports.documents.formats.normalise import check_size, normalise
from envelopes.transports.documents.formats.patches import PatchDocument, root_replacement
from envelopes.transports.documents.rendering import messages_between
from envelopes.types import Json, JsonObject

KEY = "document"
"""The member of the data of a surface part: ``{surface, patch}``."""


def document_part(document: Json, limits: DocumentLimits = DEFAULT_LIMITS) -> JsonObject:
    """A part that shows ``document`` on a surface of its own, for agents and tools; what cannot be used of it is left
    out. Raises ``DocumentError`` where nothing can be shown."""
    made = normalise(document, limits).document
    check_size(made, limits)
    return part_of(None, made, root_replacement(made))


def part_of(before: JsonObject | None, after: JsonObject, patch: PatchDocument) -> JsonObject:
    """The part by which a document becomes another one; None before where its surface is not shown. ``patch`` makes the
    one of the other, to the letter."""
    messages = messages_between(before, after)
    told = {"surface": after["surface"], "patch": patch.as_json()}
    return {"data": {"messages": messages, KEY: told}, "metadata": {"partType": A2UI_SURFACE.name}}
