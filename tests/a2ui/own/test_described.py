"""What is said of our own catalog: its document, what models read, its page, and its classes in Python."""

from __future__ import annotations

import inspect
import json
import random
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from a2ui import ComponentTarget, Engine, EngineOptions
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.beach import BEACH_CATALOG, BEACH_CATALOG_1_0, OWN
from a2ui.catalog.beach.document import document
from a2ui.catalog.kinds import ENUM_VALUES
from a2ui.compose import Column, ComposeError, Surface, Text, beach, event, path
from a2ui.compose.beach import Chart, Form, Markdown, Table, column, field, lowered_to_basic, series
from a2ui.gallery.samples import ours
from a2ui.programs.conversion import convert
from a2ui.teaching.catalogs import for_prompt
from beachsite.suite import ROOT
from tests.a2ui.own import engine, only
from tests.shared import SHARED, needs_shared

PAGE = (ROOT / "docs" / "catalogs.md").read_text(encoding="utf-8")
COMMON = {"accessibility", "weight"}


def test_a_component_of_somebody_elses_is_drawn_as_the_guide_says():
    section = PAGE.split("## One of your own\n")[1]
    names: dict = {"__name__": "acme"}
    for code in section.split("```python\n")[1:3]:
        exec(compile(code.split("```")[0], "catalogs.md", "exec", dont_inherit=True), names)  # noqa: S102

    surfaces = Engine(EngineOptions(own=(names["ACME"],))).surfaces()
    for message in names["messages"]:
        assert not surfaces.apply(message)

    assert 'class="acme-banner">Today only</div>' in only(surfaces).html()


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.name)
def test_the_document_has_what_the_component_has(kind):
    entry = document()["components"][kind.name]
    own = set(kind.kinds) - COMMON - ({"checks"} if kind.name == "Form" else set())

    assert set(entry["properties"]) - {"component", "weight"} == own
    assert set(entry["required"]) - {"component"} == kind.required
    for name, how in kind.properties.items():
        if how in ENUM_VALUES:
            assert tuple(entry["properties"][name]["enum"]) == ENUM_VALUES[how]


@pytest.mark.parametrize(("version", "catalog"), [("0.9", BEACH_CATALOG), ("1.0", BEACH_CATALOG_1_0)])
def test_there_is_one_for_each_dialect(version, catalog):
    found = document(version)

    assert found["catalogId"] == catalog.id
    assert json.loads(json.dumps(found)) == found


@needs_shared
@pytest.mark.parametrize("version", ["0.9", "1.0"])
def test_a_validator_takes_what_the_sample_says_and_nothing_else(version):
    folder = "v1_0/derived_1.0" if version == "1.0" else "v0_9"
    specification = Path(str(SHARED)) / "spec" / "a2ui" / "specification" / folder
    names = ("json/common_types.json", "catalogs/basic/catalog.json")
    known = [json.loads((specification / name).read_text(encoding="utf-8")) for name in names]
    found = document(version)
    if version == "1.0":
        definition = json.loads(
            (specification / "json" / "catalog_definition.json").read_text(encoding="utf-8")
        )
        Draft202012Validator(definition).validate(
            {key: one for key, one in found.items() if key != "$schema"}
        )
    resources = [(one["$id"], Resource.from_contents(one)) for one in [*known, found]]
    # The Basic Catalog of 1.0 refers to common types beside itself, and these to the catalog in use.
    resources.append((known[1]["$id"].replace("catalog.json", "common_types.json"), resources[0][1]))
    resources.append((known[0]["$id"].replace("common_types.json", "catalog.json"), resources[2][1]))
    any_component = {"$ref": f"{found['$id']}#/$defs/anyComponent"}
    if version == "1.0":
        common = {"$ref": f"{known[0]['$id']}#/$defs/ComponentCommon"}
        any_component = {"allOf": [common, any_component], "unevaluatedProperties": False}
    validator = Draft202012Validator(any_component, registry=Registry().with_resources(resources))
    (sample,) = [one for one in ours() if one.name == "17-own-catalog"]
    program = convert(json.loads(sample.program), version if version == "1.0" else "0.9.1").messages
    rows = [
        row
        for message in program
        for body in message.values()
        if isinstance(body, dict)
        for row in body.get("components", ())
    ]
    assert len(rows) == 7
    mark = "@" if version == "1.0" else ""
    checks = {f"{mark}checks": [{"condition": {f"{mark}path": "/ok"}, "message": "m"}]}
    for row in rows:
        validator.validate(row)
        assert not validator.is_valid({**row, "other": 1})
        assert validator.is_valid({**row, "weight": 1, **checks}) == (row["component"] == "Form")


def test_models_read_a_line_for_each_in_a_bounded_text():
    told = for_prompt(BEACH_CATALOG_1_0)

    assert told.splitlines()[0] == f"Catalog {BEACH_CATALOG_1_0.id}: everything of the Basic Catalog, and"
    assert [line.split(":")[0] for line in told.splitlines()[1:]] == [f"- {kind.name}" for kind in OWN]
    assert document()["components"]["Table"]["description"] in told
    assert "columns*: [{label*, value*" in told
    assert len(told) < 2_500


def test_the_command_prints_both(capsys):
    call_command("a2ui", "catalog")
    assert json.loads(capsys.readouterr().out)["catalogId"] == BEACH_CATALOG_1_0.id
    call_command("a2ui", "catalog", "--prompt")
    assert capsys.readouterr().out.strip() == for_prompt(BEACH_CATALOG_1_0)


def test_the_page_names_what_there_is_and_its_code_runs():
    table = {
        cells[0]: cells[1:]
        for cells in re.findall(r"^\| `(Markdown|Table|Form|Chart)` \|(.*?)\|(.*?)\|$", PAGE, re.MULTILINE)
    }
    for kind in OWN:
        needs, may = (set(re.findall(r"`(\w+)`", one)) for one in table[kind.name])
        assert needs >= kind.required
        assert (needs | may) - {"bar", "line", "area", "sparkline"} == set(kind.properties)
    run: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, run)  # noqa: S102 - our own page
    used = Engine(EngineOptions(own=(BEACH_CATALOG_1_0, run["ACME"])))
    for messages in (run["messages"], run["basic"]):
        surfaces = used.surfaces()
        assert not [problem for message in messages for problem in surfaces.apply(message)]


# ---- in Python


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.name)
def test_each_has_a_class_with_its_properties(kind):
    signature = inspect.signature(getattr(beach, kind.name).__init__)
    taken = {name: one for name, one in signature.parameters.items() if name not in ("self", "common")}

    assert set(taken) == set(kind.kinds) - COMMON
    assert {name for name, one in taken.items() if one.default is one.empty} == kind.required


def everything():
    flights = [{"id": 1, "name": "BA 1", "price": 90, "day": "2026-01-02"}]
    columns = [
        column("Flight", path("name"), rowHeader=True, sortable=True),
        column("Price", path("price"), "currency", currency="EUR"),
        column("Day", path("day"), "date"),
    ]
    fields = [
        field("name", "Name", required=True),
        field("seats", "Seats", "number", min=1),
        field("day", "Day", "date"),
        field("class", "Class", "select", options=["a", {"value": "b", "label": "B"}]),
        field("terms", "Terms", "checkbox"),
    ]
    return [
        Markdown("# Guide"),
        Table(path("/flights"), columns, caption="Fares"),
        Table([["x", 1]], [column("A", path("0")), column("B", path("1"), "number")]),
        Form(fields, path("/who"), event("book", to=path("/to")), title="Who"),
        Chart(
            "bar",
            path("/flights"),
            path("name"),
            [series("Price", path("price"))],
            title="Prices",
            currency="EUR",
        ),
    ], {"flights": flights, "to": "Corfu"}


@pytest.mark.parametrize("catalog", [BASIC_CATALOG_1_0, BEACH_CATALOG_1_0])
def test_a_surface_in_python_passes_strict_mode(catalog):
    inside, model = everything()
    messages = Surface("s", Column(*inside), model, catalog=catalog).create()
    surfaces = engine(strict=True).surfaces()

    assert not [str(problem) for message in messages for problem in surfaces.apply(message)]
    assert 'class="a2-chart ' in next(iter(surfaces)).html()


@pytest.mark.parametrize("catalog", [BASIC_CATALOG_1_0, BEACH_CATALOG_1_0])
def test_without_our_catalog_it_is_said_in_basic_components(catalog):
    inside, model = everything()
    messages = lowered_to_basic(Surface("s", Column(*inside), model, catalog=catalog).create())
    surfaces = Engine(EngineOptions(strict=True)).surfaces()

    assert not [str(problem) for message in messages for problem in surfaces.apply(message)]
    surface = next(iter(surfaces))
    html = surface.html()
    words = re.sub(r"<[^>]*>", " ", html)
    for said in ("Guide", "Fares", "BA 1", "€90.00", "2 Jan 2026", "x", "Name", "Terms", "Send", "Prices"):
        assert said in words, said
    name = ComponentTarget("", "s", next(one for one in surface.store.by_id if one.endswith("~name")))
    surfaces.apply_edit(surfaces.edit(name, "Ada"))
    button = re.search(r'<button id="(\S+)"[^>]*data-act', html)[1]
    sent = surfaces.act(button).message["action"]["context"]
    assert sent["to"] == "Corfu"
    assert sent["values"] == {"name": "Ada"}


ANYTHING = [
    None, True, 0, 10**400, "", "x", [], {}, [1], {"@path": "a"}, {"@path": "/r"}, {"@path": "~9"},
    {"@path": "__proto__"},
    {"@call": "now"}, {"id": "q", "label": "Q"}, [{"id": "q", "label": [], "options": 5, "type": []}, 7, {"id": []}],
    [{"id": "q"}, {"id": "q"}, {"id": "a/b"}], [{"label": {"a": 1}, "value": {"@path": "~9"}, "type": {}, "format": 1}],
    {"event": 5}, {"event": {"name": "x", "context": 3}},
]  # fmt: skip
MEMBERS = {
    "Table": ("columns", "rows", "caption"),
    "Chart": ("data", "label", "series", "title", "currency", "decimals"),
    "Form": ("fields", "value", "action", "title", "submitLabel", "@checks"),
    "Markdown": ("text",),
}


@pytest.mark.parametrize("kind", MEMBERS)
def test_whatever_stands_in_a_component_it_is_said_in_basic_ones_with_ids_of_their_own(kind):
    chance = random.Random(kind)
    for _ in range(150):
        members = {key: chance.choice(ANYTHING) for key in MEMBERS[kind] if chance.random() < 0.9}
        one = {
            "id": "root",
            "component": kind,
            "@catalogId": chance.choice([BEACH_CATALOG_1_0.id, [], None]),
            **members,
        }
        body = {"surfaceId": "s", "catalogId": BEACH_CATALOG_1_0.id, "components": [one]}
        (message,) = lowered_to_basic([{"version": "1.0", "createSurface": body}])
        rows = message["createSurface"]["components"]
        assert len({row["id"] for row in rows}) == len(rows)


def test_rows_in_a_definition_become_so_many_components_and_no_more():
    columns = [{"label": f"c{at}", "value": {"@path": "a"}} for at in range(500)]
    table = {
        "id": "root",
        "component": "Table",
        "columns": columns,
        "rows": [{"a": at} for at in range(5_000)],
    }
    body = {"surfaceId": "s", "catalogId": BEACH_CATALOG_1_0.id, "components": [table]}
    (message,) = lowered_to_basic([{"version": "1.0", "createSurface": body}])
    rows = message["createSurface"]["components"]

    assert len(rows) < 2_200
    assert rows[-1]["text"] == "40 of 5,000 rows shown"


def test_what_is_wrong_is_told_by_the_line_that_wrote_it():
    with pytest.raises(ComposeError) as refused:
        Table(path("/x"), [column("A", path("a"), "money")])
    assert (refused.value.component, refused.value.property) == ("Table", "columns")
    with pytest.raises(ComposeError):
        Chart("pie", path("/x"), path("a"), [])
    with pytest.raises(ComposeError):
        Table(path("/x"), [Text("no column")])
