"""Names of controls for those who do not see them (rulebook 17.5): the agent's, else the label, else what it is."""

from __future__ import annotations

import pytest

from tests.a2ui.page import parse
from tests.a2ui.programs import data, ops, path, row, surface

UNNAMED = [
    ("TextField", {}, "input", "Text"),
    ("CheckBox", {}, "input", "Tick"),
    ("Slider", {"max": 10}, "input", "Value"),
    ("DateTimeInput", {"enableDate": True}, "input", "Date"),
    ("DateTimeInput", {"enableTime": True}, "input", "Time"),
    ("DateTimeInput", {}, "input", "Date and time"),
    ("ChoicePicker", {"options": [{"label": "One", "value": "1"}]}, "fieldset", "Options"),
]


def control(tag, *rows):
    element = parse(surface(*rows)[1].html())[0][0]
    return element if element.tag == tag else next(element.iter(tag))


class TestInputs:
    @pytest.mark.parametrize(("kind", "more", "tag", "name"), UNNAMED)
    @pytest.mark.parametrize("label", [None, "", path("/nothing")])
    def test_without_a_label(self, kind, more, tag, name, label):
        given = {} if label is None else {"label": label}

        found = control(tag, row("root", kind, value=path("/v"), **more, **given))

        assert found.get("aria-label") == name

    @pytest.mark.parametrize(("kind", "more", "tag", "_"), UNNAMED)
    def test_with_a_label_the_label_is_the_name(self, kind, more, tag, _):
        found = control(tag, row("root", kind, value=path("/v"), label="Budget", **more))

        assert found.get("aria-label") is None

    @pytest.mark.parametrize(("kind", "more", "tag", "_"), UNNAMED)
    def test_the_agents_name_comes_first(self, kind, more, tag, _):
        given = {"accessibility": {"label": "Mine", "description": "For you"}}

        found = control(tag, row("root", kind, value=path("/v"), **more, **given))

        assert (found.get("aria-label"), found.get("aria-describedby")) == ("Mine", "a1-0-xd")

    def test_a_description_is_no_name(self):
        rows = row(
            "root", "CheckBox", value=True, label="", accessibility={"description": 'x aria-label="y"'}
        )

        assert control("input", rows).get("aria-label") == "Tick"

    def test_one_of_several_is_a_group_of_radio_buttons(self):
        options = [{"label": "One", "value": "1"}]
        single = row("root", "ChoicePicker", value=[], options=options)

        assert control("fieldset", single).get("role") == "radiogroup"
        assert control("fieldset", single | {"variant": "multipleSelection"}).get("role") is None


class TestErrors:
    CHECKS = [{"condition": path("/ok"), "message": "Fill this in."}]

    def test_the_place_for_messages_is_there_before_the_first_one(self):
        surfaces, only = surface(
            row("root", "TextField", label="Name", value=path("/v"), checks=self.CHECKS), model={"ok": True}
        )

        region = parse(only.html())[0][0][-1]
        assert (region.get("aria-live"), region.text) == ("polite", None)

        surfaces.apply(data(False, "/ok"))
        assert f'id="{region.get("id")}"' in ops(surfaces)[0][-1]

    def test_without_checks_there_is_none(self):
        assert "aria-live" not in surface(row("root", "TextField", label="Name", value=path("/v")))[1].html()


class TestDialog:
    def test_it_is_called_what_opens_it(self):
        rows = (row("root", "Modal", trigger="t", content="t"), row("t", "Text", text="More"))
        element = parse(surface(*rows)[1].html())[0]
        dialog = next(element.iter("dialog"))

        opener = next(found for found in element.iter() if found.get("id") == dialog.get("aria-labelledby"))
        assert opener.text == "More"
        assert dialog.get("aria-label") == "Dialog"
