"""Fragments: which ones a change makes, and that a page they are applied to always shows what a fresh one would."""

from __future__ import annotations

import json
from random import Random

import pytest

from a2ui import Engine, EngineOptions, Limits, PatchError
from tests.a2ui import chaos
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import call, components, create, data, ops, path, row, surface

ROWS = [
    row("root", "Column", children=["list", "end"]),
    row("list", "List", children={"componentId": "item", "path": "/items"}),
    row("item", "Row", children=["name", "field"]),
    row("name", "Text", text=path("name")),
    row("field", "TextField", label="N", value=path("name")),
    row("end", "Text", text=path("/end")),
]


def people(*names):
    return [{"id": name, "name": name} for name in names]


def feed(surfaces, step):
    if isinstance(step, list):
        try:
            surfaces.patch("", "s", step)
        except PatchError:
            return
    else:
        surfaces.apply(step)


@pytest.mark.parametrize("seed", range(30))
def test_a_page_that_follows_shows_what_a_fresh_one_does(seed):
    random = Random(seed)
    limits = Limits(
        list_items=random.choice([3, 1000, 1000]),
        instances=random.choice([60, 10_000, 10_000]),
        depth=random.choice([7, 40]),
    )
    engine = Engine(EngineOptions(limits=limits))
    surfaces, page = engine.surfaces(), Page()
    surfaces.apply(create())
    for message in chaos.start(random):
        feed(surfaces, message)
    for number in range(40):
        for _ in range(random.choice([1, 1, 2, 3])):
            feed(surfaces, chaos.step(random))

        page.apply_changes(surfaces.flush())

        assert page.markup == shown(surfaces), f"step {number}"
        if limits.list_items == 1000 and limits.instances == 10_000:
            # What is cut where depends on the past; without cuts a restored surface is the same to the byte.
            restored = engine.restore(json.loads(json.dumps(surfaces.snapshot())))
            assert [s.html() for s in restored] == [s.html() for s in surfaces], f"step {number}"


class TestValues:
    def test_plain_text_is_sent_as_text(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a"), "end": "x"})

        surfaces.apply(data("y < z", "/end"))

        assert ops(surfaces) == [["t", "a1-2", "y < z"]]

    def test_markdown_replaces_the_element(self):
        surfaces, _ = surface(*ROWS, model={"end": "x"})

        surfaces.apply(data("**y**", "/end"))

        (op,) = ops(surfaces)
        assert op[:2] == ["r", "a1-2"]
        assert "<strong>y</strong>" in op[2]

    def test_a_field_goes_through_htmx_and_its_neighbours_stay(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a", "b")})

        surfaces.apply(data("B", "/items/1/name"))

        text, field = ops(surfaces)
        assert text == ["t", "a1-4-kb", "B"]
        assert field[0] == "x"
        assert field[1].startswith('<hx-partial hx-target="#a1-5-kb" hx-swap="outerMorph"><div id="a1-5-kb"')

    def test_a_label_does_not_touch_the_field_beside_it(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a"), "end": ""})

        surfaces.apply(data("now", "/end"))

        assert all("input" not in part for op in ops(surfaces) for part in op)

    def test_an_equal_value_sends_nothing(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a"), "end": "x"})

        surfaces.apply(data("x", "/end"))
        surfaces.apply(data({"items": people("a"), "end": "x"}))

        assert ops(surfaces) == []

    def test_a_null_that_goes_or_comes_changes_what_the_object_around_it_looks_like(self):
        surfaces, _ = surface(row("root", "Text", text=path("/o")), model={"o": {"a": 1, "b": None}})

        surfaces.patch("", "s", [{"op": "remove", "path": "/o/b"}])
        (gone,) = ops(surfaces)
        surfaces.apply(data(None, "/o/c"))
        (come,) = ops(surfaces)

        assert (gone[-1], come[-1]) == ('{"a":1}', '{"a":1,"c":null}')

    def test_true_is_not_one(self):
        surfaces, _ = surface(*ROWS, model={"end": 1})

        surfaces.apply(data(True, "/end"))

        assert ops(surfaces) == [["t", "a1-2", "true"]]

    def test_several_changes_of_one_value_are_sent_once(self):
        surfaces, _ = surface(*ROWS, model={"end": "x"})

        for value in ("a", "b", "c"):
            surfaces.apply(data(value, "/end"))

        assert ops(surfaces) == [["t", "a1-2", "c"]]

    def test_a_button_whose_checks_come_out_the_same_is_not_sent(self):
        check = [{"condition": call("required", value=path("/v")), "message": "m"}]
        surfaces, _ = surface(
            row("root", "Button", child="t", action={"event": {"name": "a"}}, checks=check),
            row("t", "Text", text="Go"),
            model={"v": "1"},
        )

        surfaces.apply(data("12", "/v"))
        assert ops(surfaces) == []
        surfaces.apply(data("", "/v"))
        assert [op[:2] for op in ops(surfaces)] == [["r", "a1-0"]]

    def test_only_the_ancestor_is_sent(self):
        check = [{"condition": path("/v"), "message": "m"}]
        surfaces, _ = surface(
            row("root", "Button", child="t", action={"event": {"name": "a"}}, checks=check),
            row("t", "Text", text=path("/v")),
            model={"v": "1"},
        )

        surfaces.apply(data("", "/v"))

        assert [op[:2] for op in ops(surfaces)] == [["r", "a1-0"]]

    def test_the_title_of_a_tab_does_not_repaint_the_panels(self):
        surfaces, _ = surface(
            row("root", "Tabs", tabs=[{"title": path("/t"), "child": "x"}]),
            row("x", "TextField", label="L", value=path("/v")),
            model={"t": "One"},
        )

        surfaces.apply(data("Two", "/t"))

        assert ops(surfaces) == [["t", "a1-0-xt0", "Two"]]


class TestLists:
    def test_append(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a")})

        surfaces.apply(data({"id": "b", "name": "b"}, "/items/1"))

        (op,) = ops(surfaces)
        assert op[:3] == ["i", "a1-3-ka", "afterend"]
        assert op[3].startswith('<div id="a1-3-kb"')

    def test_several_new_items_are_one_fragment(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a", "z")})

        surfaces.apply(data(people("a", "b", "c", "z"), "/items"))

        (op,) = ops(surfaces)
        assert op[:3] == ["i", "a1-3-ka", "afterend"]
        assert 'id="a1-3-kb"' in op[3]
        assert 'id="a1-3-kc"' in op[3]

    def test_first_item(self):
        surfaces, _ = surface(*ROWS, model={"items": []})

        surfaces.patch("", "s", [{"op": "add", "path": "/items/0", "value": {"id": "a", "name": "a"}}])

        assert [op[:3] for op in ops(surfaces)] == [["i", "a1-1", "afterbegin"]]

    def test_remove(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a", "b", "c")})

        surfaces.patch("", "s", [{"op": "remove", "path": "/items/1"}])

        assert ops(surfaces) == [["d", "a1-3-kb"]]

    @pytest.mark.parametrize(
        ("source", "target", "op"),
        [
            (2, 0, ["m", "a1-3-kc", "^a1-1"]),
            (0, 2, ["m", "a1-3-ka", "a1-3-kc"]),
            (0, 1, ["m", "a1-3-ka", "a1-3-kb"]),
        ],
    )
    def test_move(self, source, target, op):
        surfaces, _ = surface(*ROWS, model={"items": people("a", "b", "c")})

        surfaces.patch("", "s", [{"op": "move", "from": f"/items/{source}", "path": f"/items/{target}"}])

        assert ops(surfaces) == [op]

    def test_a_whole_new_list_moves_as_little_as_possible(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a", "b", "c", "d")})

        surfaces.apply(data(people("d", "a", "b", "c"), "/items"))

        assert ops(surfaces) == [["m", "a1-3-kd", "^a1-1"]]

    def test_a_whole_new_list_with_one_item_changed_sends_that(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a", "b", "c")})
        changed = people("a", "b", "c")
        changed[1]["name"] = "B"

        surfaces.apply(data(changed, "/items"))

        assert [op[0] for op in ops(surfaces)] == ["t", "x"]

    def test_without_keys_the_position_counts(self):
        surfaces, _ = surface(*ROWS, model={"items": [{"name": "a"}, {"name": "b"}]})

        surfaces.patch("", "s", [{"op": "remove", "path": "/items/0"}])

        changes = ops(surfaces)
        assert changes[0] == ["d", "a1-3-i1"]
        assert ["t", "a1-4-i0", "b"] in changes

    def test_an_item_without_key_makes_all_of_them_positions(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a")})

        surfaces.apply(data({"name": "b"}, "/items/1"))

        (op,) = ops(surfaces)
        assert op[0] == "x"
        assert 'id="a1-3-i1"' in op[1]

    def test_an_item_that_comes_back_changed_in_one_batch_is_sent_whole(self):
        surfaces, only = surface(*ROWS, model={"items": people("a", "b"), "end": ""})
        page = Page()
        page.root.extend(page_of(only))

        surfaces.patch("", "s", [{"op": "remove", "path": "/items/0"}])
        surfaces.apply(data({"id": "a", "name": "A"}, "/items/1"))
        page.apply_changes(surfaces.flush())

        assert page.markup == shown(surfaces)

    def test_an_item_that_moves_may_read_what_its_move_changes(self):
        rows = [
            row("root", "List", children={"componentId": "item", "path": "/items"}),
            row("item", "Text", text=path("/items/1/name")),
        ]
        for source, target in ((2, 0), (0, 2), (2, 1), (1, 2)):
            surfaces, only = surface(*rows, model={"items": people("a", "b", "c")})
            page = Page()
            page.root.extend(page_of(only))

            surfaces.patch("", "s", [{"op": "move", "from": f"/items/{source}", "path": f"/items/{target}"}])
            page.apply_changes(surfaces.flush())

            assert page.markup == shown(surfaces)

    def test_a_list_that_was_emptied_inside_of_something_that_is_sent_whole_has_no_notice(self):
        surfaces, only = surface(*ROWS, model={"items": people(*"abcde")}, limits=Limits(list_items=3))
        page = Page()
        page.root.extend(page_of(only))

        surfaces.apply(data([], "/items"))
        surfaces.apply(components(row("root", "Row", children=["list"])))
        page.apply_changes(surfaces.flush())
        surfaces.apply(data(people(*"abcde"), "/items"))
        page.apply_changes(surfaces.flush())

        assert page.markup == shown(surfaces)

    def test_a_list_is_cut_with_a_notice(self):
        surfaces, only = surface(*ROWS, model={"items": people(*"abcde")}, limits=Limits(list_items=3))

        assert "3 of 5 shown" in only.html()
        assert [problem.code for problem in surfaces.diagnostics()] == ["budget_exceeded"]
        surfaces.patch("", "s", [{"op": "remove", "path": "/items/0"}, {"op": "remove", "path": "/items/0"}])
        assert ["d", "a1-1-xm"] in ops(surfaces)


def page_of(only):
    from tests.a2ui.page import parse

    return parse(only.html())


class TestComponents:
    def test_a_new_child_is_inserted(self):
        surfaces, _ = surface(
            row("root", "Column", children=["a"]), row("a", "TextField", label="L", value=path("/v"))
        )

        surfaces.apply(components(row("root", "Column", children=["a", "b"]), row("b", "Text", text="x")))

        assert ops(surfaces) == [["i", "a1-1", "afterend", '<div id="a1-2" class="a2-t">x</div>']]

    def test_a_child_that_arrives_takes_the_place_of_its_skeleton(self):
        surfaces, only = surface(row("root", "Column", children=["a", "later"]), row("a", "Text", text="x"))
        assert '<div id="a1-2" class="a2-skel" aria-hidden="true">' in only.html()

        surfaces.apply(components(row("later", "Text", text="L")))

        assert ops(surfaces) == [["r", "a1-2", '<div id="a1-2" class="a2-t">L</div>']]

    def test_the_root_that_arrives_takes_the_place_of_the_loading_hint(self):
        surfaces, only = surface(row("a", "Text", text="x"))
        assert 'role="status"' in only.html()

        surfaces.apply(components(row("root", "Card", child="a")))

        assert [op[:2] for op in ops(surfaces)] == [["r", "a1-0"]]

    def test_a_new_type_replaces_the_component(self):
        surfaces, _ = surface(row("root", "Text", text="x"))

        surfaces.apply(components(row("root", "Divider")))

        assert ops(surfaces) == [["r", "a1-0", '<hr id="a1-0" class="a2-divider">']]

    def test_a_container_with_another_look_is_sent_whole_with_its_fields_morphed(self):
        surfaces, _ = surface(
            row("root", "Row", children=["a"]), row("a", "TextField", label="L", value=path("/v"))
        )

        surfaces.apply(components(row("root", "Row", children=["a"], justify="end")))

        assert [op[0] for op in ops(surfaces)] == ["x"]

    def test_a_template_component_is_repainted_in_every_item(self):
        surfaces, _ = surface(*ROWS, model={"items": people("a", "b")})

        surfaces.apply(components(row("name", "Text", text="same")))

        assert [op[:2] for op in ops(surfaces)] == [["r", "a1-4-ka"], ["r", "a1-4-kb"]]
