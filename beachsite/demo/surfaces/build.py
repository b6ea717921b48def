"""Short names for the A2UI 1.0 shapes that Sally's interfaces are made of."""

from __future__ import annotations

from envelopes.types import Json, JsonObject

BASIC_CATALOG = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"
VERSION = "1.0"
_ENVELOPE = ("checks", "accessibility")


def path(pointer: str) -> JsonObject:
    """A binding."""
    return {"@path": pointer}


def call(name: str, **args: Json) -> JsonObject:
    return {"@call": name, "args": args}


def string(template: str) -> JsonObject:
    """A text with ``${...}`` in it."""
    return call("formatString", value=template)


def price(value: str, currency: str) -> str:
    """An amount, both ends bound, as a part of a template; written as everywhere: "£188.00"."""
    return f"${{formatCurrency(value: {value}, currency: {currency})}}"


def every(*conditions: JsonObject) -> JsonObject:
    return call("and", values=list(conditions))


def either(*conditions: JsonObject) -> JsonObject:
    return call("or", values=list(conditions))


def check(condition: JsonObject, message: str) -> JsonObject:
    return {"condition": condition, "message": message}


def required(pointer: str) -> JsonObject:
    return call("required", value=path(pointer))


def once_given(pointer: str, condition: JsonObject) -> JsonObject:
    """``condition``, which an empty field does not have to meet yet: a form must not greet anyone in red."""
    return either(call("not", value=required(pointer)), condition)


def component(kind: str, name: str, /, **properties: Json) -> JsonObject:
    """``checks`` and ``accessibility`` are the standard's own, and begin with @ on the wire."""
    named = {f"@{key}" if key in _ENVELOPE else key: value for key, value in properties.items()}
    return {"id": name, "component": kind, **named}


def text(name: str, value: Json, variant: str = "body", **more: Json) -> JsonObject:
    return component("Text", name, text=value, variant=variant, **more)


def heading(name: str, template: str, **more: Json) -> JsonObject:
    """A text of one line that stands out; it may have ``${...}`` in it."""
    line = f"#### {template}"
    return text(name, string(line) if "${" in line else line, **more)


def row(name: str, *children: str, **more: Json) -> JsonObject:
    return component("Row", name, children=list(children), **more)


def column(name: str, *children: str, **more: Json) -> JsonObject:
    return component("Column", name, children=list(children), **more)


def repeat(name: str, item: str, pointer: str, kind: str = "List", **more: Json) -> JsonObject:
    """A container with one ``item`` for each element of the list at ``pointer``."""
    return component(kind, name, children={"componentId": item, "path": pointer}, **more)


def button(name: str, child: str, event: str, context: JsonObject, **more: Json) -> JsonObject:
    return component(
        "Button", name, child=child, action={"event": {"name": event, "context": context}}, **more
    )


def link(name: str, child: str, url: str, **more: Json) -> JsonObject:
    """A button that opens a page."""
    action = {"functionCall": call("openUrl", url=url)}
    return component("Button", name, child=child, variant="borderless", action=action, **more)


def create(
    surface: str, components: list[JsonObject], data: JsonObject, *, send_data: bool = False
) -> list[JsonObject]:
    """The message of a new surface, which is filled when it is first shown."""
    body = {
        "surfaceId": surface,
        "catalogId": BASIC_CATALOG,
        "sendDataModel": send_data,
        "components": components,
        "dataModel": data,
    }
    return [{"version": VERSION, "createSurface": body}]


def again(made: list[JsonObject]) -> list[JsonObject]:
    """The messages that make the surface of ``create`` what it was at first."""
    body = made[0]["createSurface"]
    surface = str(body["surfaceId"])
    return [update(surface, "/", body["dataModel"]), change(surface, body["components"])]


def update(surface: str, pointer: str, value: Json) -> JsonObject:
    """One write to a surface's data model."""
    return {"version": VERSION, "updateDataModel": {"surfaceId": surface, "path": pointer, "value": value}}


def change(surface: str, components: list[JsonObject]) -> JsonObject:
    """Other components, or other children, for a surface that is there."""
    return {"version": VERSION, "updateComponents": {"surfaceId": surface, "components": components}}


def mark(surface: str, rows: str, row: int, previous: int | None, words: tuple[str, str]) -> list[JsonObject]:
    """The button of one row says the second of ``words``; that of the row before says the first again."""
    back = (
        [] if previous is None or previous == row else [update(surface, f"{rows}/{previous}/act", words[0])]
    )
    return [*back, update(surface, f"{rows}/{row}/act", words[1]), update(surface, "/selected", row)]


def batch(messages: list[JsonObject]) -> JsonObject:
    """What an a2ui-surface part carries."""
    return {"messages": messages}
