"""Edits, clicks and "show more" by what the agent calls things, for whoever has no page."""

from __future__ import annotations

import re

import pytest

from a2ui import ActionError, ComponentTarget, InputError, Limits
from a2ui.data.pointer import format as pointer_text
from a2ui.interaction.locate import locate
from tests.a2ui.programs import components, create, data, path, row, run

GO = {"event": {"name": "go", "context": {"n": path("n")}}}
DAYS = [
    row("root", "Column", children=["days", "all", "all2"]),
    row("days", "List", children={"componentId": "day", "path": "/days"}),
    row("day", "Column", children=["flights", "extras"]),
    row("flights", "List", children={"componentId": "flight", "path": "flights"}),
    row("flight", "Column", children=["name", "go"]),
    row("extras", "List", children={"componentId": "extra", "path": "/extras"}),
    row("extra", "TextField", label="Extra", value=path("n")),
    row("name", "TextField", label="Name", value=path("n")),
    row("go", "Button", child="word", action=GO),
    row("word", "Text", text="Go"),
    row("all", "Button", child="word", action=GO),
    row("all2", "Card", child="all"),
]
MODEL = {
    "n": "all",
    "days": [
        {"id": "mon day", "flights": [{"id": "a", "n": "EJ1"}, {"id": "b", "n": "EJ2"}]},
        {"id": "tue", "flights": [{"id": "c", "n": "EJ3"}]},
    ],
    "extras": [{"id": "x", "n": "Bag"}],
}


def named(component: str, item_path: str = "", owner: str = "", surface: str = "s") -> ComponentTarget:
    return ComponentTarget(owner, surface, component, item_path)


@pytest.fixture
def surfaces():
    found = run(create(), components(*DAYS), data(MODEL))
    found.flush()
    return found


def test_every_element_is_found_by_name_as_it_is_by_its_dom_id(surfaces):
    tables = surfaces._by_dom_id, surfaces._surfaces
    (only,) = surfaces
    ids = re.findall(r'id="(a1-[^"]+)"', only.html())
    seen = {}
    for dom_id in ids:
        shown = locate(*tables, dom_id)
        if shown is None:
            continue
        target = named(shown.component.id, pointer_text(shown.scope_path))
        # Of two places with the same data the first is meant.
        seen.setdefault(target, dom_id)
        assert locate(*tables, target).dom_id == seen[target]
    assert len(seen) == len(set(seen.values())) >= 17


@pytest.mark.parametrize(
    ("item_path", "was"),
    [("/days/0/flights/1", "EJ2"), ("days/1/flights/0/", "EJ3"), ("/days/0/flights/0", "EJ1")],
)
def test_an_item_of_an_item(surfaces, item_path, was):
    edit = surfaces.edit(named("name", item_path), "new")

    assert edit.ops == [{"op": "replace", "path": f"/{item_path.strip('/')}/n", "value": "new"}]
    assert surfaces.edit(edit.target, "new") == edit
    done = surfaces.act(named("go", item_path))
    assert done.message["action"]["context"] == {"n": was}
    assert surfaces.act(done.target).target == done.target


def test_what_stands_in_no_list(surfaces):
    assert surfaces.act(named("all")).message["action"]["context"] == {"n": "all"}


def test_the_path_is_where_the_item_is_now(surfaces):
    before = surfaces.act(named("go", "/days/0/flights/1")).target
    surfaces.patch("", "s", [{"op": "remove", "path": "/days/0/flights/0"}])

    assert surfaces.act(named("go", "/days/0/flights/0")).target == before


@pytest.mark.parametrize(
    "target",
    [
        named("name"),
        named("name", "/days/0"),
        named("name", "/days/0/flights/2"),
        named("name", "/days/0/flights/00"),
        named("name", "/days/0/flights/-1"),
        named("name", f"/days/0/flights/{'9' * 5000}"),
        named("name", "/days/0/flights/1/n"),
        named("name", "/extras/0"),
        named("name", "/days/~/flights/0"),
        named("name", "/days/__proto__/flights/0"),
        named("all", "/days/0"),
        named("nobody"),
        named("name", "/days/0/flights/1", owner="other"),
        named("name", "/days/0/flights/1", surface="t"),
    ],
)
def test_nothing_there(surfaces, target):
    with pytest.raises(InputError) as edited:
        surfaces.edit(target, "x")
    with pytest.raises(ActionError) as clicked:
        surfaces.act(target)
    with pytest.raises(ActionError):
        surfaces.more(target)

    assert (edited.value.code, clicked.value.code) == ("not_found", "not_found")


def test_more_of_a_list_and_nothing_of_what_it_does_not_show():
    many = [{"id": number, "n": "v"} for number in range(5)]
    surfaces = run(
        create(),
        components(
            row("root", "List", children={"componentId": "f", "path": "/l"}),
            row("f", "TextField", label="L", value=path("n")),
        ),
        data({"l": many}),
        limits=Limits(list_items=3),
    )
    surfaces.flush()
    with pytest.raises(InputError):
        surfaces.edit(named("f", "/l/3"), "x")

    more = surfaces.more(named("root"))
    assert more == surfaces.more("a1-0")
    surfaces.apply_more(more)

    assert surfaces.edit(named("f", "/l/3"), "x").ops
