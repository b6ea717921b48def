"""v0.8 shows what it says: paths inside templates, maps as lists, JSON in texts, and every official example."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from a2ui import Engine
from a2ui.protocol.adapters import outgoing
from tests.a2ui.page import parse
from tests.shared import SHARED


def examples() -> list[Path]:
    """The official examples of v0.8 in the shared data, but those that begin no surface, and those with components of
    other catalogs."""
    folder = SHARED / "spec/a2ui" if SHARED else Path("nowhere")
    files = [
        *folder.glob("specification/v0_8/**/examples/*.json"),
        *folder.glob("samples/**/examples/0.8/*.json"),
        *folder.glob("samples/**/examples/standard_catalog/0.8/*.json"),
    ]
    others = ("OrgChart", "WebFrame", "Canvas", "GoogleMap")
    found = []
    for file in sorted(files):
        text = file.read_text(encoding="utf-8")
        if '"beginRendering"' in text and not any(f'"{name}": {{' in text for name in others):
            found.append(file)
    return found


NOT_WORDS = {"Icon": ("name",), "Image": ("url",), "Video": ("url",), "AudioPlayer": ("url",)}


def of(kind: str, component_id: str, **properties: Any) -> dict[str, Any]:
    return {"id": component_id, "component": {kind: properties}}


def rows(*components: dict[str, Any]) -> dict[str, Any]:
    return {"surfaceUpdate": {"surfaceId": "s", "components": list(components)}}


def data(*contents: dict[str, Any], path: str | None = None) -> dict[str, Any]:
    at = {} if path is None else {"path": path}
    return {"dataModelUpdate": {"surfaceId": "s", **at, "contents": list(contents)}}


def mapped(key: str, **members: Any) -> dict[str, Any]:
    return {"key": key, "valueMap": [{"key": name, "valueString": text} for name, text in members.items()]}


BEGIN = {"beginRendering": {"surfaceId": "s", "root": "list"}}
LIST = of("List", "list", children={"template": {"componentId": "item", "dataBinding": "/people"}})
PEOPLE = data({"key": "people", "valueMap": [mapped("ada", name="Ada"), mapped("alan", name="Alan")]})


def text_of(*messages: dict[str, Any]) -> str:
    """The texts of the page, one after another."""
    surfaces = Engine().surfaces()
    for message in messages:
        assert not surfaces.apply(message)
    return texts(surfaces)


def texts(surfaces: Any) -> str:
    html = "".join(surface.html() for surface in surfaces)
    return " ".join(" ".join(parse(html)[0].itertext()).split())


@pytest.mark.parametrize("path", ["/name", "./name", "name"])
def test_e5_paths_in_templates_start_at_the_item(path: str) -> None:
    item = of("Text", "item", text={"path": path})

    assert text_of(BEGIN, rows(LIST, item), PEOPLE) == "Ada Alan"
    assert text_of(PEOPLE, rows(LIST, item), BEGIN) == "Ada Alan"


@pytest.mark.parametrize("path", ["/title", "./title", "title"])
def test_e5_the_same_paths_elsewhere_start_at_the_root(path: str) -> None:
    show = {"beginRendering": {"surfaceId": "s", "root": "t"}}

    shown = text_of(
        show, rows(of("Text", "t", text={"path": path})), data({"key": "title", "valueString": "T"})
    )

    assert shown == "T"


def test_e5_a_component_may_be_used_in_a_template_and_outside() -> None:
    both = of("Column", "list", children={"explicitList": ["item", "people"]})
    people = {**LIST, "id": "people"}
    item = of("Text", "item", text={"path": "/name"})

    shown = text_of(BEGIN, rows(both, people, item), PEOPLE, data({"key": "name", "valueString": "All"}))

    assert shown == "All Ada Alan"


def test_e5_maps_with_any_keys_are_run_over() -> None:
    entries = [
        {"key": "b@c.de", "valueMap": [{"key": "name", "valueString": "B"}]},
        {"key": "7", "valueMap": [{"key": "name", "valueString": "Seven"}]},
        {"key": "z", "valueMap": [{"key": "name", "valueString": "Z"}]},
    ]
    item = of("Text", "item", text={"path": "/name"})
    texts_only = data({"key": "people", "valueMap": [{"key": k, "valueString": k} for k in ("x", "y")]})

    assert text_of(BEGIN, rows(LIST, item), data({"key": "people", "valueMap": entries})) == "B Seven Z"
    assert text_of(BEGIN, rows(LIST, of("Text", "item", text={"path": "."})), texts_only) == "x y"


def test_e5_an_entry_is_found_again_by_its_name() -> None:
    item = of("Text", "item", text={"path": "/name"})
    surfaces = Engine().surfaces()
    for message in (
        BEGIN,
        PEOPLE,
        rows(LIST, item),
        data({"key": "name", "valueString": "Alan T."}, path="/people/alan"),
        data(mapped("grace", name="Grace"), mapped("ada", name="Ada L."), path="/people"),
    ):
        assert not surfaces.apply(message)

    assert texts(surfaces) == "Ada L. Alan T. Grace"
    again = Engine().restore(json.loads(json.dumps(surfaces.snapshot())))
    again.apply(data({"key": "name", "valueString": "G."}, path="/people/grace"))
    assert texts(again) == "Ada L. Alan T. G."


def test_e5_templates_in_templates() -> None:
    group = of("Column", "item", children={"explicitList": ["title", "members"]})
    title = of("Text", "title", text={"path": "/title"})
    members = of(
        "List", "members", children={"template": {"componentId": "member", "dataBinding": "members"}}
    )
    member = of("Text", "member", text={"path": "./name"})

    def team(key: str, *names: str) -> dict[str, Any]:
        inside = {"key": "members", "valueMap": [mapped(name[:2], name=name) for name in names]}
        return {"key": key, "valueMap": [{"key": "title", "valueString": key}, inside]}

    teams = data({"key": "people", "valueMap": [team("Red", "Ada", "Alan"), team("Blue", "Grace")]})

    assert text_of(BEGIN, rows(LIST, group, title, members, member), teams) == "Red Ada Alan Blue Grace"
    assert text_of(teams, rows(members, member), rows(LIST, group, title), BEGIN) == "Red Ada Alan Blue Grace"


def test_e5_json_in_a_text_is_data() -> None:
    item = of("Text", "item", text={"path": "/name"})
    text = ' [{"name": "Mon \\u2600"}, {"name": "Tue"}] '

    assert text_of(BEGIN, rows(LIST, item), data({"key": "people", "valueString": text})) == "Mon \u2600 Tue"
    first = of("Text", "list", text={"path": "/days/1/name"})
    assert text_of(BEGIN, rows(first), data({"key": "days", "valueString": text})) == "Tue"


@pytest.mark.parametrize("text", ["[not json]", "{", "{x}", "[NaN]", "[" * 5_000 + "]" * 5_000])
def test_e5_what_only_looks_like_json_is_text(text: str) -> None:
    surfaces = Engine().surfaces()
    surfaces.apply(rows(LIST, of("Text", "item", text={"path": "."})))
    surfaces.apply(data({"key": "t", "valueString": text}))

    assert surfaces.get("", "s").data_model == {"t": text}


def test_e5_deep_json_is_refused_and_nothing_else() -> None:
    surfaces = Engine().surfaces()
    surfaces.apply(rows(LIST, of("Text", "item", text={"path": "."})))
    problems = surfaces.apply(data({"key": "t", "valueString": '{"a":' * 400 + "1" + "}" * 400}))

    assert [problem.refused for problem in problems] == [True]
    assert surfaces.get("", "s").data_model == {}


def test_e5_brackets_are_steps() -> None:
    item = of("Text", "item", text={"path": "/name"})
    rest = {**LIST, "id": "rest"}
    rest["component"] = {
        "List": {"children": {"template": {"componentId": "item", "dataBinding": "/chart.items"}}}
    }
    top = of("Column", "list", children={"explicitList": ["first", "rest"]})
    first = of("Text", "first", text={"path": "/chart.items[1].name"})
    contents = [
        {"key": f"chart.items[{n}].name", "valueString": name} for n, name in enumerate(("A", "B", "C"))
    ]

    assert text_of(BEGIN, rows(top, first, rest, item), data(*contents)) == "B A B C"


@pytest.mark.parametrize("key", ["a[1].x", "a[999999].x"])
def test_e5_brackets_leave_no_holes(key: str) -> None:
    surfaces = Engine().surfaces()
    problems = surfaces.apply(data({"key": key, "valueString": "x"}))

    assert [problem.refused for problem in problems] == [True]
    assert not len(surfaces)


def test_e5_what_a_person_enters_and_clicks_is_about_the_item() -> None:
    surfaces = Engine().surfaces()
    item = of("Column", "item", children={"explicitList": ["field", "go"]})
    field = of("TextField", "field", label={"literalString": "N"}, text={"path": "/name"})
    action = {"name": "open", "context": [{"key": "who", "value": {"path": "/name"}}]}
    for message in (BEGIN, rows(LIST, item, field, of("Button", "go", child="t", action=action)), PEOPLE):
        surfaces.apply(message)
    page = parse(surfaces.get("", "s").html())[0]
    second = [element.get("id") for element in page.iter("button")][1]
    fields = [element.get("id") for element in page.iter("div") if "a2-field" in element.get("class", "")]

    surfaces.apply_edit(surfaces.edit(fields[1], "Turing"))

    assert surfaces.get("", "s").data_model["people"][1] == {"key": "alan", "name": "Turing"}
    assert outgoing(surfaces.act(second).message)["userAction"]["context"] == {"who": "Turing"}


@pytest.mark.parametrize(
    "catalog_id",
    [
        "https://a2ui.org/specification/v0_8/catalogs/minimal/minimal_catalog.json",
        "https://a2ui.org/specification/v0_8/json/catalogs/minimal/minimal_catalog.json",
        "https://a2ui.org/specification/v0_8/standard_catalog_definition.json",
    ],
)
def test_e5_catalogs_of_v08_are_known(catalog_id: str) -> None:
    begin = {"beginRendering": {"surfaceId": "s", "root": "t", "catalogId": catalog_id}}

    assert text_of(rows(of("Text", "t", text={"literalString": "Hello"})), begin) == "Hello"


def test_e5_many_relative_templates_cost_little() -> None:
    """Paths that could be read in very many ways."""
    lists = [
        of("List", f"l{n}", children={"template": {"componentId": "x", "dataBinding": "/".join(["a"] * n)}})
        for n in range(1, 60)
    ]
    entry: dict[str, Any] = {"key": "a", "valueString": "x"}
    for _ in range(90):
        entry = {"key": "a", "valueMap": [entry]}
    surfaces = Engine().surfaces()
    surfaces.apply(rows(*lists))

    assert not surfaces.apply(data(entry))


# ---- the official examples


@pytest.mark.shared
@pytest.mark.parametrize("file", examples(), ids=lambda file: "-".join((file.parts[-4], file.stem)))
def test_e5_official_examples_show_all_that_they_say(file: Path) -> None:
    """Every literal of a component, and everything in the data that a component of the surface is bound to."""
    program = json.loads(file.read_text(encoding="utf-8"))
    surfaces = Engine().surfaces()
    problems = [problem for message in program for problem in surfaces.apply(message)]

    assert not [problem.message for problem in problems if problem.refused]
    html = "".join(surface.html() for surface in surfaces)
    page = unescape("".join(parse(html)[0].itertext()) + html)
    wanted = set(said(program))
    assert wanted
    assert {text for text in wanted if text not in page} == set()


def said(program: list[dict[str, Any]]) -> Iterator[str]:
    """The texts of a program, read without any of the engine: literals, and data under names that are bound."""
    names = set()
    for message in program:
        for row in message.get("surfaceUpdate", {}).get("components", ()):
            ((kind, properties),) = row["component"].items()
            for key, value in properties.items():
                if key == "action" or key in NOT_WORDS.get(kind, ()):
                    continue
                yield from members(value, "literalString")
                for path in members(value, "path"):
                    names.add(path.replace("]", "").split("/")[-1].split(".")[-1])
    for message in program:
        for entry in message.get("dataModelUpdate", {}).get("contents", ()):
            yield from bound(entry, names)


def members(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get(name), str):
            yield value[name]
        for inner in value.values():
            yield from members(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner, name)


def bound(entry: dict[str, Any], names: set[str]) -> Iterator[str]:
    key = entry["key"].split(".")[-1]
    for inner in entry.get("valueMap", ()):
        yield from bound(inner, names)
    text = entry.get("valueString")
    if not text:
        return
    if text.startswith(("[{", "{")):
        for item in json.loads(text):
            yield from (value for name, value in item.items() if name in names)
    elif key in names and not text.startswith("http"):
        yield text
