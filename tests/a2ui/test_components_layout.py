"""Row, Column, List, Card, Tabs, Modal, Button: what they render to."""

from __future__ import annotations

import pytest

from tests.a2ui.page import parse
from tests.a2ui.programs import call, path, row, surface

TEXT = row("t", "Text", text="x")
ACTION = {"event": {"name": "go"}}


def root(*rows, model=None):
    """The element of the root component."""
    _, only = surface(*rows, model=model)
    return parse(only.html())[0][0]


class TestContainers:
    @pytest.mark.parametrize(
        ("definition", "css"),
        [
            (row("root", "Row", children=["t"]), "a2-hbox"),
            (
                row("root", "Row", children=["t"], justify="spaceBetween", align="center"),
                "a2-hbox a2-j-between a2-a-center",
            ),
            (row("root", "Column", children=["t"], justify="start", align="stretch"), "a2-vbox"),
            (
                row("root", "Column", children=["t"], justify="stretch", align="end"),
                "a2-vbox a2-j-stretch a2-a-end",
            ),
            (row("root", "List", children=["t"], direction="horizontal"), "a2-list a2-list--across"),
            (row("root", "Row", children=["t"], justify="sideways"), "a2-hbox"),
        ],
    )
    def test_looks_are_classes(self, definition, css):
        element = root(definition, TEXT)

        assert element.get("class") == css
        assert [child.text for child in element] == ["x"]

    @pytest.mark.parametrize("count", range(6))
    def test_any_number_of_children(self, count):
        texts = [row(f"t{n}", "Text", text=str(n)) for n in range(count)]

        element = root(row("root", "Column", children=[f"t{n}" for n in range(count)]), *texts)

        assert [child.text for child in element] == [str(n) for n in range(count)]

    def test_a_list_is_one_for_screen_readers(self):
        element = root(row("root", "List", children=["t"]), TEXT)

        assert element.get("role") == "list"
        assert element[0].get("role") == "listitem"

    @pytest.mark.parametrize("value", [None, "abc", {"a": 1}, 3, []])
    def test_a_template_over_anything_but_a_list_is_empty(self, value):
        template = {"componentId": "t", "path": "/l"}

        assert len(root(row("root", "Column", children=template), TEXT, model={"l": value})) == 0

    def test_items_that_are_no_objects(self):
        rows = (
            row("root", "Column", children={"componentId": "t", "path": "/l"}),
            row("t", "Text", text=path(".")),
        )

        element = root(*rows, model={"l": ["a", None, 5, [1]]})

        assert ["".join(child.itertext()).strip() for child in element] == ["a", "", "5", "[1]"]

    def test_a_template_of_itself_ends_with_the_data(self):
        rows = (
            row("root", "Card", child="n"),
            row("n", "Column", children=["name", "kids"]),
            row("name", "Text", text=path("name")),
            row("kids", "Column", children={"componentId": "n", "path": "kids"}),
        )
        model = {"name": "a", "kids": [{"name": "b", "kids": [{"name": "c"}]}, {"name": "d"}]}

        assert "".join(root(*rows, model=model).itertext()) == "abcd"

    def test_a_missing_template_component_is_a_skeleton_for_each_item(self):
        element = root(
            row("root", "Column", children={"componentId": "later", "path": "/l"}), model={"l": [1, 2]}
        )

        assert [child.get("class") for child in element] == ["a2-skel", "a2-skel"]


class TestButton:
    def test_it_is_a_native_button(self):
        element = root(row("root", "Button", child="t", action=ACTION), TEXT)

        assert element.tag == "button"
        assert element.attrib == {"id": "a1-0", "class": "a2-btn", "type": "button", "data-act": ""}
        assert element[0].tag == "span"

    @pytest.mark.parametrize(
        ("variant", "css"), [("primary", "a2-btn a2-btn--primary"), ("borderless", "a2-btn a2-btn--plain")]
    )
    def test_variants(self, variant, css):
        assert (
            root(row("root", "Button", child="t", action=ACTION, variant=variant), TEXT).get("class") == css
        )

    def test_without_action_it_does_nothing(self):
        assert "data-act" not in root(row("root", "Button", child="t"), TEXT).attrib

    def test_all_failing_checks_are_said(self):
        checks = [
            {"condition": path("/a"), "message": "First"},
            {"condition": True, "message": "Never"},
            {"condition": False, "message": "Third"},
            {"call": "required", "args": {"value": path("/a")}, "message": "Short form"},
        ]

        element = root(row("root", "Button", child="t", action=ACTION, checks=checks), TEXT)

        assert element.get("disabled") is not None
        assert element.get("title") == "First; Third; Short form"

    @pytest.mark.parametrize("kind", ["Button", "TextField", "Tabs", "Modal", "Video"])
    def test_nothing_interactive_inside(self, kind):
        definition = row("c", kind, label="l", value=path("/v"), child="t", action=ACTION)
        rows = (
            row("root", "Button", child="k", action=ACTION),
            row("k", "Card", child="c"),
            definition,
            TEXT,
        )

        element = root(*rows)

        assert "cannot hold another control" in "".join(element.itertext())
        assert not [
            below
            for below in element.iter()
            if below.tag in ("input", "button", "video") and below is not element
        ]

    def test_no_links_inside(self):
        element = root(
            row("root", "Button", child="t", action=ACTION),
            row("t", "Text", text="[go](https://example.org) **now**"),
        )

        assert not list(element.iter("a"))


class TestTabs:
    def test_all_panels_are_there_and_one_is_shown(self):
        tabs = [{"title": "One <b>", "child": "t"}, {"title": path("/two"), "child": "t"}]

        element = root(row("root", "Tabs", tabs=tabs), TEXT, model={"two": "Two"})
        bar, first, second = element

        assert "data-tabs" in element.attrib
        assert bar.get("role") == "tablist"
        assert [tab.text for tab in bar] == ["One <b>", "Two"]
        assert [tab.get("aria-selected") for tab in bar] == ["true", "false"]
        assert [tab.get("aria-controls") for tab in bar] == [first.get("id"), second.get("id")]
        assert [panel.get("aria-labelledby") for panel in (first, second)] == [tab.get("id") for tab in bar]
        assert first.get("hidden") is None
        assert second.get("hidden") is not None


class TestModal:
    def test_trigger_and_dialog(self):
        rows = (
            row("root", "Modal", trigger="b", content="t", accessibility={"label": "More"}),
            row("b", "Button", child="t", action=ACTION),
            TEXT,
        )

        element = root(*rows)
        trigger, dialog = element

        assert "data-modal" in element.attrib
        assert "data-modal-open" in trigger.attrib
        assert trigger[0].tag == "button"
        assert (dialog.tag, dialog.get("aria-label"), dialog.get("open")) == ("dialog", "More", None)
        assert [b.get("aria-label") for b in dialog.iter("button")] == ["Close"]
        assert dialog[1][0].text == "x"

    def test_any_other_trigger_can_be_reached_by_keyboard(self):
        trigger = root(row("root", "Modal", trigger="t", content="t"), TEXT)[0][0]

        assert (trigger.get("role"), trigger.get("tabindex")) == ("button", "0")


def test_a_card_has_one_child():
    element = root(row("root", "Card", child="t"), TEXT)

    assert element.get("class") == "a2-card"
    assert [child.text for child in element] == ["x"]


def test_a_title_is_shown_as_written():
    tabs = [{"title": call("formatString", value="**${/a}**"), "child": "t"}]

    assert root(row("root", "Tabs", tabs=tabs), TEXT, model={"a": 1})[0][0].text == "**1**"
