"""v0.8 shows what it says: paths inside templates, maps as lists, JSON in texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2ui import Engine
from a2ui.protocol.adapters import outgoing
from tests.a2ui.page import parse


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
