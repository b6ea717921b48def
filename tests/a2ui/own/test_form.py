"""Forms: native constraints, what is wrong beside its field, values that are looked at again before they are sent."""

from __future__ import annotations

import re

import pytest

from a2ui import ActionError, ComponentTarget, InputError
from a2ui.catalog.beach.fields import Field
from tests.a2ui.own import BEACH_CATALOG, engine, html, made, only, ops
from tests.a2ui.programs import call, components, create, data, path, row

EVENT = {"event": {"name": "book", "context": {"trip": path("/trip")}}}
FIELDS = [
    {"id": "name", "label": "Name", "required": True, "hint": "As in the passport", "placeholder": "Ines"},
    {"id": "mail", "label": path("/words"), "type": "email"},
    {"id": "seats", "label": "Seats", "type": "number", "min": 1, "max": 9, "step": 2, "default": 3},
    {"id": "day", "label": "Day", "type": "date", "min": "2026-01-01", "max": "2026-12-31"},
    {"id": "class", "label": "Class", "type": "select", "options": ["eco", {"value": "biz", "label": "Business"}]},
    {"id": "terms", "label": "Terms", "type": "checkbox", "required": True},
    {"id": "note", "label": "Note", "type": "longText"},
]  # fmt: skip
MODEL = {"trip": "Corfu", "words": "E-mail"}
AT = {field["id"]: f"a1-0-xf{at}" for at, field in enumerate(FIELDS)}


def form(*fields, **more):
    listed = list(fields) or FIELDS
    return row("root", "Form", fields=listed, value=path("/form"), action=EVENT, **more)


def shown_form(model=None, **options):
    surfaces = made(form(), model={**MODEL, **(model or {})}, **options)
    surfaces.flush()
    return surfaces


def enter(surfaces, **values):
    for name, value in values.items():
        surfaces.apply_edit(surfaces.edit(AT[name], value))


def errors(surfaces):
    """What is said beside each field that is wrong."""
    found = re.findall(
        r'<div class="a2-errors" id="(\S+)-xe" aria-live="polite"><p class="a2-error">.*?<span>(.*?)</span>',
        only(surfaces).html(),
    )
    names = {target: name for name, target in AT.items()}
    return {names[target]: said for target, said in found}


@pytest.mark.parametrize("version", ["0.9", "1.0"])
def test_controls_have_their_labels_hints_and_native_constraints(version):
    page = html(form(title="Your trip", submitLabel="Book"), model=MODEL, version=version)

    assert (
        '<div class="a2-form" role="form" aria-label="Your trip"><h3 class="a2-h a2-h4">Your trip</h3>'
        in page
    )
    assert (
        '<input id="a1-0-xf0-xi" class="a2-input" type="text" dir="auto" placeholder="Ines" value=""'
        ' aria-describedby="a1-0-xf0-xh" required>' in page
    )
    assert '<label class="a2-label" for="a1-0-xf1-xi">E-mail</label>' in page
    assert 'type="number" inputmode="decimal" min="1" max="9" step="2" placeholder=" " value="3"' in page
    assert 'type="date" min="2026-01-01" max="2026-12-31"' in page
    assert '<option value="" selected>Choose</option><option value="eco">eco</option>' in page
    assert re.search(r'<button id="a1-0-xs" class="a2-btn a2-btn--primary" type="button" data-act', page)
    assert 'role="status">Still needed: Name, Terms</p>' in page


def test_edits_are_patches_of_the_data_and_redraw_their_field_alone():
    surfaces = shown_form()
    edit = surfaces.edit(AT["seats"], "5")
    assert edit.ops == [{"op": "add", "path": "/form", "value": {"seats": 5}}]
    surfaces.apply_edit(edit)

    assert [re.search(r"#(\S+?)\"", op[1])[1] for op in ops(surfaces)] == [AT["seats"]]
    assert surfaces.edit(AT["terms"], True).ops == [{"op": "add", "path": "/form/terms", "value": True}]


def test_what_is_wrong_is_said_beside_its_field_once_somebody_was_there():
    surfaces = shown_form()
    assert errors(surfaces) == {}

    enter(surfaces, name=" ", mail="me", seats="4", day="2027-01-01", terms=False)
    assert errors(surfaces) == {
        "name": "This is required.",
        "mail": "This is not an e-mail address.",
        "seats": "Give a multiple of 2, counted from 1.",
        "day": "Choose 2026-12-31 or earlier.",
        "terms": "This is required.",
    }
    enter(surfaces, seats="11")
    assert errors(surfaces)["seats"] == "Give 9 or less."


@pytest.mark.parametrize(
    ("name", "value"),
    [("seats", "two"), ("seats", True), ("class", "first"), ("terms", "yes"), ("name", 5), ("note", ["x"])],
)
def test_what_can_be_no_value_is_refused(name, value):
    with pytest.raises(InputError):
        shown_form().edit(AT[name], value)


def test_it_is_sent_when_all_is_right_with_typed_values():
    surfaces = shown_form()
    with pytest.raises(ActionError, match=r"^Name: This is required\. Terms: This is required\.$") as refused:
        surfaces.act("a1-0-xs")
    assert refused.value.code == "invalid"

    enter(surfaces, name="Ines", seats="", day="2026-03-04", terms=True, **{"class": "biz"})
    sent = surfaces.act("a1-0-xs")

    assert (sent.name, sent.label, sent.target) == ("book", "Send", "a1-0-xs")
    assert sent.message["action"]["sourceComponentId"] == "root"
    assert sent.message["action"]["context"] == {
        "trip": "Corfu",
        "values": {
            "name": "Ines", "mail": "", "seats": None, "day": "2026-03-04", "class": "biz", "terms": True, "note": "",
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data_of_form", "complaint"),
    [
        ({"seats": "many"}, "Seats: This is not a number."),
        ({"seats": 0}, "Seats: Give 1 or more."),
        ({"class": "first"}, "Class: This is not one of the options."),
        ({"day": "soon"}, "Day: This is not a date."),
        ({"mail": ["x"]}, "E-mail: This is not an e-mail address."),
        ({"name": {"a": 1}}, "Name: This is not a text."),
        ({"terms": "yes"}, "Terms: This is ticked or not."),
    ],
)
def test_values_are_looked_at_again_wherever_they_come_from(data_of_form, complaint):
    right = {"name": "Ines", "terms": True}
    surfaces = shown_form({"form": {**right, **data_of_form, "unknown": "x"}})

    with pytest.raises(ActionError, match=complaint):
        surfaces.act("a1-0-xs")
    surfaces.apply(data(right, "/form"))
    assert "unknown" not in surfaces.act("a1-0-xs").message["action"]["context"]["values"]


def test_who_has_no_page_names_the_form():
    surfaces = shown_form()
    form_itself = ComponentTarget("", "s", "root")
    surfaces.apply_edit(surfaces.edit(form_itself, {"name": "Ines", "terms": True, "seats": 5}))

    assert surfaces.act(form_itself).message["action"]["context"]["values"]["seats"] == 5
    with pytest.raises(InputError, match="by the ids of its fields"):
        surfaces.edit(form_itself, {"other": 1})


def test_checks_of_its_own_hold_the_button_back():
    checks = [{"condition": call("required", value=path("/ok")), "message": "Not yet"}]
    surfaces = made(form({"id": "a", "label": "A"}, checks=checks), model={"ok": ""})
    (change,) = surfaces.flush()
    assert 'data-act disabled title="Not yet"' in change.html

    with pytest.raises(ActionError, match="Not yet"):
        surfaces.act("a1-0-xs")
    surfaces.apply(data("yes", "/ok"))
    ((_, markup),) = ops(surfaces)
    assert 'hx-target="#a1-0-xs"' in markup
    assert "disabled" not in markup
    assert surfaces.act("a1-0-xs").name == "book"


def test_in_a_list_each_item_has_its_form():
    surfaces = made(
        row("root", "List", children={"componentId": "f", "path": "/people"}),
        row(
            "f",
            "Form",
            fields=[{"id": "n", "label": "N"}],
            value=path("answer"),
            action={"event": {"name": "go"}},
        ),
        model={"people": [{"id": "a"}, {"id": "b"}]},
    )
    surfaces.flush()
    surfaces.apply_edit(surfaces.edit("a1-1-kb-xf0", "x"))

    assert only(surfaces).data_model == {"people": [{"id": "a"}, {"id": "b", "answer": {"n": "x"}}]}
    assert surfaces.act("a1-1-kb-xs").message["action"]["context"] == {"values": {"n": "x"}}


def test_what_is_wrong_with_a_definition_is_told_with_its_place():
    surfaces = engine().surfaces()
    surfaces.apply(create(catalogId=BEACH_CATALOG.id))
    fields = [
        {"id": "1x", "label": "A"},
        {"id": "__proto__", "label": "A"},
        {"id": "b", "label": 5.5, "type": "password"},
        {"id": "b", "label": "B", "min": 1},
        {"id": "n", "label": "N", "type": "number", "min": 9, "max": 1, "step": -1, "default": "x"},
        {"id": "s", "label": "S", "type": "select", "options": ["a", "a", 3]},
        {"id": "d", "label": "D", "type": "date", "min": "soon"},
    ]
    row_of_it = row("root", "Form", fields=fields, value="x", action=EVENT)
    found = [problem.path for problem in surfaces.apply(components(row_of_it))]

    assert [one.removeprefix("/components/0/") for one in found] == [
        "fields/0/id", "fields/1/id", "fields/2/type", "fields/3/min", "fields/4/max", "fields/4/step",
        "fields/4/default", "fields/5/options/1", "fields/5/options/2", "fields/6/min", "fields", "value",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("step", "least", "value", "wrong"),
    [
        (10**400, 0, 5, True),
        (10**400, 0, 3 * 10**400, False),
        (5e-324, -1e308, 1e308, False),
        (1e308, -1e308, 1e308, False),
        (3, 1, 10**30 + 1, True),
        (3, 1, 1 + 3 * 10**30, False),
        (0.1, 0, 0.3, False),
        (0.1, 0, 0.35, True),
    ],
)
def test_steps_of_any_size_are_counted(step, least, value, wrong):
    field = Field("n", "N", "number", min=least, step=step)
    assert bool(field.problem(value, engine().options.env)) == wrong
