"""Strict mode: everything that the official schemas refuse about a message (rulebook 5.1).

The envelope and the keys of the bodies are checked by `protocol.messages` in both modes; here is the rest: themes,
components, dynamic values, function calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from a2ui.catalog import actions, envelope, kinds
from a2ui.catalog.component_type import ComponentType
from a2ui.catalog.icons import NAMES
from a2ui.catalog.registry import Vocabulary
from a2ui.errors import NO_FACTS, VALIDATION_FAILED, Diagnostic
from a2ui.protocol.dialects import Notation
from a2ui.safety.colours import parse_hex
from a2ui.schema import dynamic, parts, shapes
from a2ui.schema.shapes import Check, Shape, below

_ICON_FORMS = parts.by_notation(
    shapes.record({"svgPath": shapes.string}), shapes.record({"svgPath": dynamic.dynamic_string})
)
_ICON_NAME = shapes.one_of(*NAMES)


def _icon(value: Any, path: str, check: Check) -> None:
    """A name, `{svgPath}` or a binding; not a call."""
    key = check.notation.path
    if type(value) is dict and key in value:
        shapes.record({key: shapes.string})(value, path, check)
    elif type(value) is dict:
        _ICON_FORMS(value, path, check)
    else:
        _ICON_NAME(value, path, check)


SHAPES: Final[Mapping[kinds.Kind, Shape]] = {
    kinds.text: dynamic.dynamic_string,
    kinds.number: dynamic.dynamic_number,
    kinds.boolean: dynamic.dynamic_boolean,
    kinds.string_list: dynamic.dynamic_string_list,
    kinds.literal_text: shapes.string,
    kinds.literal_number: shapes.number,
    kinds.literal_boolean: shapes.boolean,
    kinds.divisions: shapes.divisions,
    kinds.child: shapes.string,
    kinds.children: parts.children,
    kinds.tabs: parts.tabs,
    kinds.options: parts.options,
    kinds.checks: parts.checks,
    actions.action: parts.action,
    kinds.accessibility: parts.accessibility,
    kinds.icon_name: _icon,
}
"""The shape that belongs to each kind of property. A catalog's own kinds are not checked unless the component says
how (`components.BaseComponent.shapes`)."""


def strict_problems(
    message: Mapping[str, Any], notation: Notation, vocabulary: Vocabulary
) -> list[Diagnostic]:
    """Refusals for what the schemas do not allow in a message that `protocol.messages` has read."""
    check = Check(vocabulary.function, notation)
    verb = next(key for key in message if key != "version")
    body = message[verb]
    if verb == "createSurface":
        _create(body, check)
    if verb in {"createSurface", "updateComponents"} and "components" in body:
        rows = body["components"]
        if not rows:
            check.wrong("/components", "a list of at least 1", rows)
        for index, row in enumerate(rows):
            _component(row, f"/components/{index}", vocabulary, check)
    surface_id = body.get("surfaceId", "")
    return [
        _refusal(path, text, surface_id, _UNUSABLE if at in check.unusable else NO_FACTS)
        for at, (path, text) in enumerate(check.problems)
    ]


_UNUSABLE: Final = {"unusable": True}


def _refusal(path: str, message: str, surface_id: str, facts: Mapping[str, Any]) -> Diagnostic:
    return Diagnostic(VALIDATION_FAILED, message, path, surface_id, refused=True, facts=facts)


def _create(body: Mapping[str, Any], check: Check) -> None:
    if "sendDataModel" in body:
        shapes.boolean(body["sendDataModel"], "/sendDataModel", check)
    if check.notation.marked:
        # A theme is refused where surfaces are made.
        if "catalogId" in body:
            shapes.string(body["catalogId"], "/catalogId", check)
        if "metadata" in body:
            envelope.metadata_shape(body["metadata"], "/metadata", check)
        return
    if "theme" not in body:
        return
    theme = body["theme"]
    if type(theme) is not dict:
        check.wrong("/theme", "an object", theme)
        return
    if "primaryColor" in theme and parse_hex(theme["primaryColor"]) is None:
        check.wrong("/theme/primaryColor", "# and six hexadecimal digits", theme["primaryColor"], quoted=True)
    if "iconUrl" in theme:
        shapes.uri(theme["iconUrl"], "/theme/iconUrl", check)
    if "agentDisplayName" in theme:
        shapes.string(theme["agentDisplayName"], "/theme/agentDisplayName", check)


def _component(row: Any, path: str, vocabulary: Vocabulary, check: Check) -> None:
    if type(row) is not dict:
        check.wrong(path, "an object", row)
        return
    name, marked = row.get("component"), check.notation.marked
    catalog_id = envelope.catalog_of(row) if marked else ""
    kind = vocabulary.component(name, catalog_id) if type(name) is str else None
    shapes.string(row.get("id"), below(path, "id"), check)
    if kind is None:
        check.bad(below(path, "component"), f"There is no component type {str(name)[:40]!r}.")
        return
    known = shapes_of(kind)
    for key, value in row.items():
        if key in ("id", "component"):
            continue
        shape = envelope.shape_of(key, row, kind, known) if marked else known.get(key)
        if shape is None:
            check.bad(below(path, key), f"{kind.name} has no property {str(key)[:40]!r}.")
        else:
            shape(value, below(path, key), check)
    for key in sorted(kind.required - row.keys()):
        check.bad(below(path, key), f"{kind.name} needs {key}.")


def shapes_of(kind: ComponentType) -> Mapping[str, Shape]:
    """The shape of each property of a component type."""
    return {name: kind.shapes.get(name) or _shape(how) for name, how in kind.kinds.items()}


def _shape(how: kinds.Kind) -> Shape:
    values: Iterable[str] | None = kinds.ENUM_VALUES.get(how)
    return shapes.one_of(*values) if values is not None else SHAPES.get(how, shapes.anything)
