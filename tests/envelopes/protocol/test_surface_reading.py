"""Interfaces while a model writes them: each component once, as soon as it is complete, whatever the pieces (D65)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envelopes.protocol.surface_reading import MOST_CHARACTERS, MOST_COMPONENTS, MOST_DATA
from envelopes.runtime.respond_stream import RespondStream, SurfaceGrown
from envelopes.types import JsonObject

BASIC = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"
ROWS = [
    {"id": "root", "component": "Column", "children": ["t", "b"], "n": [1, -2.5e3, {"x": [True, None, []]}]},
    {"id": "t", "component": "Text", "text": 'Grüße \U0001f600 \\ "q"'},
    {"id": "b", "component": "Button", "child": "t", "action": {"event": {"name": "go", "context": {}}}},
]  # fmt: skip


def call(data: Any, *, first: bool = True) -> JsonObject:
    metadata = {"metadata": {"partType": "a2ui-surface"}}
    part = {**metadata, "data": data} if first else {"data": data, **metadata}
    return {"parts": [{"metadata": {"partType": "ack"}, "text": "One moment"}, part], "turnState": "complete"}


def told(value: JsonObject, size: int = 3) -> list[JsonObject]:
    stream, raw = RespondStream(), json.dumps(value)
    found: list[JsonObject] = []
    for at in range(0, len(raw), size):
        for grown in stream.feed(raw[at : at + size]):
            if isinstance(grown, SurfaceGrown):
                assert grown.part == 1 and grown.messages
                found += grown.messages
    return found


def rows_of(messages: list[JsonObject]) -> list[Any]:
    return [row for message in messages for row in message.get("updateComponents", {}).get("components", ())]


CREATE = {"surfaceId": "s", "catalogId": BASIC}
SHAPES: list[tuple[str, Any]] = [
    ("one message of 1.0", {"version": "1.0", "createSurface": {
        **CREATE, "components": ROWS, "dataModel": {"a": ["x"]}}}),
    ("the data first", {"version": "1.0", "createSurface": {"dataModel": {"id": "x"}, **CREATE, "components": ROWS}}),
    ("several", {"messages": [
        {"version": "1.0", "createSurface": CREATE},
        {"version": "1.0", "updateDataModel": {"surfaceId": "s", "path": "/components", "value": [{"id": "no"}]}},
        {"version": "1.0", "updateComponents": {"surfaceId": "s", "components": ROWS}}]}),
    ("the combined object", {"version": "1.0", "createSurface": CREATE,
        "updateDataModel": {"surfaceId": "s", "value": {"components": [{"id": "no", "component": "Text"}]}},
        "updateComponents": {"surfaceId": "s", "components": ROWS}}),
    ("ids last", {"version": "1.0", "createSurface": {"components": ROWS, "catalogId": BASIC, "surfaceId": "s"}}),
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("first", [True, False], ids=["type first", "data first"])
@pytest.mark.parametrize("data", [shape[1] for shape in SHAPES], ids=[shape[0] for shape in SHAPES])
def test_it_is_told_once_and_as_it_is(data: Any, first: bool, size: int) -> None:
    messages = told(call(data, first=first), size)

    assert messages[0] == {"version": "1.0", "createSurface": CREATE}
    assert sum("createSurface" in message for message in messages) == 1
    assert rows_of(messages) == ROWS


def test_a_component_is_told_before_the_next_one_is_written() -> None:
    stream, raw = RespondStream(), json.dumps(call(SHAPES[0][1]))
    upto = raw.index('{"id": "t"')
    seen = [
        message
        for grown in stream.feed(raw[:upto])
        if isinstance(grown, SurfaceGrown)
        for message in grown.messages
    ]

    assert rows_of(seen) == ROWS[:1]


def test_nothing_is_told_of_other_parts_and_types() -> None:
    data = SHAPES[0][1]
    other = call(data)
    other["parts"][1]["metadata"]["partType"] = "domain-data"

    assert told(other) == []
    assert told({"parts": [{"metadata": {"partType": "ack"}, "data": data}], "turnState": "complete"}) == []


@pytest.mark.parametrize(
    "data",
    [
        {"createSurface": {"surfaceId": "beach:x", "components": ROWS}},
        {"createSurface": {"surfaceId": "_ggui:x", "components": ROWS}},
        {"createSurface": {"surfaceId": "", "components": ROWS}},
        {"createSurface": {"surfaceId": 7, "components": ROWS}},
        {"createSurface": {"surfaceId": "x" * 300, "components": ROWS}},
        {"createSurface": [{"surfaceId": "s", "components": ROWS}]},
        {
            "updateComponents": {
                "surfaceId": "s",
                "components": [7, [], {"id": "a"}, {"id": "", "component": "Text"}],
            }
        },
        {"beginRendering": {"surfaceId": "s", "root": "root"}},
        {"messages": {"surfaceId": "s"}},
        [{"version": "1.0", "createSurface": CREATE}],
        "text",
        None,
        7,
    ],
)
def test_what_is_no_such_message_says_nothing_and_breaks_nothing(data: Any) -> None:
    assert told(call(data)) == []


def test_the_end_of_a_surface_is_told() -> None:
    assert told(call({"version": "1.0", "deleteSurface": {"surfaceId": "s"}})) == [
        {"version": "1.0", "deleteSurface": {"surfaceId": "s"}}
    ]


def test_a_long_one_is_told_as_far_as_the_limits_go() -> None:
    many = [{"id": f"c{n}", "component": "Text", "text": ""} for n in range(MOST_COMPONENTS + 50)]
    assert (
        len(rows_of(told(call({"updateComponents": {"surfaceId": "s", "components": many}}), 10_000))) == 500
    )

    long = [{"id": f"c{n}", "component": "Text", "text": "x" * 10_000} for n in range(10)]
    found = rows_of(told(call({"updateComponents": {"surfaceId": "s", "components": long}}), 1_000))
    assert found == long[: MOST_CHARACTERS // 10_003]


def models_of(messages: list[JsonObject]) -> list[Any]:
    return [message["updateDataModel"] for message in messages if "updateDataModel" in message]


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("data", "model"),
    [
        (SHAPES[0][1], {"surfaceId": "s", "path": "/", "value": {"a": ["x"]}}),
        (SHAPES[1][1], {"surfaceId": "s", "path": "/", "value": {"id": "x"}}),
        (SHAPES[2][1], {"surfaceId": "s", "path": "/components", "value": [{"id": "no"}]}),
        (SHAPES[3][1], {"surfaceId": "s", "value": {"components": [{"id": "no", "component": "Text"}]}}),
        (
            {"version": "1.0", "updateDataModel": {"value": -2.5, "surfaceId": "s"}},
            {"surfaceId": "s", "value": -2.5},
        ),
    ],
)
def test_data_is_told_whole_and_never_before_its_surface(data: Any, model: Any, size: int) -> None:
    messages = told(call(data), size)

    assert models_of(messages) == [model]
    assert "createSurface" not in str(messages[1:])


@pytest.mark.parametrize("name", ["beach:x", "", 7, None])
def test_data_of_nothing_that_can_be_named_is_not_told(name: Any) -> None:
    assert told(call({"version": "1.0", "updateDataModel": {"surfaceId": name, "value": 1}})) == []


def test_data_that_is_too_much_is_not_told_and_takes_no_room_from_components() -> None:
    for model in ({"t": "x" * 100_000}, {"n": [0] * 10_000}, {"o": [{}] * 10_000}):
        data = {"createSurface": {"surfaceId": "s", "dataModel": model, "components": ROWS}}
        messages = told(call(data), 1_000)
        assert rows_of(messages) == ROWS
        assert models_of(messages) == []
    half = {
        "createSurface": {"surfaceId": "s", "dataModel": {"t": "x" * (MOST_DATA // 2)}, "components": ROWS}
    }
    assert len(models_of(told(call(half), 1_000))) == 1
