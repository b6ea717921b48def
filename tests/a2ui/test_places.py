"""Places of components that are redefined, moved and used again: what a page is sent, and under which ids."""

from __future__ import annotations

import json

import pytest

from a2ui import Engine, SurfaceSet
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import call, components, create, data, path, row, run


def column(component_id, *children, kind="Column", **more):
    return row(component_id, kind, children=list(children), **more)


class Follower:
    """A set and the page that follows it; no two elements of that ever have one id."""

    def __init__(self, *messages):
        self.surfaces = run(create(), *messages)
        self.page = Page()
        self.flush()

    def flush(self) -> list[list[str]]:
        changes = self.surfaces.flush()
        self.page.apply_changes(changes)
        return [op for change in changes for op in change.ops]


def again(surfaces: SurfaceSet) -> SurfaceSet:
    return Engine().restore(json.loads(json.dumps(surfaces.snapshot())))


TEXT = row("a", "Text", text="x")
BOUND = {"label": path("/x")}
OTHER = {"accessibility": {"label": path("/y")}}


def named(component):
    return component | {"accessibility": BOUND}


COLUMN, LIST = named(column("c", "a")), named(column("c", "a", kind="List"))
BUTTON = named(row("c", "Button", child="a", action={"event": {"name": "n"}}))
WORDS, CARD = named(row("c", "Text", text=path("/t"))), named(row("c", "Card", child="a"))
MODAL = named(row("c", "Modal", trigger="a", content="b"))
TABS = named(row("c", "Tabs", tabs=[{"title": "T", "child": "a"}]))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(COLUMN, COLUMN | {"justify": "end"}, id="justify"),
        pytest.param(COLUMN, COLUMN | {"align": "center"}, id="align"),
        pytest.param(COLUMN, COLUMN | {"weight": 2}, id="weight"),
        pytest.param(LIST, LIST | {"direction": "horizontal"}, id="direction"),
        pytest.param(COLUMN, COLUMN | OTHER, id="another path"),
        pytest.param(COLUMN, COLUMN | {"accessibility": BOUND | {"description": "more"}}, id="description"),
        pytest.param(
            COLUMN,
            COLUMN | {"accessibility": {"label": call("formatString", value="${/x}!")}},
            id="another function",
        ),
        pytest.param(COLUMN, column("c", "a"), id="no label"),
        pytest.param(COLUMN, COLUMN | {"accessibility": {"label": "fixed"}}, id="a fixed label"),
        pytest.param(column("c", "a"), COLUMN, id="a first label"),
        pytest.param(COLUMN, COLUMN | {"children": ["b", "a"]}, id="children"),
        pytest.param(CARD, CARD | OTHER, id="Card"),
        pytest.param(BUTTON, BUTTON | {"variant": "primary"}, id="Button"),
        pytest.param(WORDS, WORDS | {"weight": 3}, id="Text"),
        pytest.param(MODAL, MODAL | OTHER, id="Modal"),
        pytest.param(TABS, TABS | OTHER, id="Tabs"),
    ],
)
@pytest.mark.parametrize("around", ["Row", "List"])
def test_e1_a_redefinition_brings_the_page_up_to_date(before, after, around):
    messages = [
        data({"x": "X", "y": "Y", "t": "T"}),
        components(column("root", "c", kind=around), before, TEXT),
    ]
    follower = Follower(*messages)

    follower.surfaces.apply(components(after))
    follower.flush()

    assert follower.page.markup == shown(follower.surfaces)


def test_e1_the_data_and_the_component_that_shows_it_change_at_once():
    follower = Follower(data({"x": "X"}), components(column("root", "a", accessibility=BOUND), TEXT))

    follower.surfaces.apply(data("new", "/x"))
    follower.surfaces.apply(components(column("root", "a", "a", accessibility=BOUND)))
    follower.flush()

    assert 'aria-label="new"' in follower.page.markup
    assert follower.page.markup == shown(follower.surfaces)


def test_a_container_without_bound_attributes_is_still_sent_child_by_child():
    follower = Follower(components(column("root", "a", weight=1, accessibility={"label": "Fixed"}), TEXT))

    follower.surfaces.apply(components(column("root", "a", "a", weight=1, accessibility={"label": "Fixed"})))

    assert [op[0] for op in follower.flush()] == ["i"]


# ---- the same ids whenever a page is brought up to date

X = row("t", "Text", text="x")
PROGRAMS = {
    "two parents that give it up, and one that takes it back": [
        [column("root", "c5"), column("c3", "t"), column("c5", "t"), X],
        [column("c5"), column("c3")],
        [column("c5", "t")],
    ],
    "given up and taken back": [[column("root", "c"), column("c", "t"), X], [column("c")], [column("c", "t")]],
    "one place after another": [
        [column("root", "a", "b"), column("a", "t"), column("b"), X],
        [column("b", "t")],
        [column("a")],
        [column("a", "t")],
        [column("b")],
    ],
    "a card inside of two others": [
        [column("root", "a", "b"), row("a", "Card", child="c"), column("b"), row("c", "Card", child="t"), X],
        [column("b", "c")],
        [row("a", "Card", child="t")],
        [column("b")],
        [row("a", "Card", child="c")],
    ],
    "the items of a list": [
        [column("root", "l", "m"), row("l", "List", children={"componentId": "t", "path": "/l"}), column("m"), X],
        [row("m", "List", children={"componentId": "t", "path": "/l"})],
        [column("l")],
        [row("l", "List", children={"componentId": "t", "path": "/l"})],
    ],
    "nobody shows it": [
        [column("root"), column("c", "t"), column("d", "t"), X],
        [column("c")],
        [column("root", "d")],
        [column("root", "d", "c"), column("c", "t")],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_e2_ids_do_not_depend_on_when_pages_are_brought_up_to_date(name):
    first, *rest = [components(*rows) for rows in PROGRAMS[name]]
    model = data({"l": [{"id": 1}, {"id": 2}]})
    # Each bit says whether the page hears of the step at once.
    for pattern in range(2 ** len(rest)):
        follower = Follower(model, first)
        restored = again(follower.surfaces)
        for number, message in enumerate(rest):
            follower.surfaces.apply(message)
            restored.apply(message)
            restored = again(restored)
            if pattern >> number & 1:
                follower.flush()
                assert follower.page.markup == shown(follower.surfaces)
        follower.flush()
        assert follower.page.markup == shown(follower.surfaces) == shown(again(follower.surfaces))
        assert shown(restored) == follower.page.markup


def test_a_component_keeps_its_id_where_its_parent_becomes_another_type():
    field = row("f", "TextField", label="L", value=path("/v"))
    follower = Follower(components(row("root", "Card", child="f"), field, TEXT))

    follower.surfaces.apply(components(column("root", "a", "f")))
    (op,) = follower.flush()

    assert op[0] == "x"
    assert 'id="a1-1-xi"' in op[1]


# ---- one element for each id, at every moment

FIELD = row("f", "TextField", label="L", value=path("/v"))
MOVES = {
    "a field from a card to a new column": [
        [column("root", "card"), row("card", "Card", child="f"), FIELD, TEXT],
        [row("card", "Card", child="a"), column("root", "new", "card"), column("new", "f")],
    ],
    "a field from a card to a modal": [
        [column("root", "card"), row("card", "Card", child="f"), FIELD, TEXT],
        [row("card", "Card", child="a"), column("root", "new", "card"), row("new", "Modal", trigger="f", content="a")],
    ],
    "two cards that change their children": [
        [column("root", "c", "d"), row("c", "Card", child="f"), row("d", "Card", child="a"), FIELD, TEXT],
        [row("d", "Card", child="f"), row("c", "Card", child="a")],
    ],
    "out of the items of a list": [
        [column("root", "l"), row("l", "List", children={"componentId": "i", "path": "/l"}), column("i", "f"),
         FIELD, TEXT],
        [column("i", "a"), column("root", "new", "l"), row("new", "Card", child="f")],
    ],
    "from one tab to another": [
        [column("root", "c", "d"), row("c", "Tabs", tabs=[{"title": "T", "child": "f"}]), column("d"), FIELD, TEXT],
        [row("c", "Tabs", tabs=[{"title": "T", "child": "a"}]), row("d", "Tabs", tabs=[{"title": "U", "child": "f"}])],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("backwards", [False, True])
def test_e3_no_two_elements_have_one_id_at_any_moment(name, backwards):
    first, move = MOVES[name]
    follower = Follower(data({"l": [{"id": 1}, {"id": 2}]}), components(*first))
    move = move[::-1] if backwards else move

    for rows in (move, first[:-2], move):
        follower.surfaces.apply(components(*rows))
        follower.flush()  # which looks for doubled ids after each operation

        assert follower.page.markup == shown(follower.surfaces)


def test_a_modal_is_named_by_its_trigger_wherever_that_is_used():
    rows = [
        column("root", "a", "m"),
        row("m", "Modal", trigger="a", content="b"),
        TEXT,
        row("b", "Text", text="b"),
    ]
    follower = Follower(components(*rows))

    (dialog,) = follower.page.root.iter("dialog")

    assert follower.page.find(dialog.attrib["aria-labelledby"]).text == "x"
