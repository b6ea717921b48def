"""Whether something is a payload of ``_ggui:preview`` (8.2): the check that goes beside the contract's own."""

from __future__ import annotations

from functools import cache
from typing import Final

from envelopes.transports.live.contracts import PREVIEW
from envelopes.transports.live.contracts.values import ValueCheck
from envelopes.transports.live.contracts.violations import Violation
from envelopes.transports.live.previews.picture import ALIGN, JUSTIFY
from envelopes.types import Json, JsonObject

_TEXT: JsonObject = {"type": "string"}
_FLAG: JsonObject = {"type": "boolean"}
_IDS: JsonObject = {"type": "array", "items": _TEXT}
_LAID_OUT: JsonObject = {
    "children": _IDS,
    "gap": {"type": ["string", "number"]},
    "align": {"type": "string", "enum": list(ALIGN)},
    "justify": {"type": "string", "enum": list(JUSTIFY)},
}
_OPTION: JsonObject = {
    "type": "object",
    "properties": {"label": _TEXT, "value": _TEXT},
    "additionalProperties": True,
}

COMPONENTS: Final[dict[str, tuple[JsonObject, tuple[str, ...]]]] = {
    "Row": (_LAID_OUT, ()),
    "Column": (_LAID_OUT, ()),
    "Card": ({"child": _TEXT}, ()),
    "List": ({"children": _IDS}, ()),
    "Divider": ({"orientation": _TEXT}, ()),
    "Text": ({"text": _TEXT, "variant": _TEXT}, ("text",)),
    "Image": ({"src": _TEXT, "alt": _TEXT}, ("src",)),
    "Icon": ({"name": _TEXT}, ("name",)),
    "Button": ({"label": _TEXT}, ("label",)),
    "TextField": ({"label": _TEXT, "placeholder": _TEXT, "value": _TEXT}, ()),
    "CheckBox": ({"label": _TEXT, "checked": _FLAG}, ()),
    "ChoicePicker": ({"label": _TEXT, "options": {"type": "array", "items": _OPTION}, "value": _TEXT}, ()),
}
"""The catalog ``ggui.preview.v1``: properties of each component besides its id, and those that it needs."""


def _open(properties: JsonObject, required: tuple[str, ...]) -> JsonObject:
    # Unknown fields are tolerated.
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": True,
    }


_SURFACE = {"surfaceId": _TEXT}
_BODIES = {
    "createSurface": _open({**_SURFACE, "catalogId": _TEXT}, ("surfaceId", "catalogId")),
    "updateComponents": _open(
        {
            **_SURFACE,
            "components": {"type": "array", "items": {"type": "object", "additionalProperties": True}},
        },
        ("surfaceId", "components"),
    ),
    "deleteSurface": _open(_SURFACE, ("surfaceId",)),
}
_ROWS = {name: _open({"id": _TEXT, **props}, ("id", *needed)) for name, (props, needed) in COMPONENTS.items()}
_NOT_EMPTY = ("surfaceId", "catalogId", "id", "src", "name")


@cache
def _check(name: str) -> ValueCheck:
    """Of a body or of a component: made when it is needed, since each takes as long to make as a module to load."""
    return ValueCheck(_BODIES[name] if name in _BODIES else _ROWS[name])


def preview_violations(payload: Json, field: str = f"{PREVIEW}.payload") -> list[Violation]:
    """What is wrong with a payload; null, which ends a preview, is one."""
    if payload is None:
        return []
    if not isinstance(payload, dict):
        return [Violation(field, "Is no message.", "object or null", keyword="type")]
    if payload.get("version") != "v0.9":
        return [Violation(f"{field}.version", "Is not v0.9.", "v0.9", keyword="const")]
    verbs = [verb for verb in payload if verb != "version"]
    if len(verbs) != 1 or verbs[0] not in _BODIES:
        expected = " | ".join(_BODIES)
        return [
            Violation(field, f"Is not exactly one of {expected}.", expected, ", ".join(verbs[:5]), "oneOf")
        ]
    body, where = payload[verbs[0]], f"{field}.{verbs[0]}"
    found = _check(verbs[0]).violations(body, where) or _empty(body, where)
    if not found and verbs[0] == "updateComponents":
        for index, row in enumerate(body["components"]):
            found += _component_violations(row, f"{where}.components[{index}]")
    return found


def _component_violations(row: JsonObject, field: str) -> list[Violation]:
    name = str(row.get("component"))
    if name not in _ROWS:
        expected = " | ".join(COMPONENTS)
        return [Violation(f"{field}.component", "Is no component of the preview.", expected, keyword="enum")]
    return _check(name).violations(row, field) or _empty(row, field)


def _empty(body: JsonObject, field: str) -> list[Violation]:
    return [
        Violation(f"{field}.{name}", "Is empty.", "some text", "", "minLength")
        for name in _NOT_EMPTY
        if body.get(name) == ""
    ]
