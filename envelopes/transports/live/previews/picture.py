"""Components of the preview catalog: a picture of those that an agent writes, in the words of ``ggui.preview.v1``.

Literal values only: what is bound is not known yet. Components that the catalog has no picture of become the nearest
that it has, or none; a reference to one that is not there is the renderer's matter (8.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from envelopes.types import Json, JsonObject

CATALOG: Final = "ggui.preview.v1"

ALIGN: Final = ("start", "center", "end", "stretch")
JUSTIFY: Final = ("start", "center", "end", "between", "around", "evenly")

Picture: TypeAlias = Callable[[JsonObject], JsonObject | None]

_JUSTIFY_WORDS = {"spaceBetween": "between", "spaceAround": "around", "spaceEvenly": "evenly"}


def pictured(row: JsonObject, texts: Mapping[str, str]) -> JsonObject | None:
    """The picture of a component, or None.

    :param texts: by id, of the ``Text`` components so far: a button of the preview has its label itself
    """
    kind = row["component"]
    made = _props(kind, row, texts)
    return None if made is None else {"id": row["id"], **made}


def text_of(row: JsonObject) -> str | None:
    """What a ``Text`` says, None for any other component."""
    return _literal(row.get("text")) if row["component"] == "Text" else None


def _props(kind: str, row: JsonObject, texts: Mapping[str, str]) -> JsonObject | None:
    if kind == "Button":
        child = row.get("child")
        return {"component": "Button", "label": texts.get(child, "") if isinstance(child, str) else ""}
    picture = _PICTURES.get(kind)
    return None if picture is None else picture(row)


def _laid_out(kind: str) -> Picture:
    return lambda row: _container(kind, row)


def _list_of(row: JsonObject) -> JsonObject:
    axis = row.get("direction") or row.get("orientation")
    return _container("Row" if axis == "horizontal" else "List", row)


def _tabs(row: JsonObject) -> JsonObject:
    tabs = [tab.get("child") for tab in _list(row.get("tabs")) if isinstance(tab, dict)]
    return {"component": "Column", "children": [child for child in tabs[:1] if isinstance(child, str)]}


def _divider(row: JsonObject) -> JsonObject:
    return {"component": "Divider", **_named("orientation", row.get("axis"), ("horizontal", "vertical"))}


def _shown_text(row: JsonObject) -> JsonObject:
    return {"component": "Text", "text": _literal(row.get("text")), **_text("variant", row.get("variant"))}


def _image(row: JsonObject) -> JsonObject | None:
    source = _literal(row.get("url"))
    return {"component": "Image", "src": source, **_text("alt", row.get("description"))} if source else None


def _icon(row: JsonObject) -> JsonObject | None:
    name = _literal(row.get("name"))
    return {"component": "Icon", "name": name} if name else None


def _field(row: JsonObject) -> JsonObject:
    made: JsonObject = {"component": "TextField"}
    for name in ("label", "placeholder", "value"):
        made |= _text(name, row.get(name))
    return made


def _check_box(row: JsonObject) -> JsonObject:
    checked = row.get("value")
    more = {"checked": checked} if isinstance(checked, bool) else {}
    return {"component": "CheckBox", **_text("label", row.get("label")), **more}


def _picker(row: JsonObject) -> JsonObject:
    return {"component": "ChoicePicker", **_text("label", row.get("label")), **_options(row.get("options"))}


_PICTURES: Final[Mapping[str, Picture]] = {
    "Row": _laid_out("Row"),
    "Column": _laid_out("Column"),
    "List": _list_of,
    "Card": lambda row: {"component": "Card", **_text("child", row.get("child"))},
    "Modal": lambda row: {"component": "Card", **_text("child", row.get("trigger"))},
    "Tabs": _tabs,
    "Divider": _divider,
    "Text": _shown_text,
    "Image": _image,
    "Icon": _icon,
    "TextField": _field,
    "DateTimeInput": _field,
    "Slider": _field,
    "CheckBox": _check_box,
    "ChoicePicker": _picker,
}


def _container(kind: str, row: JsonObject) -> JsonObject:
    justify = row.get("justify")
    if isinstance(justify, str):
        justify = _JUSTIFY_WORDS.get(justify, justify)
    children = row.get("children")
    if isinstance(children, dict):
        # Of a template one item is shown: how many there are is in the data.
        children = [children.get("componentId")]
    found: JsonObject = {
        "component": kind,
        "children": [one for one in _list(children) if isinstance(one, str)],
    }
    if kind == "List":
        return found
    return {**found, **_named("align", row.get("align"), ALIGN), **_named("justify", justify, JUSTIFY)}


def _literal(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _text(name: str, value: Json) -> JsonObject:
    return {name: value} if isinstance(value, str) and value else {}


def _named(name: str, value: Json, known: tuple[str, ...]) -> JsonObject:
    return {name: value} if isinstance(value, str) and value in known else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _options(value: Json) -> JsonObject:
    options = [
        {"label": _literal(one.get("label")), "value": _literal(one.get("value"))}
        for one in _list(value)
        if isinstance(one, dict)
    ]
    return {"options": options} if options else {}
