"""What a browser sends for inputs, checked against the input that is really there (rulebook section 12)."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest

from a2ui import InputError
from tests.a2ui.programs import call, path, row, surface


def field(kind, bound="/v", **properties):
    return row("root", kind, value=path(bound), **{"label": "L", **properties})


def stored(definition, value, model=None, **options):
    """The model after a person entered the value."""
    surfaces, only = surface(definition, model=model, **options)
    surfaces.apply_edit(surfaces.edit("a1-0", value))
    return only.data_model.get("v")


def refused(definition, value, model=None):
    surfaces, _ = surface(definition, model=model)
    with pytest.raises(InputError) as caught:
        surfaces.edit("a1-0", value)
    return caught.value.code


class TestPatch:
    def test_it_is_returned_and_not_applied(self):
        surfaces, only = surface(field("TextField"), model={"v": "a"})

        edit = surfaces.edit("a1-0", "b")

        assert edit.ops == [{"op": "replace", "path": "/v", "value": "b"}]
        assert (edit.owner, edit.surface_id, edit.component_id, edit.obscured) == ("", "s", "root", False)
        assert only.data_model == {"v": "a"}

    def test_parents_are_created(self):
        surfaces, only = surface(field("TextField", "/a/0/b"))

        surfaces.apply_edit(surfaces.edit("a1-0", "x"))

        assert only.data_model == {"a": [{"b": "x"}]}

    def test_items_of_a_template(self):
        surfaces, only = surface(
            row("root", "List", children={"componentId": "f", "path": "/l"}),
            row("f", "TextField", label="L", value=path("n")),
            model={"l": [{"id": "x", "n": 1}, {"id": "y", "n": 2}]},
        )

        surfaces.apply_edit(surfaces.edit("a1-1-ky", "new"))

        assert only.data_model["l"][1] == {"id": "y", "n": "new"}

    def test_through_a_plain_value(self):
        assert refused(field("TextField", "/a/b"), "x", {"a": 1}) == "DATA_ERROR"

    @pytest.mark.parametrize("value", ["literal", call("formatString", value="x"), None])
    def test_what_is_not_bound_is_not_written(self, value):
        surfaces, only = surface(row("root", "TextField", label="L", value=value))
        assert "data-in" not in only.html()

        with pytest.raises(InputError) as caught:
            surfaces.edit("a1-0", "x")

        assert caught.value.code == "not_writable"

    @pytest.mark.parametrize("target", ["a1-1", "a1-7", "a2-0", "nonsense"])
    def test_what_is_no_field(self, target):
        surfaces, _ = surface(row("root", "Card", child="t"), row("t", "Text", text=path("/v")))

        with pytest.raises(InputError) as caught:
            surfaces.edit(target, "x")

        assert caught.value.code == "not_found"


class TestTextField:
    def test_text(self):
        assert stored(field("TextField"), " a\n") == " a\n"

    @pytest.mark.parametrize("value", [5, True, None, ["x"], {}])
    def test_only_text(self, value):
        assert refused(field("TextField"), value) == "VALIDATION_FAILED"

    def test_too_long(self):
        assert refused(field("TextField"), "x" * 100_001) == "budget_exceeded"

    @pytest.mark.parametrize(
        ("typed", "kept"), [("12", "12"), ("-1.5", "-1.5"), ("1e3", "1e3"), ("", ""), ("  ", "")]
    )
    def test_numbers_are_kept_as_text(self, typed, kept):
        assert stored(field("TextField", variant="number"), typed, {"v": "3"}) == kept

    @pytest.mark.parametrize(
        "typed", ["2abc", "1,5", "NaN", "1e999", "Infinity", "\uff11\uff12", "0x10", "--1"]
    )
    def test_no_numbers(self, typed):
        assert refused(field("TextField", variant="number"), typed) == "VALIDATION_FAILED"


class TestObscured:
    ROWS = (
        row("root", "Column", children=["f", "t", "b"]),
        row(
            "f",
            "TextField",
            label="Password",
            variant="obscured",
            value=path("/p"),
            checks=[{"condition": call("length", value=path("/p"), min=8), "message": "Too short"}],
        ),
        row("t", "Text", text=call("formatString", value="It is ${/p}")),
        row("b", "Button", child="t", action={"event": {"name": "go", "context": {"p": path("/p")}}}),
    )

    def test_the_value_never_reaches_the_page_or_the_patch(self):
        known = {}

        def conceal(value):
            known["t1"] = value
            return {"$secret": "t1"}

        surfaces, only = surface(*self.ROWS, reveal=lambda handle: known[handle["$secret"]])
        edit = surfaces.edit("a1-1", "hunter22", conceal=conceal)
        surfaces.apply_edit(edit)

        assert edit.obscured
        assert edit.ops == [{"op": "add", "path": "/p", "value": {"$secret": "t1"}}]
        html = only.html()
        assert "hunter22" not in html
        assert "It is ••••••" in html
        assert 'type="password" autocomplete="off" value="" placeholder="••••••"' in html
        assert "Too short" not in html
        assert surfaces.act("a1-3").message["action"]["context"] == {"p": {"$secret": "t1"}}

    def test_checks_judge_the_real_value(self):
        _, only = surface(*self.ROWS, model={"p": {"$secret": "x"}}, reveal=lambda _: "short")

        assert "Too short" in only.html()

    def test_a_value_in_the_clear_is_not_echoed(self):
        surfaces, only = surface(self.ROWS[1] | {"id": "root"}, model={"p": "hunter2"})

        assert "hunter2" not in only.html()
        assert surfaces.edit("a1-0", "x").obscured

    def test_another_field_with_the_same_path_is_obscured_as_well(self):
        rows = [
            row("root", "Column", children=["o", "p", "l"]),
            row("o", "TextField", label="P", variant="obscured", value=path("/l/0/p")),
            row("p", "TextField", label="Plain", value=path("/l/0/p")),
            row("l", "List", children={"componentId": "i", "path": "/l"}),
            row("i", "TextField", label="Item", value=path("p")),
        ]
        surfaces, _ = surface(*rows, model={"l": [{"id": "x", "p": ""}]})

        for target in ("a1-2", "a1-4-kx"):
            edit = surfaces.edit(target, "hunter22", conceal=lambda _: {"$secret": "t"})
            assert edit.obscured
            assert "hunter22" not in str(edit.ops)

    def test_an_empty_field_holds_no_secret(self):
        surfaces, _ = surface(*self.ROWS, model={"p": {"$secret": "x"}})

        assert surfaces.edit("a1-1", "", conceal=lambda _: 1 / 0).ops[0]["value"] == ""


class TestOthers:
    @pytest.mark.parametrize("value", [True, False])
    def test_check_box(self, value):
        assert stored(field("CheckBox"), value) is value

    @pytest.mark.parametrize("value", ["true", 1, None, []])
    def test_check_box_takes_nothing_else(self, value):
        assert refused(field("CheckBox"), value) == "VALIDATION_FAILED"

    @pytest.mark.parametrize(("value", "kept"), [(5, 5), (2.5, 2.5), (7.0, 7), (0, 0), (10, 10)])
    def test_slider(self, value, kept):
        found = stored(field("Slider", max=10), value)

        assert found == kept
        assert type(found) is type(kept)

    @pytest.mark.parametrize("value", [-1, 11, "5", True, float("nan"), float("inf"), None])
    def test_slider_takes_nothing_else(self, value):
        assert refused(field("Slider", max=10), value) == "VALIDATION_FAILED"


class TestChoicePicker:
    OPTIONS = ({"label": "A", "value": "a"}, {"label": "B", "value": "b"}, {"label": "C", "value": "c\u200b"})

    def picker(self, **properties):
        return field("ChoicePicker", options=list(self.OPTIONS), **properties)

    @pytest.mark.parametrize(("value", "kept"), [(["a"], ["a"]), ([], []), (["c"], ["c\u200b"])])
    def test_one(self, value, kept):
        assert stored(self.picker(variant="mutuallyExclusive"), value) == kept

    def test_several_in_the_order_of_the_options(self):
        assert stored(self.picker(variant="multipleSelection"), ["b", "a"]) == ["a", "b"]

    def test_values_that_are_no_option_stay(self):
        picker = self.picker(variant="multipleSelection")

        assert stored(picker, ["b"], {"v": ["old", "a"]}) == ["old", "b"]

    @pytest.mark.parametrize("value", [["x"], ["a", "x"], "a", [1], None, {}])
    def test_refused(self, value):
        assert refused(self.picker(variant="multipleSelection"), value) == "VALIDATION_FAILED"

    def test_two_for_one(self):
        assert refused(self.picker(variant="mutuallyExclusive"), ["a", "b"]) == "VALIDATION_FAILED"


class TestDateTimeInput:
    ZONE = timezone(timedelta(hours=-7))

    @pytest.mark.parametrize(
        ("flags", "value"),
        [
            ({"enableDate": True}, "2026-02-28"),
            ({"enableTime": True}, "09:05"),
            ({"enableDate": True, "enableTime": True}, "2026-02-28T09:05"),
            ({}, "2026-02-28T09:05"),
            ({"enableDate": True}, ""),
        ],
    )
    def test_as_entered(self, flags, value):
        assert stored(field("DateTimeInput", **flags), value) == value

    @pytest.mark.parametrize(
        ("flags", "value"),
        [
            ({"enableDate": True}, "2026-02-30"),
            ({"enableDate": True}, "2026-02-28T09:05"),
            ({"enableTime": True}, "25:00"),
            ({"enableTime": True}, "2026-02-28"),
            ({}, "soon"),
            ({}, 5),
            ({}, "2026-02-28T09:05Z"),
            ({"enableDate": True, "min": "2026-03-01"}, "2026-02-28"),
            ({"enableDate": True, "max": "2026-01-01"}, "2026-02-28"),
        ],
    )
    def test_refused(self, flags, value):
        assert refused(field("DateTimeInput", **flags), value) == "VALIDATION_FAILED"

    @pytest.mark.parametrize(
        ("flags", "value", "kept"),
        [
            ({}, "2026-06-17T08:00", "2026-06-17T08:00:00-07:00"),
            ({"enableDate": True}, "2026-06-20", "2026-06-20T07:30:00-07:00"),
            ({"enableTime": True}, "10:15", "2026-06-17T10:15:00-07:00"),
        ],
    )
    def test_an_instant_stays_one(self, flags, value, kept):
        model = {"v": "2026-06-17T14:30:00Z"}

        assert stored(field("DateTimeInput", **flags), value, model, timezone=self.ZONE) == kept
