"""Pictures of surfaces that are being written, as payloads of ``_ggui:preview`` (live-channel reading, 8.2; D65)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envelopes.delivery.deltas import Delta
from envelopes.protocol.bubbles import SURFACE_PREVIEW
from envelopes.transports.live.previews import Previews, preview_violations
from envelopes.types import Json, JsonObject

LIVE = "L1-1-0-0-0-0"


def lines(*messages: Json) -> str:
    return "".join(f"{json.dumps(message)}\n" for message in messages)


def define(*rows: JsonObject, surface: str = "s") -> JsonObject:
    return {"version": "1.0", "updateComponents": {"surfaceId": surface, "components": list(rows)}}


CREATE = {"version": "1.0", "createSurface": {"surfaceId": "s", "catalogId": "c"}}


def delta(text: str, offset: int = 0, live: str = LIVE) -> Delta:
    return Delta(live, 1, SURFACE_PREVIEW, offset, text)


def take(previews: Previews, text: str, offset: int = 0) -> list[Json]:
    told = previews.take(delta(text, offset))
    assert {last for _, last in told} <= {False}
    assert [fault for payload, _ in told for fault in preview_violations(payload)] == []
    return [payload for payload, _ in told]


NAME = f"beach:preview/{LIVE}/s"


def test_a_surface_grows_and_its_row_takes_its_place() -> None:
    previews = Previews()
    text = lines(
        CREATE, define({"id": "root", "component": "Column", "children": ["t"], "justify": "spaceBetween"})
    )
    assert take(previews, text) == [
        {"version": "v0.9", "createSurface": {"surfaceId": NAME, "catalogId": "ggui.preview.v1"}},
        {"version": "v0.9", "updateComponents": {"surfaceId": NAME, "components": [
            {"id": "root", "component": "Column", "children": ["t"], "justify": "between"}]}},
    ]  # fmt: skip
    assert previews.before("part", 1) == []

    assert take(previews, lines(None), len(text)) == []
    assert previews.before("part", 1) == [(None, True)]
    assert previews.before("part", 1) == []


@pytest.mark.parametrize("kind", ["withdrawn", "settled", "turn"])
def test_one_that_never_becomes_anything_goes(kind: str) -> None:
    previews = Previews()
    take(previews, lines(CREATE))

    assert previews.before("message", 1) == []
    assert previews.before(kind, 2) == []
    assert previews.before(kind, 1) == [
        ({"version": "v0.9", "deleteSurface": {"surfaceId": NAME}}, False),
        (None, True),
    ]


def test_pieces_that_are_cut_come_twice_or_are_missing() -> None:
    text = lines(CREATE, define({"id": "root", "component": "Text", "text": "Hello"}))
    previews, told = Previews(), []
    for at in range(0, len(text), 5):
        told += take(previews, text[at : at + 5], at)
        told += take(previews, text[max(0, at - 7) : at + 5], max(0, at - 7))
    assert len(told) == 2
    assert take(previews, text) == []
    assert take(previews, "missed", len(text) + 3) == []
    assert take(Previews(), text[5:], 5) == []
    # All of it comes again, and more.
    assert len(take(previews, text + lines(define({"id": "more", "component": "Divider"})))) == 1


def test_a_button_gets_its_label_from_what_stands_in_it_before_or_after() -> None:
    button = {
        "id": "b",
        "component": "Button",
        "child": "t",
        "action": {"event": {"name": "pay", "context": {}}},
    }
    label = {"id": "t", "component": "Text", "text": "Pay"}
    after = take(Previews(), lines(define(button, label)))[1]["updateComponents"]["components"]
    before = take(Previews(), lines(define(label, button)))[1]["updateComponents"]["components"]

    assert after[-1] == before[-1] == {"id": "b", "component": "Button", "label": "Pay"}
    assert "pay" not in json.dumps(after)


PICTURES: list[tuple[JsonObject, JsonObject | None]] = [
    ({"component": "Row", "children": ["a", 7], "align": "center", "justify": "bad"},
     {"component": "Row", "children": ["a"], "align": "center"}),
    ({"component": "Column", "children": {"componentId": "t", "path": "/l"}},
     {"component": "Column", "children": ["t"]}),
    ({"component": "List", "children": ["a"]}, {"component": "List", "children": ["a"]}),
    ({"component": "List", "children": ["a"], "direction": "horizontal"}, {"component": "Row", "children": ["a"]}),
    ({"component": "Card", "child": "a"}, {"component": "Card", "child": "a"}),
    ({"component": "Modal", "trigger": "a", "content": "b"}, {"component": "Card", "child": "a"}),
    ({"component": "Tabs", "tabs": [{"title": "A", "child": "a"}, {"title": "B", "child": "b"}]},
     {"component": "Column", "children": ["a"]}),
    ({"component": "Divider", "axis": "vertical"}, {"component": "Divider", "orientation": "vertical"}),
    ({"component": "Text", "text": "Hi", "variant": "h1"}, {"component": "Text", "text": "Hi", "variant": "h1"}),
    ({"component": "Text", "text": {"@path": "/a"}}, {"component": "Text", "text": ""}),
    ({"component": "Image", "url": "https://a.example/b.png", "description": "A"},
     {"component": "Image", "src": "https://a.example/b.png", "alt": "A"}),
    ({"component": "Image", "url": ""}, None),
    ({"component": "Image", "url": {"path": "/a"}}, None),
    ({"component": "Icon", "name": "star"}, {"component": "Icon", "name": "star"}),
    ({"component": "Icon", "name": {"svgPath": "M0"}}, None),
    ({"component": "TextField", "label": "Name", "placeholder": "Ada", "value": {"@path": "/n"}},
     {"component": "TextField", "label": "Name", "placeholder": "Ada"}),
    ({"component": "DateTimeInput", "label": "When"}, {"component": "TextField", "label": "When"}),
    ({"component": "CheckBox", "label": "Yes", "value": True},
     {"component": "CheckBox", "label": "Yes", "checked": True}),
    ({"component": "ChoicePicker", "label": "One", "options": [{"label": "A", "value": "a"}, 7]},
     {"component": "ChoicePicker", "label": "One", "options": [{"label": "A", "value": "a"}]}),
    ({"component": "Video", "url": "https://a.example/v"}, None),
    ({"component": "acme.Gauge", "value": 3}, None),
    *[({"component": kind}, picture) for kind, picture in {
        "Row": {"component": "Row", "children": []}, "Card": {"component": "Card"}, "Tabs": {"component": "Column",
        "children": []}, "ChoicePicker": {"component": "ChoicePicker"}, "Button": {"component": "Button", "label": ""},
      }.items()],
]  # fmt: skip


@pytest.mark.parametrize(("row", "picture"), PICTURES)
def test_a_picture(row: JsonObject, picture: JsonObject | None) -> None:
    told = take(Previews(), lines(define({"id": "x", **row})))
    components = [
        one for message in told for one in message.get("updateComponents", {}).get("components", ())
    ]

    assert components == ([] if picture is None else [{"id": "x", **picture}])


PAYLOADS: list[tuple[Any, str | None]] = [
    (None, None),
    ({"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": "ggui.preview.v1"}}, None),
    ({"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": []}}, None),
    ({"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": [
        {"id": "a", "component": "Button", "label": "", "extra": 1}], "extra": 1}}, None),
    ({"version": "v0.9", "deleteSurface": {"surfaceId": "s"}}, None),
    ([], ""),
    ("x", ""),
    ({"version": "1.0", "deleteSurface": {"surfaceId": "s"}}, ".version"),
    ({"deleteSurface": {"surfaceId": "s"}}, ".version"),
    ({"version": "v0.9"}, ""),
    ({"version": "v0.9", "updateDataModel": {"surfaceId": "s", "value": 1}}, ""),
    ({"version": "v0.9", "action": {"name": "x"}}, ""),
    ({"version": "v0.9", "deleteSurface": {"surfaceId": "s"}, "updateComponents": {"surfaceId": "s"}}, ""),
    ({"version": "v0.9", "createSurface": {"surfaceId": "s"}}, ".createSurface.catalogId"),
    ({"version": "v0.9", "createSurface": {"surfaceId": "", "catalogId": "c"}}, ".createSurface.surfaceId"),
    ({"version": "v0.9", "deleteSurface": {"surfaceId": 3}}, ".deleteSurface.surfaceId"),
    ({"version": "v0.9", "deleteSurface": []}, ".deleteSurface"),
    *[({"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": [row]}},
       f".updateComponents.components[0]{where}") for row, where in (
        ({"id": "a", "component": "Video"}, ".component"), ({"id": "", "component": "Row"}, ".id"),
        ({"component": "Row"}, ".id"), ({"id": "a", "component": "Image", "src": ""}, ".src"),
        ({"id": "a", "component": "Icon", "name": ""}, ".name"), ({"id": "a", "component": "Text"}, ".text"),
        ({"id": "a", "component": "Row", "align": "top"}, ".align"), ({"id": "a"}, ".component"))],
]  # fmt: skip


@pytest.mark.parametrize(("payload", "field"), PAYLOADS)
def test_a_payload(payload: Any, field: str | None) -> None:
    found = preview_violations(payload)

    assert [one.field for one in found] == ([] if field is None else [f"_ggui:preview.payload{field}"])
    assert all(one.keyword for one in found)
