"""Checks and their results (section 6 of the reading of 1.0)."""

from __future__ import annotations

import pytest

from a2ui import ActionError
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.catalog.icons import UI_ALERT, UI_INFO, UI_WARNING
from tests.a2ui.page import parse
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import TEXT, fed, made, node, said


def checked(*checks, kind="TextField", **props):
    given = (
        {"label": "L", "value": {"@path": "/v"}}
        if kind != "Button"
        else {"child": "t", "action": {"event": {"name": "go"}}}
    )
    return made(row("root", kind, **given, **props, **{"@checks": list(checks)}), TEXT, dataModel=MODEL)  # fmt: skip


MODEL = {
    "v": "",
    "bad": {"valid": False, "code": "X", "message": "From data", "severity": "warning"},
    "info": {"valid": False, "severity": "info"},
    "good": {"valid": True, "message": "unused"},
    "odd": {"valid": "yes", "message": "unused"},
}


REQUIRED = {"@call": "required", "args": {"value": {"@path": "/v"}}}


class TestChecks:
    @pytest.mark.parametrize(
        ("check", "said", "severity"),
        [
            ({"condition": REQUIRED, "message": "Fill in"}, "Fill in", "error"),
            ({"condition": REQUIRED}, "This value is not valid.", "error"),
            ({"condition": {"@path": "/bad"}, "message": "Rule"}, "From data", "warning"),
            ({"condition": {"@path": "/info"}, "message": "Rule"}, "Rule", "info"),
            ({"condition": {"@path": "/odd"}, "message": "Rule"}, "Rule", "error"),
            ({"condition": {"@path": "/none"}, "message": "Rule"}, "Rule", "error"),
            (
                {"condition": {"@call": "email", "args": {"value": "x"}}},
                "Please enter a valid email address (e.g. user@example.com).",
                "error",
            ),
            (
                {
                    "condition": {"@call": "and", "args": {"values": [True, {"@path": "/bad"}]}},
                    "message": "Both",
                },
                "Both",
                "error",
            ),
        ],
    )
    def test_what_fails_and_what_is_said(self, check, said, severity):
        surfaces, problems = fed(checked(check))

        assert not problems
        assert node(surfaces, "root")["props"] | {"label": "", "value": ""} == {
            "label": "", "value": "", "isValid": False, "validationErrors": [said], "severities": [severity],
        }  # fmt: skip
        drawn = {"error": UI_ALERT, "warning": UI_WARNING, "info": UI_INFO}[severity]
        assert f"{drawn}<span>{said}</span>" in surfaces.flush()[0].html

    @pytest.mark.parametrize(
        "condition",
        [
            {"@path": "/good"},
            {"@call": "not", "args": {"value": {"@path": "/bad"}}},
            {"@call": "or", "args": {"values": [{"@path": "/bad"}, {"@path": "/good"}]}},
            {"@call": "length", "args": {"value": {"@path": "/v"}, "max": 3}},
        ],
    )
    def test_what_passes(self, condition):
        surfaces, _ = fed(checked({"condition": condition, "message": "no"}))

        assert node(surfaces, "root")["props"]["isValid"] is True
        assert ">no<" not in surfaces.flush()[0].html

    def test_several_come_in_order_each_with_its_look(self):
        surfaces, _ = fed(
            checked({"condition": REQUIRED, "message": "First"}, {"condition": {"@path": "/bad"}})
        )
        html = surfaces.flush()[0].html

        assert html.index("First") < html.index("From data")
        assert 'aria-invalid="true"' in html
        assert '<p class="a2-error" role="alert">' in html
        assert '<p class="a2-error a2-error--warning" role="status">' in html

    def test_a_warning_alone_does_not_make_a_field_invalid(self):
        html = fed(checked({"condition": {"@path": "/bad"}}))[0].flush()[0].html

        assert "aria-invalid" not in html
        assert 'aria-describedby="a1-0-xe"' in html

    def test_whatever_fails_holds_a_button(self):
        surfaces, _ = fed(checked({"condition": {"@path": "/bad"}}, kind="Button"))
        html = surfaces.flush()[0].html
        assert " disabled" in html
        assert '>Go</span><span class="a2-why" id="a1-0-xw">From data</span></button>' in html
        with pytest.raises(ActionError, match="From data"):
            surfaces.act("a1-0")

        surfaces.apply(said("updateDataModel", path="/bad", value={"valid": True}))
        surfaces.flush()
        assert surfaces.act("a1-0").name == "go"

    def test_errors_that_hold_a_button_are_its_title_since_fields_say_them(self):
        surfaces, _ = fed(
            checked({"condition": {"@path": "/bad"}}, {"condition": REQUIRED, "message": "No"}, kind="Button")
        )
        html = surfaces.flush()[0].html

        assert ' disabled title="From data; No"' in html
        assert "a2-why" not in html

    def test_a_button_whose_name_is_given_says_beside_it_why_it_is_held(self):
        message = checked({"condition": {"@path": "/bad"}}, kind="Button")
        message["createSurface"]["components"][0]["@accessibility"] = {"label": "Send it"}

        assert 'disabled aria-describedby="a1-0-xw" aria-label="Send it"' in fed(message)[0].flush()[0].html

    def test_a_result_is_as_true_as_it_is_valid(self):
        surfaces, _ = fed(
            made(
                row("root", "Row", children=["a", "b"]),
                row("a", "CheckBox", label="A", value={"@path": "/bad"}),
                row("b", "CheckBox", label="B", value={"@path": "/good"}),
                dataModel=MODEL,
            )
        )
        boxes = list(parse(surfaces.flush()[0].html)[0].iter("input"))

        assert ["checked" in box.attrib for box in boxes] == [False, True]

    def test_in_0_9_an_object_is_as_good_as_true(self):
        rows = [
            row("root", "TextField", label="L", checks=[{"condition": {"path": "/bad"}, "message": "no"}])
        ]
        surfaces, _ = fed(
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC_CATALOG.id}},
            {"version": "v0.9", "updateDataModel": {"surfaceId": "s", "value": MODEL}},
            {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": rows}},
        )

        assert node(surfaces, "root")["props"] == {"label": "L", "isValid": True, "validationErrors": []}
