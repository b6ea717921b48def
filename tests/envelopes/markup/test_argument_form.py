"""The form of a call's arguments: one input a value, read back exactly, wrong ones named where they stand."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from envelopes.approvals.input_words import in_words
from envelopes.errors import ValidationFailed
from envelopes.markup.argument_form import MOST_INPUTS, ArgumentForm
from envelopes.markup.argument_inputs import drawn
from envelopes.registries.shown import Shown
from envelopes.registries.tools import Tool
from envelopes.turns.reply import checked_args


class Cabin(StrEnum):
    COACH = "coach"
    FIRST = "first"


class Traveller(BaseModel):
    name: str = Field(title="Full name")
    age: int | None = None


class Trip(BaseModel):
    flight: str = Field(title="Flight")
    day: date = date(2027, 8, 15)
    cabin: Annotated[Cabin, Shown(words={"coach": "Economy", "first": "First class"})] = Cabin.COACH
    meals: Literal["none", "all"] | None = None
    window: bool = False
    tickets: int = Field(2, title="Tickets", ge=1, le=9)
    weight: float = 7.5
    price: Decimal = Decimal("188.00")
    note: str = ""
    tags: list[str] = []
    travellers: list[Traveller] = []
    extra: dict[str, Any] = {}


async def _run(context: object, args: Trip) -> None: ...


TRIP = Tool("trip", "Books.", Trip, _run)
ARGS = checked_args(
    TRIP,
    {
        "flight": "NV 418",
        "tags": ["work", "sun"],
        "travellers": [{"name": "Ada"}, {"name": "Bo", "age": 7}],
        "extra": {},
        "note": "two\nlines",
    },
)


def form(args: dict[str, Any] | None = None) -> ArgumentForm:
    return ArgumentForm.of(TRIP.definition()["input_schema"], TRIP.fields, args or ARGS)


def sent(**by_pointer: str) -> dict[str, str]:
    """What a browser sends: the texts of all inputs, with some of them changed. ``a__0__b`` stands for /a/0/b."""
    names = {"__".join(str(step) for step in one.where): one for one in form().inputs}
    # Browsers send line breaks as two characters.
    texts = {one.name: one.text.replace("\n", "\r\n") for one in names.values()}
    return texts | {names[where].name: text for where, text in by_pointer.items()}


def test_each_value_has_an_input_of_its_kind() -> None:
    kinds = {"/".join(str(step) for step in one.where): one.kind for one in form().inputs}

    assert kinds == {
        "flight": "text",
        "day": "date",
        "cabin": "choice",
        "meals": "choice",
        "window": "choice",
        "tickets": "integer",
        "weight": "number",
        "price": "text",
        "note": "long",
        "tags": "lines",
        "travellers/0/name": "text",
        "travellers/0/age": "integer",
        "travellers/1/name": "text",
        "travellers/1/age": "integer",
        "extra": "json",
    }


def test_optional_is_what_may_be_left_empty() -> None:
    assert {one.where[-1] for one in form().inputs if not one.required} == {"meals", "note", "tags", "age"}


def test_what_was_not_touched_comes_back_exactly() -> None:
    found = form().read(sent())

    assert found.args == ARGS and not any(one.is_changed for one in found.inputs)


def test_what_was_changed_is_read_as_what_it_is() -> None:
    found = form().read(
        sent(
            day="2027-08-16", cabin="1", meals="0", window="0", tickets="1", weight="8.25", price="97.00",
            note="", tags="work\r\n\r\n moon ", travellers__0__age="30", travellers__1__age="", extra='{"a": [1]}',
        )
    )  # fmt: skip

    assert found.is_readable
    assert checked_args(TRIP, found.args) == found.args
    assert found.args == ARGS | {
        "day": "2027-08-16",
        "cabin": "first",
        "meals": "none",
        "window": True,
        "tickets": 1,
        "weight": 8.25,
        "price": "97.00",
        "note": "",
        "tags": ["work", "moon"],
        "travellers": [{"name": "Ada", "age": 30}, {"name": "Bo", "age": None}],
        "extra": {"a": [1]},
    }
    assert ARGS["tickets"] == 2, "the arguments of before are left alone"


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("tickets", "two"),
        ("tickets", "1.5"),
        ("tickets", "true"),
        ("weight", "7,5"),
        ("weight", "NaN"),
        ("cabin", "9"),
        ("cabin", "-1"),
        ("extra", "{"),
    ],
)
def test_what_cannot_be_read_says_so_and_stays(where: str, text: str) -> None:
    found = form().read(sent(**{where: text}))
    (wrong,) = [one for one in found.inputs if one.error]

    assert not found.is_readable
    assert (wrong.where, wrong.text) == ((where,), text)
    assert found.args == ARGS


def test_what_the_tool_refuses_stands_at_its_value() -> None:
    read = form().read(sent(tickets="99", travellers__1__name=""))
    with pytest.raises(ValidationFailed) as refused:
        checked_args(TRIP, read.args | {"travellers": [{"name": 3}]}, said=in_words)
    found = read.refused(refused.value)
    errors = {one.where: one.error for one in found.inputs if one.error}

    assert errors == {("tickets",): "Enter 9 or less.", ("travellers", 0, "name"): "Enter text."}
    html = drawn(found)
    assert 'aria-invalid="true" autofocus' in html and html.count("autofocus") == 1
    assert "Was 2" in html


def test_what_is_about_no_value_stands_above() -> None:
    found = form().refused(ValidationFailed("Nothing has been changed.", path=""))

    assert found.general == "Nothing has been changed."
    assert '<p class="a2-error" role="alert">' in drawn(found)


def test_nothing_that_was_sent_is_markup() -> None:
    bad = "<script>alert(1)</script>\n</textarea>"
    html = drawn(form({**ARGS, "flight": bad, "note": f"\n{bad}", "extra": {bad: bad}, bad: bad}))

    assert "<script" not in html
    assert html.count("</textarea>") == html.count("<textarea")


def test_a_call_with_very_many_values_is_one_text() -> None:
    many = {**ARGS, "travellers": [{"name": str(number), "age": None} for number in range(MOST_INPUTS)]}
    (one,) = form(many).inputs

    assert one.kind == "json"
    assert form(many).read({one.name: '{"flight": "X"}'}).args == {"flight": "X"}
