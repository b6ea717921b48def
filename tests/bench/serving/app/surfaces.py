"""The surface that is updated: a live value, a slider with a text bound to it, and a list by a template."""

from __future__ import annotations

from envelopes.types import JsonObject

CATALOG = "https://a2ui.org/specification/v0_9/basic_catalog.json"
LIVE = "live"


def created(surface: str, items: int) -> list[JsonObject]:
    """The messages of a new surface; about two dozen elements for five items."""
    components: list[JsonObject] = [
        _column("root", "title", "head", "slide", "slid", "list"),
        _text("title", _string("Order ${/name}"), "h4"),
        _row("head", "label", "value"),
        _text("label", "Last change", "caption"),
        _text("value", {"path": "/value"}),
        {
            "id": "slide",
            "component": "Slider",
            "label": "How much",
            "value": {"path": "/much"},
            "min": 0,
            "max": 1000,
        },
        _text("slid", _string("You chose ${/much}")),
        {"id": "list", "component": "List", "children": {"componentId": "item", "path": "/items"}},
        _row("item", "name", "price"),
        _text("name", {"path": "name"}),
        _text("price", _string("${price} EUR")),
    ]
    rows = [{"id": f"i{number}", "name": f"Item {number}", "price": number} for number in range(items)]
    model = {"much": 0, "name": "A17", "value": "-", "items": rows}
    return [
        _message("createSurface", surfaceId=surface, catalogId=CATALOG),
        _message("updateDataModel", surfaceId=surface, path="/", value=model),
        _message("updateComponents", surfaceId=surface, components=components),
    ]


def updated(value: str) -> JsonObject:
    """The message that changes the live value."""
    return _message("updateDataModel", surfaceId=LIVE, path="/value", value=value)


def part(messages: list[JsonObject]) -> JsonObject:
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": messages}}


def _message(kind: str, **content: object) -> JsonObject:
    return {"version": "v0.9", kind: content}


def _string(template: str) -> JsonObject:
    return {"call": "formatString", "args": {"value": template}, "returnType": "string"}


def _text(name: str, words: object, variant: str = "body") -> JsonObject:
    return {"id": name, "component": "Text", "text": words, "variant": variant}


def _row(name: str, *children: str) -> JsonObject:
    return {"id": name, "component": "Row", "children": list(children), "justify": "spaceBetween"}


def _column(name: str, *children: str) -> JsonObject:
    return {"id": name, "component": "Column", "children": list(children)}
