"""`@accessibility`: what screen readers make of each component (section 7 of the reading of 1.0)."""

from __future__ import annotations

from random import Random

import pytest

from tests.a2ui.page import Page, parse, shown
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import TEXT, fed, made, node, said

HIDDEN = {"@accessibility": {"hidden": True}}
GO = {"event": {"name": "go"}}
EVERY = [
    ("Text", {"text": "x"}),
    ("Text", {"text": "x", "variant": "h2"}),
    ("Image", {"url": "/static/x.png", "description": "x"}),
    ("Image", {"url": "https://elsewhere.example/x.png", "description": "x"}),
    ("Icon", {"name": "star"}),
    ("Video", {"url": "/v.mp4"}),
    ("AudioPlayer", {"url": "/v.mp3"}),
    ("Row", {"children": ["t"]}),
    ("Column", {"children": ["t"]}),
    ("List", {"children": ["t"]}),
    ("Card", {"child": "t"}),
    ("Tabs", {"tabs": [{"title": "T", "child": "t"}]}),
    ("Modal", {"trigger": "t", "content": "c"}),
    ("Divider", {}),
    ("Button", {"child": "t", "action": GO}),
    ("TextField", {"label": "L", "value": {"@path": "/v"}}),
    ("CheckBox", {"label": "L", "value": {"@path": "/v"}}),
    ("ChoicePicker", {"options": [{"label": "A", "value": "a"}], "value": {"@path": "/v"}}),
    ("Slider", {"max": 10, "value": {"@path": "/v"}}),
    ("DateTimeInput", {"value": {"@path": "/v"}}),
]
TAKE_FOCUS = {
    "Video", "AudioPlayer", "Tabs", "Modal", "Button", "TextField", "CheckBox", "ChoicePicker", "Slider",
    "DateTimeInput",
}  # fmt: skip


def surface(*rows, **body):
    surfaces, problems = fed(made(*rows, row("t", "Text", text="Go"), row("c", "Text", text="In"), **body))
    return surfaces, problems


def html(surfaces):
    return surfaces.get("", "s").html()


def with_(component, **accessibility):
    kind, props = component
    return row("root", kind, **props, **{"@accessibility": accessibility})


class TestEveryComponent:
    @pytest.mark.parametrize("component", EVERY)
    def test_label_and_description_are_on_it(self, component):
        surfaces, problems = surface(with_(component, label="Named", description="More"))

        drawn = html(surfaces)
        assert [one.code for one in problems] == ["DEPRECATED"] * ("variant" in component[1])
        assert 'aria-label="Named"' in drawn
        assert ('aria-description="More"' in drawn) is not ('<span id="a1-0-xd" hidden>More</span>' in drawn)

    @pytest.mark.parametrize("component", EVERY)
    @pytest.mark.parametrize("live", ["off", "polite", "assertive"])
    def test_live_is_on_it_or_on_its_messages(self, component, live):
        kind, props = component
        checks = [{"condition": {"@path": "/no"}}] if kind in TAKE_FOCUS and "value" in props else []
        given = with_(component, live=live) | ({"@checks": checks} if checks else {})
        surfaces, _ = surface(given)

        (element,) = parse(html(surfaces))[0]
        at = element if not checks else next(one for one in element.iter() if one.get("id") == "a1-0-xe")
        assert at.get("aria-live") == live

    @pytest.mark.parametrize("component", EVERY)
    def test_hidden_is_on_it_unless_it_can_take_focus(self, component):
        surfaces, _ = surface(with_(component, hidden=True))

        (element,) = parse(html(surfaces))[0]
        kind, _ = component
        told = [one.code for one in surfaces.diagnostics()]
        if kind in TAKE_FOCUS:
            assert (element.get("aria-hidden"), told) == (None, ["NOT_CARRIED_OVER"])
        else:
            assert (element.get("aria-hidden"), told) == ("true", [])

    @pytest.mark.parametrize("component", EVERY)
    def test_drawn_at_once_or_compiled_it_is_the_same(self, component):
        messages = made(
            with_(component, label={"@path": "/l"}, description="D", live="polite"),
            TEXT, row("c", "Text", text="In"), dataModel={"l": "Label"},
        )  # fmt: skip
        drawn, compiled = fed(messages)[0], fed(messages)[0]
        compiled.get("", "s").view.compiled()

        assert html(drawn) == html(compiled)

    def test_what_is_wrong_is_told_and_left_out(self):
        given = {"label": ["L"], "live": "loud", "hidden": [], "role": "x"}
        surfaces, problems = surface(row("root", "Text", text="x", **{"@accessibility": given}))

        assert sorted(one.path for one in problems) == [
            f"/components/0/@accessibility/{name}" for name in ("hidden", "label", "live", "role")
        ]
        assert "aria" not in html(surfaces)

    def test_a_thing_without_a_part_gets_one_with_its_name(self):
        for kind, props in (("Column", {"children": []}), ("Card", {"child": "t"}), ("Text", {"text": "x"})):
            surfaces, _ = surface(row("root", kind, **props, **{"@accessibility": {"label": "Named"}}))
            (element,) = parse(html(surfaces))[0]
            assert (element.get("role"), element.get("aria-label")) == ("group", "Named")

    def test_the_description_of_an_input_stays_beside_its_errors(self):
        check = {"condition": {"@path": "/no"}, "message": "Wrong"}
        given = with_(EVERY[15], description="More") | {"@checks": [check]}
        surfaces, _ = surface(given)

        assert 'aria-describedby="a1-0-xd a1-0-xe"' in html(surfaces)

    def test_the_tree_has_it(self):
        given = {"label": "L", "live": "polite", "hidden": {"@path": "/h"}}
        surfaces, _ = surface(
            row("root", "Text", text="x", **{"@accessibility": given}), dataModel={"h": {"valid": True}}
        )

        assert node(surfaces, "root")["props"]["accessibility"] == {
            "label": "L", "description": None, "live": "polite", "hidden": True,
        }  # fmt: skip

    def test_0_9_has_no_live_and_no_hidden(self):
        surfaces, problems = fed(
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": "basic"}},
            {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": [
                row("root", "Text", text="x", accessibility={"label": "L", "live": "polite", "hidden": True}),
            ]}},
        )  # fmt: skip

        assert not problems
        assert 'aria-label="L">' in html(surfaces)


class TestHidden:
    def column(self, *rows, hidden=True, **model):
        names = [one["id"] for one in rows]
        return surface(
            row("root", "Column", children=names, **{"@accessibility": {"hidden": hidden}}),
            *rows,
            dataModel=model,
        )

    @pytest.mark.parametrize(
        "inside",
        [
            row("a", "Button", child="t", action=GO),
            row("a", "TextField", label="L", value={"@path": "/v"}),
            row("a", "Card", child="b") | {"inside": row("b", "Tabs", tabs=[{"title": "T", "child": "t"}])},
            row("a", "Column", children={"componentId": "b", "path": "/items"})
            | {"inside": row("b", "Button", child="t", action=GO)},
            row("a", "List", children=["t"], direction="horizontal"),
            row("a", "Text", text="See [this](https://x.example)"),
        ],
    )
    def test_what_can_take_focus_keeps_everything_around_it_heard(self, inside):
        below = inside.pop("inside", None)
        rows = [inside, below] if below else [inside]
        surfaces, _ = surface(row("root", "Column", children=["a"], **HIDDEN), *rows)

        assert not [one for one in parse(html(surfaces))[0].iter("div") if one.get("aria-hidden")]
        assert [one.code for one in surfaces.diagnostics()] == ["NOT_CARRIED_OVER"]

    def test_bound_it_follows_the_data(self):
        surfaces, problems = self.column(row("a", "Text", text="x"), hidden={"@path": "/h"}, h=False)
        page = Page()
        page.apply_changes(surfaces.flush())
        assert not problems
        assert "aria-hidden" not in page.markup

        surfaces.patch("", "s", [{"op": "replace", "path": "/h", "value": {"valid": True}}])
        page.apply_changes(surfaces.flush())
        assert 'aria-hidden="true"' in page.markup
        assert page.markup == shown(surfaces)

    def test_links_from_the_data_are_text_in_it(self):
        surfaces, _ = self.column(row("a", "Text", text={"@path": "/t"}), t="See [this](https://x.example)")

        assert "<a" not in html(surfaces)
        assert 'aria-hidden="true"' in html(surfaces)

    def test_a_cut_list_in_it_has_no_button(self):
        surfaces, _ = surface(
            row("root", "Column", children={"componentId": "a", "path": "/items"}, **HIDDEN),
            row("a", "Text", text={"@path": ""}),
            dataModel={"items": list(range(1200))},
        )  # fmt: skip

        assert 'class="a2-more"' in html(surfaces)
        assert "<button" not in html(surfaces)

    def test_a_control_that_comes_later_ends_it_and_begins_it_again_when_it_goes(self):
        surfaces, _ = self.column(row("a", "Text", text="x"), row("b", "Card", child="c"))
        page = Page()
        page.apply_changes(surfaces.flush())
        assert page.find("a1-0").get("aria-hidden") == "true"

        for definition, hidden in (
            (row("c", "Button", child="t", action=GO), None),
            (row("c", "Text", text="again"), "true"),
            (row("c", "CheckBox", label="L", value={"@path": "/v"}), None),
        ):
            surfaces.apply(said("updateComponents", components=[definition]))
            page.apply_changes(surfaces.flush())
            assert page.find("a1-0").get("aria-hidden") == hidden
            assert page.markup == shown(surfaces)

    def test_what_an_empty_list_is_made_of_counts_too(self):
        surfaces, _ = surface(
            row("root", "Column", children={"componentId": "a", "path": "/items"}, **HIDDEN),
            row("a", "Text", text="x"),
            dataModel={"items": []},
        )
        page = Page()
        page.apply_changes(surfaces.flush())
        assert page.find("a1-0").get("aria-hidden") == "true"

        surfaces.apply(said("updateComponents", components=[row("a", "Button", child="t", action=GO)]))
        page.apply_changes(surfaces.flush())
        assert page.find("a1-0").get("aria-hidden") is None

    def test_what_is_inside_of_two_counts_for_each(self):
        surfaces, _ = surface(
            row("root", "Column", children=["a", "b"], **HIDDEN),
            row("a", "Column", children=["t"], **HIDDEN),
            row("b", "Button", child="c", action=GO),
        )

        found = {one.get("id"): one.get("aria-hidden") for one in parse(html(surfaces))[0].iter()}
        assert (found["a1-0"], found["a1-1"]) == (None, "true")


class TestLive:
    def test_an_element_that_is_listened_to_stays_while_its_content_changes(self):
        surfaces, _ = surface(
            row("root", "Column", children=["a", "b"]),
            row("a", "Text", text={"@path": "/t"}, **{"@accessibility": {"live": "polite"}}),
            row("b", "Column", children=["t"], **{"@accessibility": {"live": "assertive"}}),
            dataModel={"t": "one"},
        )
        surfaces.flush()

        surfaces.patch("", "s", [{"op": "replace", "path": "/t", "value": "two"}])
        assert [op[0] for op in surfaces.flush()[0].ops] == ["t"]

        surfaces.patch("", "s", [{"op": "replace", "path": "/t", "value": "**three**"}])
        assert [op[0] for op in surfaces.flush()[0].ops] == ["x"]

        # Inside of one, around of one, and itself.
        for changed in (
            row("t", "Text", text="_new_"),
            row("root", "Row", children=["a", "b"]),
            row("a", "Text", text="new", **{"@accessibility": {"live": "polite"}}),
        ):
            surfaces.apply(said("updateComponents", components=[changed]))
            assert {op[0] for op in surfaces.flush()[0].ops} == {"x"}

    def test_what_nobody_listens_to_is_replaced(self):
        surfaces, _ = surface(row("root", "Text", text={"@path": "/t"}), dataModel={"t": "one"})
        surfaces.flush()

        surfaces.patch("", "s", [{"op": "replace", "path": "/t", "value": "**two**"}])
        assert [op[0] for op in surfaces.flush()[0].ops] == ["r"]


class TestChanges:
    """Whatever changes, and in whatever order a page hears of it, it shows what a fresh drawing shows."""

    HEARD = (
        {},
        {"live": "polite"},
        {"hidden": True},
        {"hidden": {"@path": "/h"}},
        {"label": {"@path": "/l"}},
    )

    def definition(self, random, name, below):
        heard = random.choice(self.HEARD)
        more = {"@accessibility": heard} if heard else {}
        if below:
            kind = random.choice(["Column", "Row", "List", "Card"])
            inside = {"child": below[0]} if kind == "Card" and len(below) == 1 else {"children": below}
            return row(name, kind if "child" in inside or kind != "Card" else "Column", **inside, **more)
        return random.choice(
            [
                row(name, "Text", text={"@path": "/l"}, **more),
                row(name, "Text", text="[a](https://x.example)", **more),
                row(name, "Text", text="**b**", **more),
                row(name, "Icon", name="star", **more),
                row(name, "CheckBox", label="L", value={"@path": "/h"}, **more),
                row(name, "Column", children={"componentId": "item", "path": "/items"}, **more),
            ]
        )

    @pytest.mark.parametrize("seed", range(60))
    def test_fragments_give_what_a_fresh_drawing_gives(self, seed):
        random = Random(seed)
        names = ["root", *[f"c{number}" for number in range(1, random.randrange(3, 14))]]
        below = {name: [] for name in names}
        for at, name in enumerate(names[1:], 1):
            below[names[random.randrange(max(0, at - 4), at)]].append(name)
        rows = [self.definition(random, name, below[name]) for name in names]
        item = row("item", "Text", text={"@path": "n"})
        surfaces, _ = fed(made(*rows, item, dataModel={"h": False, "l": "x", "items": [{"id": 1, "n": "N"}]}))
        page = Page()
        page.apply_changes(surfaces.flush())
        for _ in range(8):
            for _ in range(random.randrange(1, 4)):
                change = self.change(random, names, below, item)
                assert not [one for one in surfaces.apply(change) if one.refused]
            page.apply_changes(surfaces.flush())
            assert page.markup == shown(surfaces)
            self.nothing_hidden_takes_focus(page)

    def change(self, random, names, below, item):
        name = random.choice(names)
        rows = [
            self.definition(random, name, below[name]),
            random.choice([item, row("item", "Button", child="t", action=GO)]),
        ]
        items = [{"id": n, "n": "N"} for n in range(random.randrange(4))]
        words = random.choice(["y", "*z*", "[a](https://x.example)"])
        return random.choice(
            [
                said("updateDataModel", path="/h", value=random.choice([True, False, {"valid": True}])),
                said("updateDataModel", path="/l", value=words),
                said("updateDataModel", path="/items", value=items),
                *[said("updateComponents", components=[one]) for one in rows],
            ]
        )

    def nothing_hidden_takes_focus(self, page):
        for element in page.root.iter():
            if element.get("aria-hidden") == "true":
                inside = [
                    one
                    for one in element.iter()
                    if one.tag in ("a", "button", "input") or one.get("tabindex")
                ]
                assert not inside
