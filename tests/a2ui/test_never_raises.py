"""`apply` answers anything with reports: every member of every kind of message, with every kind of JSON in it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from a2ui import Engine, EngineOptions
from tests.a2ui.programs import BASIC, call, path, row

pytestmark = pytest.mark.usefixtures("each_version")

STRANGE: tuple[Any, ...] = (
    None, True, 0, -1.5, 2**70, "", "x", "/", "/a/-", "~", "\ud800", [], [1], ["x"], [[]], [None], {}, {"x": {}},
    {"path": {}}, {"path": "/a"}, {"call": []}, {"call": "and", "args": {"values": {}}}, {"literalString": {}},
    {"explicitList": [{}]}, {"template": {"componentId": [], "dataBinding": {}}}, {"@path": []}, {"@call": {}},
)  # fmt: skip

V09 = (
    {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC, "theme": {"primaryColor": "#112233"},
                                          "sendDataModel": True}},
    {"version": "v0.9", "updateDataModel": {"surfaceId": "s", "path": "/a", "value": {"l": [1], "t": "x"}}},
    {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": [
        row("root", "Column", children=["t", "f", "b", "p", "l", "tabs", "i"], justify="end", weight=1),
        row("t", "Text", text=call("formatString", value="${/a/t}"), variant="h1",
            accessibility={"label": "x", "description": path("/a/t")}),
        row("f", "TextField", label="L", value=path("/a/t"), variant="number", validationRegexp="x",
            checks=[{"condition": call("regex", value=path("/a/t"), pattern="x"), "message": "m"}]),
        row("b", "Button", child="t", action={"event": {"name": "go", "context": {"k": path("/a")}}}),
        row("p", "ChoicePicker", label="L", options=[{"label": "A", "value": "a"}], value=["a"],
            variant="mutuallyExclusive", displayStyle="chips", filterable=True),
        row("l", "List", children={"componentId": "t", "path": "/a/l"}, direction="horizontal"),
        row("tabs", "Tabs", tabs=[{"title": "T", "child": "t"}]),
        row("i", "Image", url="https://a.b/c.png", fit="cover", description="d"),
    ]}},
    {"version": "v0.9", "deleteSurface": {"surfaceId": "s"}},
)  # fmt: skip
V08 = (
    {"surfaceUpdate": {"surfaceId": "s", "components": [
        {"id": "root", "weight": 1, "component": {"Column": {
            "children": {"explicitList": ["t", "f", "b", "m", "l", "tabs", "i"]}, "distribution": "end"}}},
        {"id": "t", "component": {"Text": {"text": {"literalString": "x", "path": "/a/t"}, "usageHint": "h1"}}},
        {"id": "f", "component": {"TextField": {"text": {"path": "/a/t"}, "label": {"literalString": "L"},
                                                "textFieldType": "date"}}},
        {"id": "b", "component": {"Button": {"child": "t", "primary": True, "action": {
            "name": "go", "context": [{"key": "k", "value": {"path": "/a"}}]}}}},
        {"id": "m", "component": {"MultipleChoice": {"selections": {"literalArray": ["a"]}, "maxAllowedSelections": 1,
                                                     "options": [{"label": {"literalString": "A"}, "value": "a"}]}}},
        {"id": "l", "component": {"List": {"children": {"template": {"componentId": "t", "dataBinding": "/a/l"}}}}},
        {"id": "tabs", "component": {"Tabs": {"tabItems": [{"title": {"literalString": "T"}, "child": "t"}]}}},
        {"id": "i", "component": {"Image": {"url": {"literalString": "https://a.b/c.png"}, "fit": "scale-down"}}},
        {"id": "n", "component": {"Modal": {"entryPointChild": "t", "contentChild": "t"}}},
    ]}},
    {"dataModelUpdate": {"surfaceId": "s", "path": "/a", "contents": [
        {"key": "t", "valueString": "x"}, {"key": "n", "valueNumber": 1}, {"key": "b", "valueBoolean": True},
        {"key": "l", "valueMap": [{"key": "0", "valueMap": [{"key": "t", "valueString": "y"}]}]}]}},
    {"beginRendering": {"surfaceId": "s", "root": "root", "catalogId": "basic", "styles": {"primaryColor": "#112233",
                                                                                           "font": "Roboto"}}},
    {"deleteSurface": {"surfaceId": "s"}},
)  # fmt: skip
V10 = (
    {"version": "v1.0", "createSurface": {
        "surfaceId": "s", "catalogId": BASIC, "sendDataModel": True, "dataModel": {"a": {"t": "x", "l": [1]}},
        "metadata": {}, "components": [
            {"id": "root", "component": "Column", "children": ["t", "f", "b", "l"]},
            {"id": "t", "component": "Text", "catalogId": BASIC, "text": {"@path": "/a/t"}, "metadata": {},
             "accessibility": {"label": "x", "live": "polite", "hidden": False}},
            {"id": "f", "component": "TextField", "label": "L", "value": {"@path": "/a/t"}, "placeholder": "p",
             "checks": [{"condition": {"@call": "required", "args": {"value": {"@path": "/a/t"}}}}]},
            {"id": "b", "component": "Button", "child": "t",
             "action": {"event": {"name": "go", "userMessage": "m", "context": {"k": {"@path": "/a"}}}}},
            {"id": "l", "component": "List", "children": {"componentId": "t", "@path": "/a/l"}}]}},
    {"version": "v1.0", "updateDataModel": {"surfaceId": "s", "path": "/a", "value": {"t": 1}}},
    {"version": "v1.0", "updateComponents": {"surfaceId": "s", "components": [
        {"id": "t", "component": "Text", "text": {"@call": "formatString", "args": {"value": "x"}}}]}},
    {"version": "v1.0", "callRendererFunction": {"functionCallId": "f", "call": "x", "args": {}}},
    {"version": "v1.0", "deleteSurface": {"surfaceId": "s"}},
)  # fmt: skip


def places(value: Any) -> Iterator[tuple[str | int, ...]]:
    """The way to every member and entry of a JSON value."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in members:
        yield (key,)
        for rest in places(inner):
            yield (key, *rest)


def put(value: Any, place: tuple[str | int, ...], new: Any) -> Any:
    value = deepcopy(value)
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = new
    return value


def renamed(value: Any, place: tuple[str | int, ...], new: str) -> Any:
    """The same with another key there; None in a list."""
    value = deepcopy(value)
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    if not isinstance(holder, dict):
        return None
    holder[new] = holder.pop(place[-1])
    return value


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("program", [V08, V09, V10], ids=["v0.8", "v0.9", "v1.0"])
def test_e4_apply_never_raises(program: tuple[dict[str, Any], ...], strict: bool) -> None:
    """What it does not refuse can be drawn, kept and restored as well."""
    engine = Engine(EngineOptions(strict=strict))
    tried = refused = 0
    for number, message in enumerate(program):
        before = engine.surfaces()
        for earlier in program[:number]:
            before.apply(earlier)
        before.flush()
        kept = before.snapshot()
        for place in places(message):
            changed = [put(message, place, new) for new in STRANGE]
            changed += [renamed(message, place, new) for new in ("x", "__proto__", "")]
            for one in changed:
                if one is None:
                    continue
                surfaces = engine.restore(kept)
                problems = surfaces.apply(one)
                tried += 1
                if any(problem.refused for problem in problems):
                    refused += 1
                    assert surfaces.snapshot() == kept
                else:
                    surfaces.flush()
                    engine.restore(surfaces.snapshot())
    assert tried > 1_000
    assert refused > 100


@pytest.mark.parametrize("strange", STRANGE, ids=repr)
def test_e4_a_strange_catalog_id_is_refused(strange: Any) -> None:
    """The fault as it was found, and the same place of the other versions."""
    for message in (
        {"beginRendering": {"surfaceId": "s", "root": "r", "catalogId": strange}},
        {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": strange}},
        {"version": "v1.0", "createSurface": {"surfaceId": "s", "catalogId": strange, "components": []}},
    ):
        surfaces = Engine().surfaces()
        problems = surfaces.apply(message)

        if (strange is None and "beginRendering" in message) or (
            strange == "" and "v1.0" in message.values()
        ):
            # Not given: v0.8 has a standard catalog, and v1.0 names catalogs where they are used.
            assert not any(problem.refused for problem in problems)
        else:
            assert [problem.refused for problem in problems] == [True]
            assert surfaces.get("", "s") is None


@pytest.mark.parametrize("message", STRANGE, ids=repr)
def test_e4_what_is_no_message_is_refused(message: Any) -> None:
    assert Engine().surfaces().apply(message)[0].refused
