"""What stands in the place of a value, in few words: kinds of properties, shapes of arguments, members of a schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from a2ui.catalog import actions, kinds
from a2ui.catalog.component_type import ComponentType
from a2ui.catalog.icons import NAMES
from a2ui.catalog.kinds import Kind
from a2ui.functions.registry import Function
from a2ui.schema import dynamic, shapes
from a2ui.schema.shapes import Shape, no_more

OF_ALL: Final = frozenset({"component", "weight", "accessibility"})
"""Properties that every component has: they are told once."""

_KINDS: Final[Mapping[Kind, str]] = {
    kinds.text: "",
    kinds.number: "number",
    kinds.boolean: "boolean",
    kinds.string_list: "list of texts",
    kinds.literal_text: "literal",
    kinds.literal_number: "literal number",
    kinds.literal_boolean: "true|false",
    kinds.divisions: "literal number",
    kinds.child: "id",
    kinds.children: "[id, ...] or template",
    kinds.tabs: "[{title*, child*: id}]",
    kinds.options: "[{label*, value*: literal}]",
    actions.action: "{event: {name*: literal, context: {key: value}}} or {functionCall: call}",
    kinds.icon_name: "|".join(NAMES),
}
"""A text, bound or not, is what most are: nothing is said of it."""

_SHAPES: Final[Mapping[Shape, str]] = {
    dynamic.dynamic_number: "number",
    dynamic.dynamic_boolean: "boolean",
    shapes.string: "literal",
    shapes.number: "literal number",
    shapes.count: "literal number",
}


def component_in_words(kind: ComponentType, description: str = "") -> str:
    """`Text {text*, variant: caption|body}`: what is required has a star. Raises nothing for kinds of a catalog's own:
    of those the name is told, and what the type says of it itself (`ComponentType.told`)."""
    said = kind.description or description
    places = [
        f"{words} {'|'.join(sorted(names))}"
        for words, names in (("only in", kind.allowed_parents), ("holds only", kind.allowed_children))
        if names is not None
    ]
    about = " ".join(filter(None, (said, f"({', '.join(places)})" if places else "")))
    return f"{kind.name}{':' if about else ''} {about}{' ' if about else ''}{_properties(kind)}"


def _properties(kind: ComponentType) -> str:
    found = []
    for name, how in kind.kinds.items():
        if name in OF_ALL or kind.shapes.get(name) is no_more:
            continue
        if how is kinds.checks:
            found.append("@checks")
            continue
        words = kind.told.get(name) or "|".join(kinds.ENUM_VALUES.get(how, ())) or _KINDS.get(how, "")
        found.append(f"{name}{'*' if name in kind.required else ''}{': ' if words else ''}{words}")
    return "{" + ", ".join(found) + "}"


def function_in_words(function: Function, name: str) -> str:
    """`formatDate(value*, format*)`; of one without a signature its name and dots."""
    signature = function.signature
    if signature is None:
        return f"{name}(...)"
    needed = [_argument(key, shape, "*") for key, shape in signature.required.items()]
    others = [_argument(key, shape, "") for key, shape in signature.optional.items()]
    one_of = f"; needs {' or '.join(signature.any_of)}" if signature.any_of else ""
    return f"{name}({', '.join([*needed, *others])}{one_of})"


def _argument(name: str, shape: Shape, mark: str) -> str:
    words = _SHAPES.get(shape, "")
    return f"{name}{mark}{': ' if words else ''}{words}"


def entry_in_words(name: str, entry: Mapping[str, Any]) -> str:
    """A component of a catalog document, as far as the document itself describes it."""
    properties = {key: one for key, one in entry.get("properties", {}).items() if key not in OF_ALL}
    members = members_in_words(properties, entry.get("required", ()))
    return f"{name}: {entry.get('description', '')} {members}"


def members_in_words(properties: Mapping[str, Any], required: Iterable[str]) -> str:
    """The members of an object, by their JSON Schemas."""
    said = [f"{key}{'*' if key in required else ''}{_told(one)}" for key, one in properties.items()]
    return "{" + ", ".join(said) + "}"


def _told(schema: Mapping[str, Any]) -> str:
    about = f" ({schema['description']})" if "description" in schema else ""
    if "enum" in schema:
        return f": {'|'.join(schema['enum'])}{about}"
    if schema.get("type") == "array" and "properties" in schema.get("items", {}):
        inner = schema["items"]
        return f": [{members_in_words(inner['properties'], inner.get('required', ()))}]"
    kind = schema.get("type")
    return f": {kind}{about}" if kind in ("boolean", "integer", "number") else about
