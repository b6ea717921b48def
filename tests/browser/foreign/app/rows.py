"""The surface of the list as it is at first, and its rows."""

from __future__ import annotations

from envelopes.types import JsonObject


def row(number: int) -> JsonObject:
    return {"id": number, "words": f"row {number}", "note": "", "done": False}


FIRST: JsonObject = {"title": "Things", "rows": [row(number) for number in (1, 2, 3)]}


def button(name: str, words: str) -> list[JsonObject]:
    context = {"rows": {"@path": "/rows"}, "title": {"@path": "/title"}, "id": {"@path": "id"}}
    action = {"event": {"name": name, "context": context}}
    return [
        {"id": name, "component": "Button", "child": f"{name}-words", "action": action},
        {"id": f"{name}-words", "component": "Text", "text": words},
    ]


COMPONENTS: list[JsonObject] = [
    {"id": "root", "component": "Column", "children": ["title", "name", "rows", "add", "shout"]},
    {"id": "title", "component": "Text", "text": {"@path": "/title"}},
    {"id": "name", "component": "TextField", "label": "Title", "value": {"@path": "/title"}},
    {"id": "rows", "component": "List", "children": {"componentId": "row", "path": "/rows"}},
    {"id": "row", "component": "Row", "children": ["words", "note", "done", "up", "remove"]},
    {"id": "words", "component": "Text", "text": {"@path": "words"}},
    {"id": "note", "component": "TextField", "label": "Note", "value": {"@path": "note"}},
    {"id": "done", "component": "CheckBox", "label": "Done", "value": {"@path": "done"}},
    *button("up", "Up"),
    *button("remove", "Remove"),
    *button("add", "Add"),
    *button("shout", "Shout"),
]
