"""Catalogs of the suites, given as JSON schemas, as catalogs of the engine: enough of JSON Schema for them."""

from __future__ import annotations

from typing import Any

from a2ui.catalog import kinds
from a2ui.catalog.actions import action
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.catalog.registry import Catalog
from a2ui.components import BaseComponent
from a2ui.schema import dynamic, parts, shapes
from a2ui.schema.shapes import Check, Shape

REFERENCES: dict[str, tuple[kinds.Kind, Shape]] = {
    "ComponentId": (kinds.child, shapes.string),
    "ChildList": (kinds.children, parts.children),
    "DynamicString": (kinds.text, dynamic.dynamic_string),
    "DynamicNumber": (kinds.number, dynamic.dynamic_number),
}
LITERALS: dict[str, tuple[kinds.Kind, Shape]] = {
    "string": (kinds.literal_text, shapes.string),
    "number": (kinds.literal_number, shapes.number),
    "boolean": (kinds.literal_boolean, shapes.boolean),
}
NAMED: dict[str, kinds.Kind] = {
    "child": kinds.child,
    "children": kinds.children,
    "action": action,
    "text": kinds.text,
}
"""Properties that say nothing of what they are but by their names, as in the simplified schemas."""
COMMON = {"id", "component", "weight", "accessibility"}


def _anything(raw: Any, where: Any) -> Any:
    return raw


def _required_only(required: set[str]) -> Shape:
    def shape(value: Any, path: str, check: Check) -> None:
        if type(value) is not dict or not required <= value.keys():
            check.bad(path, "Something is missing.")

    return shape


def _property(key: str, schema: dict[str, Any]) -> tuple[kinds.Kind, Shape]:
    kind, shape = _by_schema(schema)
    if key not in NAMED or kind not in (_anything, kinds.literal_text):
        return kind, shape
    return NAMED[key], parts.action if key == "action" else shape


def _by_schema(schema: dict[str, Any]) -> tuple[kinds.Kind, Shape]:
    reference = str(schema.get("$ref", "")).rpartition("/")[2]
    if reference in REFERENCES:
        return REFERENCES[reference]
    if schema.get("title") == "ComponentId":
        return REFERENCES["ComponentId"]
    if "enum" in schema:
        return kinds.enum(*schema["enum"]), shapes.one_of(*schema["enum"])
    items = schema.get("items", {})
    if items.get("title") == "ComponentId" or items == {"type": "string"}:
        return kinds.children, shapes.list_of(shapes.string)
    if "child" in items.get("properties", {}):
        return kinds.tabs, shapes.anything
    if "explicitList" in schema.get("properties", {}):
        return kinds.children, shapes.anything
    if schema.get("type") == "object":
        return _anything, _required_only(set(schema.get("required", ())))
    return LITERALS.get(str(schema.get("type")), (_anything, shapes.anything))


def component(name: str, schema: dict[str, Any]) -> BaseComponent:
    """A component type that shows nothing but its children."""
    parts = [schema, *schema.get("allOf", ())]
    properties: dict[str, Any] = {}
    required: set[str] = set()
    for part in parts:
        properties |= {key: value for key, value in part.get("properties", {}).items() if key not in COMMON}
        required |= set(part.get("required", ())) - COMMON
    known = {key: _property(key, value) for key, value in properties.items()}

    def build(self: BaseComponent, build: Any) -> None:
        places = [place for slot in self.slots for place in build.children_in(slot)]
        start = f'<div id="{build.id}'
        build.done(
            lambda scope, context: (
                f'{start}{context}">{"".join([p.render(scope, context) for p in places])}</div>'
            )
        )

    members = {
        "name": name,
        "properties": {key: kind for key, (kind, _) in known.items()},
        "required": frozenset(required),
        "shapes": {key: shape for key, (_, shape) in known.items()},
        "slots": tuple(
            key for key, (kind, _) in known.items() if kind in (kinds.child, kinds.children, kinds.tabs)
        ),
        "build": build,
    }
    made: BaseComponent = type(name, (BaseComponent,), members)()
    return made


def catalog(schema: dict[str, Any]) -> Catalog:
    """The engine's catalog for a schema of the suites."""
    components = [component(name, one) for name, one in schema.get("components", {}).items()]
    return Catalog(schema["catalogId"], components, BASIC_CATALOG.functions)


def basic_as(*catalog_ids: str) -> Catalog:
    """The Basic Catalog under ids that only a suite knows."""
    aliases = (*BASIC_CATALOG.aliases, *catalog_ids)
    return Catalog(
        BASIC_CATALOG.id,
        BASIC_CATALOG.components.values(),
        BASIC_CATALOG.functions,
        aliases=dict.fromkeys(aliases),
    )
