"""The stage that repairs or drops, and says what: a document as it is patched, drawn and followed (reading 4)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from envelopes.transports.documents.formats import experimental
from envelopes.transports.documents.formats.coercing import ABSENT, Coercion, Names, below, trim
from envelopes.transports.documents.formats.errors import BudgetExceeded, InvalidInput
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS, DocumentLimits
from envelopes.transports.documents.formats.props import PROPS
from envelopes.transports.documents.formats.reports import Report
from envelopes.transports.documents.formats.strict import is_version
from envelopes.types import Json, JsonObject

NAMES = ("v", "surface", "components", "experimental")
TYPE_CHARS = 24


@dataclass(frozen=True, slots=True)
class Normalised:
    """A document in its normal form, and what was done to it. Normalised again it stays as it is, with nothing to
    report."""

    document: JsonObject
    report: Report

    @property
    def surface(self) -> str:
        """The name of its surface."""
        return str(self.document["surface"])


def normalise(value: Json, limits: DocumentLimits = DEFAULT_LIMITS) -> Normalised:
    """``{v, surface, components: [{id, type, props}], experimental?}`` of ``value``, which is left as it is.

    Raises ``InvalidInput`` where nothing can be shown: no object, another version, no surface, no list of components, a
    gate of an experimental document that fails.
    """
    if not isinstance(value, dict):
        raise InvalidInput("A document is an object.", reason="NotAnObject")
    if not is_version(value.get("v")):
        raise InvalidInput("v has to be 1.", reason="UnsupportedVersion", path="v")
    report = Report()
    coercion = Coercion(report)
    surface = value.get("surface")
    if not isinstance(surface, str) or not trim(surface):
        raise InvalidInput("surface has to be text that is not blank.", reason="EmptyField", path="surface")
    if not isinstance(value.get("components"), list):
        raise InvalidInput("components has to be a list.", reason="InvalidType", path="components")
    coercion.known(value, "", NAMES)
    document: JsonObject = {
        "v": 1,
        "surface": coercion.text(surface, "/surface", "", limits.surface_chars),
        "components": _components(value["components"], coercion, limits),
    }
    block = experimental.normalised(value.get("experimental"), coercion, limits)
    if block is not None:
        document["experimental"] = block
    return Normalised(document, report)


def check_size(document: JsonObject, limits: DocumentLimits = DEFAULT_LIMITS) -> None:
    """Raises ``BudgetExceeded`` for a document that many patches have made larger than one may be."""
    size = len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    if size > (most := limits.document_bytes):
        raise BudgetExceeded(
            f"A document has at most {most:,} bytes; this would have {size:,}.",
            reason="BudgetExceeded",
            allowed=most,
            got=size,
        )


def empty(surface: str) -> JsonObject:
    """What the first patch of a surface begins with."""
    return {"v": 1, "surface": surface, "components": []}


def _components(value: Json, coercion: Coercion, limits: DocumentLimits) -> list[JsonObject]:
    names = Names(coercion, limits.id_chars)
    found = []
    for number, entry in coercion.objects(value, "/components", "components", limits.components):
        path = below("/components", number)
        kind = entry.get("type")
        kind = trim(kind).lower() if isinstance(kind, str) else ""
        if not kind:
            coercion.report.add("dropped", path, "A component needs a type.")
            continue
        # One of an unknown type keeps its name from others too: so it does in the source.
        name = names.take(entry.get("id", ABSENT), below(path, "id"), f"component-{number + 1}")
        read = PROPS.get(kind)
        if read is None:
            coercion.report.add(
                "dropped", path, f"There are no components of this type; known: {', '.join(PROPS)}."
            )
            continue
        coercion.known(entry, path, ("id", "type", "props"))
        props = entry.get("props", {})
        if not isinstance(props, dict):
            coercion.report.add("replaced", below(path, "props"), "props has to be an object; it is empty.")
            props = {}
        found.append({"id": name, "type": kind, "props": read(props, below(path, "props"), coercion, limits)})
    return found
