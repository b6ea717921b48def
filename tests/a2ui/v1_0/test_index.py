"""`@index`, the position of an item (section 4.3 of the reading of 1.0)."""

from __future__ import annotations

import pytest

from a2ui import ActionError
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.programs.tree import tree
from a2ui.protocol.catalog_ids import BASIC_1_0
from tests.a2ui.page import Page, parse, shown
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import TEXT, D, fed, made

INDEX = {"@call": "@index"}


def listed(item, *more, items=(), version=D):
    return made(
        row("root", "List", children={"componentId": "item", "path": "/items"}),
        row("item", **item),
        *more,
        version=version,
        dataModel={"items": list(items)},
    )


def keyed(*names):
    return [{"id": name, "n": name.upper()} for name in names]


NUMBERED = {
    "kind": "Text",
    "text": {"@call": "formatString", "args": {"value": "${@index(offset: 1)}. ${n}"}},
}


class TestIndex:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (INDEX, ["0", "1"]),
            ({"@call": "@index", "args": {"offset": 1}}, ["1", "2"]),
            ({"@call": "@index", "args": {"offset": {"@path": "/by"}}}, ["2.5", "3.5"]),
            (
                {"@call": "formatString", "args": {"value": "No ${@index()}/${@index(offset: 2)}"}},
                ["No 0/2", "No 1/3"],
            ),
            ({"@call": "formatString", "args": {"value": {"@path": "/text"}}}, ["<0>", "<1>"]),
        ],
    )
    def test_the_position_of_an_item(self, value, expected):
        message = listed({"kind": "Text", "text": value}, items=keyed("a", "b"))
        message["createSurface"]["dataModel"] |= {"by": 2.5, "text": "<${@index()}>"}
        surfaces, problems = fed(message)
        page = parse(surfaces.flush()[0].html)[0]

        assert not problems
        assert ["".join(item.itertext()) for item in page[0]] == expected
        assert not surfaces.diagnostics()

    @pytest.mark.parametrize(
        "value",
        [
            {"@call": "@index", "args": {"offset": "x"}},
            {"@call": "@index", "args": {"step": 2}},
            {"@call": "@odd"},
        ],
    )
    def test_what_has_no_value(self, value):
        surfaces, _ = fed(listed({"kind": "Text", "text": value}, items=keyed("a")))
        surfaces.flush()

        assert [one.code for one in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]

    def test_it_belongs_to_no_catalog(self):
        value = {"@call": "@index", "catalogId": BASIC_1_0}
        _, (problem,) = fed(listed({"kind": "Text", "text": value}, items=keyed("a")))

        assert problem.path == "/components/1/text/catalogId"

    @pytest.mark.parametrize("value", [INDEX, {"@call": "formatString", "args": {"value": "${@index()}"}}])
    def test_outside_of_a_template_it_is_an_error(self, value):
        surfaces, _ = fed(made(row("root", "Text", text=value)))
        surfaces.flush()

        assert [one.code for one in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]

    def test_0_9_does_not_know_it(self):
        rows = [
            row("root", "List", children={"componentId": "item", "path": "/items"}),
            row("item", "Text", text={"call": "@index"}),
        ]
        surfaces, _ = fed(
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC_CATALOG.id}},
            {"version": "v0.9", "updateDataModel": {"surfaceId": "s", "value": {"items": [1]}}},
            {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": rows}},
        )
        surfaces.flush()

        assert [one.code for one in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]

    @pytest.mark.parametrize(
        ("ops", "numbers"),
        [
            ([{"op": "add", "path": "/items/0", "value": {"id": "x", "n": "X"}}], 4),
            ([{"op": "add", "path": "/items/4", "value": {"id": "x", "n": "X"}}], 0),
            ([{"op": "add", "path": "/items/2", "value": {"id": "x", "n": "X"}}], 2),
            ([{"op": "remove", "path": "/items/1"}], 2),
            ([{"op": "move", "from": "/items/0", "path": "/items/1"}], 2),
            ([{"op": "move", "from": "/items/3", "path": "/items/0"}], 4),
            ([{"op": "replace", "path": "/items", "value": keyed("d", "c", "b", "a")}], 4),
            ([{"op": "replace", "path": "/items/1/n", "value": "new"}], 1),
        ],
    )
    def test_it_is_kept_right_and_nothing_else_is_drawn(self, ops, numbers):
        surfaces, _ = fed(listed(NUMBERED, items=keyed("a", "b", "c", "d")))
        page = Page()
        page.apply_changes(surfaces.flush())
        surfaces.patch("", "s", ops)
        changes = surfaces.flush()
        page.apply_changes(changes)

        told = [op for op in changes[0].ops if op[0] in "tr"]
        assert page.markup == shown(surfaces)
        assert len(told) == numbers

    def test_lists_inside_of_lists_count_each_for_itself(self):
        groups = [{"id": g, "items": keyed(*names)} for g, names in (("g", "ab"), ("h", "cd"))]
        message = made(
            row("root", "List", children={"componentId": "group", "path": "/groups"}),
            row("group", "Column", children=["title", "rows"]),
            row("title", "Text", text={"@call": "formatString", "args": {"value": "G${@index()}"}}),
            row("rows", "List", children={"componentId": "item", "path": "items"}),
            row("item", **NUMBERED),
            dataModel={"groups": groups},
        )
        surfaces, _ = fed(message)
        page = Page()
        page.apply_changes(surfaces.flush())
        for ops in (
            [{"op": "add", "path": "/groups/0/items/0", "value": {"id": "x", "n": "X"}}],
            [{"op": "move", "from": "/groups/1", "path": "/groups/0"}],
            [{"op": "move", "from": "/groups/1/items/2", "path": "/groups/1/items/0"}],
            [{"op": "remove", "path": "/groups/0"}, {"op": "remove", "path": "/groups/0/items/1"}],
        ):
            surfaces.patch("", "s", ops)
            page.apply_changes(surfaces.flush())
            assert page.markup == shown(surfaces)
        assert "G0" in page.markup

    def test_in_checks_and_in_what_is_sent(self):
        surfaces, _ = fed(
            listed(
                {
                    "kind": "Button",
                    "child": "t",
                    "action": {"event": {"name": "go", "context": {"at": INDEX}}},
                    "@checks": [{"condition": INDEX, "message": "Not the first"}],
                },
                TEXT,
                items=keyed("a", "b", "c"),
            )
        )
        page = Page()
        page.apply_changes(surfaces.flush())
        buttons = [e.get("id") for e in parse(surfaces.get("", "s").html())[0].iter("button")]
        with pytest.raises(ActionError, match="Not the first"):
            surfaces.act(buttons[0])
        assert [surfaces.act(one).message["action"]["context"] for one in buttons[1:]] == [
            {"at": 1},
            {"at": 2},
        ]

        surfaces.patch("", "s", [{"op": "move", "from": "/items/2", "path": "/items/0"}])
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)
        assert surfaces.act(buttons[0]).message["action"]["context"] == {"at": 1}

    def test_an_undone_move_leaves_the_numbers(self):
        surfaces, _ = fed(listed(NUMBERED, items=keyed("a", "b", "c")))
        surfaces.flush()
        before = shown(surfaces)
        attempt = surfaces.attempt()
        surfaces.patch("", "s", [{"op": "move", "from": "/items/2", "path": "/items/0"}])
        surfaces.flush()
        attempt.undo()

        assert shown(surfaces) == before
        surfaces.patch("", "s", [{"op": "remove", "path": "/items/0"}])
        assert [op[0] for op in surfaces.flush()[0].ops] == ["d", "r", "r"]

    def test_the_tree_shows_it(self):
        surfaces, _ = fed(listed({"kind": "Text", "text": INDEX}, items=keyed("a", "b")))

        texts = [one["props"]["text"] for one in tree(surfaces.get("", "s"))["nodes"] if one["id"] == "item"]
        assert texts == [0, 1]
