"""Strict mode: everything that the official schemas refuse about a message (rulebook 5.1).

The envelope and the keys of the bodies are checked by `protocol.messages` in both modes; here is the rest: themes,
components, dynamic values, function calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from a2ui.catalog import actions, kinds
from a2ui.catalog.basic.icons import NAMES
from a2ui.catalog.registry import Catalog, ComponentType
from a2ui.catalog.schema import shapes
from a2ui.catalog.schema.shapes import Check, Shape, below
from a2ui.errors import VALIDATION_FAILED, Diagnostic
from a2ui.safety.colours import parse_hex

_ICON_FORMS = shapes.record({"svgPath": shapes.string})
_ICON_BINDING = shapes.record({"path": shapes.string})
_ICON_NAME = shapes.one_of(*NAMES)


def _icon(value: Any, path: str, check: Check) -> None:
    """A name, `{svgPath}` or `{path}`; not a call."""
    if type(value) is dict:
        (_ICON_BINDING if "path" in value else _ICON_FORMS)(value, path, check)
    else:
        _ICON_NAME(value, path, check)


SHAPES: Final[Mapping[kinds.Kind, Shape]] = {
    kinds.text: shapes.dynamic_string,
    kinds.number: shapes.dynamic_number,
    kinds.boolean: shapes.dynamic_boolean,
    kinds.string_list: shapes.dynamic_string_list,
    kinds.literal_text: shapes.string,
    kinds.literal_number: shapes.number,
    kinds.literal_boolean: shapes.boolean,
    kinds.child: shapes.string,
    kinds.children: shapes.children,
    kinds.tabs: shapes.tabs,
    kinds.options: shapes.options,
    kinds.checks: shapes.checks,
    actions.action: shapes.action,
    kinds.accessibility: shapes.accessibility,
    kinds.icon_name: _icon,
}
"""The shape that belongs to each kind of property. A catalog's own kinds are not checked unless the component says
how (`ComponentType.shapes`)."""


def strict_problems(message: Mapping[str, Any], catalog: Catalog) -> list[Diagnostic]:
    """Refusals for what the schema of the catalog does not allow in a message that `protocol.messages` has read."""
    check = Check(catalog.functions)
    verb = next(key for key in message if key != "version")
    body = message[verb]
    if verb == "createSurface":
        _create(body, check)
    elif verb == "updateComponents":
        rows = body["components"]
        if not rows:
            check.wrong("/components", "a list of at least 1", rows)
        for index, row in enumerate(rows):
            _component(row, f"/components/{index}", catalog, check)
    surface_id = body["surfaceId"]
    return [_refusal(path, text, surface_id) for path, text in check.problems]


def _refusal(path: str, message: str, surface_id: str) -> Diagnostic:
    return Diagnostic(VALIDATION_FAILED, message, path, surface_id, refused=True)


def _create(body: Mapping[str, Any], check: Check) -> None:
    if "sendDataModel" in body:
        shapes.boolean(body["sendDataModel"], "/sendDataModel", check)
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


def _component(row: Any, path: str, catalog: Catalog, check: Check) -> None:
    if type(row) is not dict:
        check.wrong(path, "an object", row)
        return
    name = row.get("component")
    kind = catalog.components.get(name) if type(name) is str else None
    shapes.string(row.get("id"), below(path, "id"), check)
    if kind is None:
        check.bad(below(path, "component"), f"There is no component type {str(name)[:40]!r}.")
        return
    known = shapes_of(kind)
    for key, value in row.items():
        if key in ("id", "component"):
            continue
        shape = known.get(key)
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
