"""TextField, CheckBox, ChoicePicker, Slider, DateTimeInput: what they render to."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any

import pytest

from tests.a2ui.page import parse
from tests.a2ui.programs import call, path, row, surface


def field(kind: str, model: Any = None, timezone: Any = None, **properties: Any):
    """The element of an input that is bound to /v."""
    options = {"timezone": timezone} if timezone else {}
    definition = row("root", kind, **{"label": "L", "value": path("/v"), **properties})
    _, only = surface(definition, model=model if model is None else {"v": model}, **options)
    return parse(only.html())[0][0]


def control(element):
    return next(e for e in element.iter() if e.tag in ("input", "textarea"))


class TestLabels:
    @pytest.mark.parametrize(
        ("kind", "more"), [("TextField", {}), ("Slider", {"max": 5}), ("DateTimeInput", {})]
    )
    def test_they_are_tied_to_the_control(self, kind, more):
        element = field(kind, **more)

        assert next(element.iter("label")).get("for") == control(element).get("id") == "a1-0-xi"

    def test_a_box_is_inside_of_its_label(self):
        label = field("CheckBox")[0]

        assert [label.tag, label[0].tag, label[1].text] == ["label", "input", "L"]

    def test_accessibility_goes_to_the_control(self):
        element = field("TextField", accessibility={"label": "Named", "description": "More"})

        assert control(element).get("aria-label") == "Named"
        (described,) = [
            one for one in element.iter() if one.get("id") == control(element).get("aria-describedby")
        ]
        assert described.text == "More"


class TestChecks:
    CHECKS = (
        {"condition": call("required", value=path("/v")), "message": "Needed <b>"},
        {"condition": call("email", value=path("/v")), "message": "No address"},
        {"condition": call("regex", value=path("/v"), pattern="["), "message": "Never passes"},
    )

    @pytest.mark.parametrize(
        ("kind", "more"),
        [
            ("TextField", {}),
            ("CheckBox", {}),
            ("Slider", {"max": 5}),
            ("DateTimeInput", {}),
            ("ChoicePicker", {"options": []}),
        ],
    )
    def test_all_failures_are_shown_in_order(self, kind, more):
        element = field(kind, checks=list(self.CHECKS), **more)
        named = next(e for e in element.iter() if e.get("aria-invalid") == "true")
        errors = next(e for e in element.iter() if e.get("id") == named.get("aria-describedby"))

        texts = ["".join(error.itertext()) for error in errors]

        assert texts[-1] == "Never passes"
        assert kind not in ("TextField", "DateTimeInput") or texts[:2] == ["Needed <b>", "No address"]

    def test_no_failure(self):
        element = field("TextField", "a@b.example", checks=list(self.CHECKS[:2]))

        assert control(element).get("aria-invalid") is None
        assert "Needed" not in "".join(element.itertext())

    @pytest.mark.parametrize(("value", "valid"), [("", True), ("12", True), ("x", False)])
    def test_validation_regexp(self, value, valid):
        element = field("TextField", value, validationRegexp="^[0-9]+$")

        assert (control(element).get("aria-invalid") is None) == valid


class TestTextField:
    def test_short(self):
        element = field("TextField", 'a"<&')

        assert element.get("data-in") == "text"
        assert (control(element).get("type"), control(element).get("value")) == ("text", 'a"<&')

    def test_long(self):
        assert control(field("TextField", "\n</textarea>a", variant="longText")).text == "\n</textarea>a"

    def test_number(self):
        element = field("TextField", 3, variant="number")

        assert element.get("data-in") == "number"
        assert (control(element).get("type"), control(element).get("inputmode")) == ("number", "decimal")
        assert control(element).get("value") == "3"

    def test_obscured(self):
        found = control(field("TextField", "hunter2", variant="obscured"))

        assert (found.get("type"), found.get("value"), found.get("placeholder")) == ("password", "", "••••••")


class TestCheckBox:
    @pytest.mark.parametrize(
        ("value", "checked"),
        [
            (True, True),
            ("TRUE", True),
            (1, True),
            (False, False),
            ("false", False),
            ("yes", False),
            (0, False),
            (None, False),
        ],
    )
    def test_conversion(self, value, checked):
        assert ("checked" in control(field("CheckBox", value)).attrib) == checked


class TestSlider:
    @pytest.mark.parametrize(
        ("value", "shown", "step"),
        [
            (5, "5", "1"),
            (2.5, "2.5", "any"),
            (None, "0", "1"),
            ("7", "7", "1"),
            ("x", "0", "1"),
            (99, "20", "1"),
            (-1, "0", "1"),
        ],
    )
    def test_value(self, value, shown, step):
        element = field("Slider", value, max=20)

        assert element.get("data-in") == "slider"
        assert (control(element).get("value"), control(element).get("step")) == (shown, step)
        assert next(element.iter("output")).text == shown

    def test_ends(self):
        found = control(field("Slider", 1, min=-1, max=1.5))

        assert (found.get("min"), found.get("max"), found.get("step")) == ("-1", "1.5", "any")

    def test_without_max(self):
        assert control(field("Slider", 1)).get("max") == "100"


class TestChoicePicker:
    OPTIONS = ({"label": "A & B", "value": "a"}, {"label": path("/l"), "value": "b"})

    def picker(self, value, **more):
        element = field("ChoicePicker", value, options=list(self.OPTIONS), **more)
        return element, [e for e in element.iter("input") if e.get("type") != "search"]

    def test_one(self):
        element, inputs = self.picker(["b"])

        assert (element.tag, element[0].tag, element.get("data-in")) == ("fieldset", "legend", "choice")
        assert [(e.get("type"), e.get("value"), "checked" in e.attrib) for e in inputs] == [
            ("radio", "a", False),
            ("radio", "b", True),
        ]
        assert {e.get("name") for e in inputs} == {"a1-0"}

    def test_several(self):
        element, inputs = self.picker(["a", "b", "gone"], variant="multipleSelection")

        assert element.get("data-in") == "choices"
        assert ["checked" in e.attrib for e in inputs] == [True, True]

    @pytest.mark.parametrize("value", [None, 5, {}, ["x"], [["a"]], ""])
    def test_nothing_chosen(self, value):
        assert not [e for e in self.picker(value)[1] if "checked" in e.attrib]

    def test_plain_text_counts_as_a_list_of_it(self):
        assert [e.get("value") for e in self.picker("a")[1] if "checked" in e.attrib] == ["a"]

    def test_chips_and_filter(self):
        element, _ = self.picker([], displayStyle="chips", filterable=True)

        assert [e.get("class") for e in element.iter("label")] == ["a2-chip", "a2-chip"]
        assert [e for e in element.iter("input") if "data-filter" in e.attrib]

    def test_equal_values_are_one_option(self):
        element = field(
            "ChoicePicker", [], options=[{"label": "1", "value": "a"}, {"label": "2", "value": "a"}]
        )

        assert len(list(element.iter("input"))) == 1


class TestDateTimeInput:
    ZONE = timezone(timedelta(hours=-7))

    @pytest.mark.parametrize(
        ("flags", "value", "kind", "shown"),
        [
            ({"enableDate": True}, "2026-01-15", "date", "2026-01-15"),
            ({"enableDate": True}, "2026-01-15T03:00:00Z", "date", "2026-01-14"),
            ({"enableTime": True}, "09:05:00", "time", "09:05"),
            ({"enableTime": True}, "2026-06-17T14:30:00Z", "time", "07:30"),
            ({}, "2026-06-17T14:30:00Z", "datetime-local", "2026-06-17T07:30"),
            ({}, "2026-06-17T09:05", "datetime-local", "2026-06-17T09:05"),
            ({}, "2026-06-17", "datetime-local", "2026-06-17T00:00"),
            ({"enableDate": True, "enableTime": True}, 0, "datetime-local", "1969-12-31T17:00"),
            ({"enableDate": True}, "soon", "date", ""),
            ({"enableDate": True}, "2026-02-30", "date", ""),
            ({"enableDate": True}, None, "date", ""),
            ({"enableDate": True}, {"a": 1}, "date", ""),
        ],
    )
    def test_value(self, flags, value, kind, shown):
        found = control(field("DateTimeInput", value, self.ZONE, **flags))

        assert (found.get("type"), found.get("value")) == (kind, shown)

    def test_bounds(self):
        found = control(field("DateTimeInput", "", enableDate=True, min="2026-01-01T10:00", max="soon"))

        assert (found.get("min"), found.get("max")) == ("2026-01-01", None)
