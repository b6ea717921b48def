"""Components of v0.8 as components of v0.9 (rulebook 22)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from a2ui.data.pointer import parse
from a2ui.errors import PointerError, must_be
from a2ui.protocol.adapters.port import Host, refusal
from a2ui.protocol.adapters.v0_8_data import spelled
from a2ui.schema.shapes import below
from a2ui.state.components import ROOT

ROOT_INSIDE: Final = "v0.8:root"
"""What a component that the agent calls `root` is called inside."""

_LITERALS: Final = ("literalString", "literalNumber", "literalBoolean", "literalArray")

_TYPES: Final[Mapping[str, str]] = {"MultipleChoice": "ChoicePicker"}
_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "Text": {"usageHint": "variant"},
    "Image": {"usageHint": "variant", "altText": "description"},
    "Row": {"distribution": "justify", "alignment": "align"},
    "Column": {"distribution": "justify", "alignment": "align"},
    "List": {"alignment": "align"},
    "Modal": {"entryPointChild": "trigger", "contentChild": "content"},
    "Tabs": {"tabItems": "tabs"},
    "TextField": {"text": "value", "textFieldType": "variant"},
    "Slider": {"minValue": "min", "maxValue": "max"},
    "MultipleChoice": {"selections": "value", "type": "displayStyle"},
}
_IDS: Final = frozenset({"child", "trigger", "content"})
_FITS: Final = {"scale-down": "scaleDown"}


def inside(component_id: str) -> str:
    """The id that a component has inside."""
    return ROOT_INSIDE if component_id == ROOT else component_id


def _from_item(path: str) -> str:
    """A path as v0.8 means it: inside a template it starts at the item, with a slash or without, and elsewhere at the
    root. That is what a relative path does."""
    return path.removeprefix(".").lstrip("/") or "."


def _of_items(path: Any) -> Any:
    """The path of what a template runs over: with a slash it starts at the root."""
    return spelled(path).removeprefix("./") if isinstance(path, str) else path


class Components:
    """The components of one `surfaceUpdate`. `initial` collects values that paths are to start with."""

    def __init__(self, host: Host, surface_id: str) -> None:
        self._host = host
        self._surface_id = surface_id
        self.initial: dict[str, Any] = {}

    def rows(self, rows: Any) -> list[Any]:
        """The v0.9 components. Raises A2uiError for what is no list of components."""
        if not isinstance(rows, list):
            raise refusal(must_be("components", "a list", ... if rows is None else rows), "/components")
        return [self._row(row, f"/components/{index}") for index, row in enumerate(rows)]

    def _row(self, row: Any, path: str) -> dict[str, Any]:
        if not isinstance(row, dict):
            raise refusal(must_be(path[1:], "an object", row), path)
        if not isinstance(row.get("id"), str) or not row["id"]:
            raise refusal(must_be("id", "text that is not empty", row.get("id", ...)), below(path, "id"))
        wrapped = row.get("component")
        if not isinstance(wrapped, dict) or len(wrapped) != 1:
            expected = 'an object with one type, such as {"Text": {...}}'
            raise refusal(must_be("component", expected, row.get("component", ...)), below(path, "component"))
        name, props = next(iter(wrapped.items()))
        if not isinstance(props, dict):
            raise refusal(must_be(f"component/{name}", "an object", props), f"{path}/component/{name}")
        found: dict[str, Any] = {"id": inside(row["id"]), "component": _TYPES.get(name, name)}
        if "weight" in row:
            found["weight"] = row["weight"]
        names = _NAMES.get(name, {})
        for key, value in props.items():
            found |= self._property(name, names.get(key, key), value, f"{path}/component/{name}/{key}")
        return found

    def _property(self, kind: str, key: str, value: Any, path: str) -> dict[str, Any]:
        special = _SPECIAL.get((kind, key))
        if special is not None:
            return special(value)
        if key == "children":
            return {key: self._children(value)}
        if key in _IDS and isinstance(value, str):
            return {key: inside(value)}
        if key == "tabs":
            return {key: self._each(value, self._tab)}
        if key == "options":
            return {key: self._each(value, self._option)}
        if key == "action":
            return {key: self._action(value)}
        if kind == "MultipleChoice" and key == "maxAllowedSelections":
            return {"variant": "mutuallyExclusive" if self._value(value) == 1 else "multipleSelection"}
        if kind == "Image" and key == "fit" and isinstance(value, str):
            return {key: _FITS.get(value, value)}
        return {key: self._value(value)}

    def _value(self, value: Any) -> Any:
        """A typed literal or a path; with both, the literal is what the path starts with."""
        if not isinstance(value, dict):
            return value
        literal = next((value[name] for name in _LITERALS if name in value), None)
        path = value.get("path")
        if not isinstance(path, str):
            return value if literal is None and not value.keys() & set(_LITERALS) else literal
        path = spelled(path)
        if literal is not None and path.startswith("/"):
            try:
                parse(path)
            except PointerError:
                return {"path": path}
            self.initial.setdefault(path, literal)
        return {"path": _from_item(path)}

    def _children(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        listed = value.get("explicitList")
        if isinstance(listed, list):
            return [inside(item) if isinstance(item, str) else item for item in listed]
        template = value.get("template")
        if not isinstance(template, dict):
            return value
        component_id = template.get("componentId")
        return {
            "componentId": inside(component_id) if isinstance(component_id, str) else component_id,
            "path": _of_items(template.get("dataBinding")),
        }

    @staticmethod
    def _each(value: Any, translate: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
        if not isinstance(value, list):
            return value
        return [translate(item) if isinstance(item, dict) else item for item in value]

    def _tab(self, tab: dict[str, Any]) -> dict[str, Any]:
        child = tab.get("child")
        return {
            "title": self._value(tab.get("title")),
            "child": inside(child) if isinstance(child, str) else child,
        }

    def _option(self, option: dict[str, Any]) -> dict[str, Any]:
        return {"label": self._value(option.get("label")), "value": option.get("value")}

    def _action(self, action: Any) -> Any:
        if not isinstance(action, dict):
            return action
        context = action.get("context")
        entries = [entry for entry in context if isinstance(entry, dict)] if isinstance(context, list) else []
        return {
            "event": {
                "name": action.get("name"),
                "context": {str(entry.get("key")): self._value(entry.get("value")) for entry in entries},
            }
        }


_SPECIAL: Final[Mapping[tuple[str, str], Callable[[Any], dict[str, Any]]]] = {
    # A primary button is a variant in v0.9; "date" is no variant of a text field there, which then is a plain one.
    ("Button", "primary"): lambda value: {"variant": "primary"} if value is True else {},
    ("TextField", "variant"): lambda value: {} if value == "date" else {"variant": value},
}
