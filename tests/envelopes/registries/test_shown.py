"""What a tool's author declares of its arguments, as it is stored with every question."""

from __future__ import annotations

import json
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal, Optional
from uuid import uuid4

import pytest
from babel import Locale
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel

from envelopes.markup.facts import facts
from envelopes.registries.shown import Declared, Shown, declare
from envelopes.registries.tools import Tool
from envelopes.turns.reply import checked_args
from envelopes.types import Json, JsonObject


class Class(Enum):
    FIRST = "1"
    SECOND = "2"


class Person(BaseModel):
    full_name: str
    born: date | None = None
    friends: list[Person] = []


class Trip(BaseModel):
    flight: str = Field(title="Flight", alias="flightNumber")
    day: Annotated[date, Field(title="Day"), Shown(beside="flight")]
    leaves: datetime
    total: Annotated[int, Field(gt=0), Shown(currency="currency", sum=True)]
    currency: str = Field(pattern="^[A-Z]{3}$")
    tickets: Annotated[int, Shown(unit=("ticket", "tickets"))] = 1
    seat: Literal["aisle", "window"] = "aisle"
    travel_class: Class = Class.SECOND
    meal: Annotated[Literal["v", "n"], Shown(words={"v": "Vegetarian", "n": "None"})] = "n"
    people: list[Person] = []
    tags: Optional[list[str]] = None  # noqa: UP045 - the older way to write it has to work too
    either: int | str = 0
    token: str = Field(default_factory=lambda: uuid4().hex)
    rest: dict[str, Any] = {}


def fields() -> dict[tuple[str | None, ...], Declared]:
    found = [Declared.load(item) for item in json.loads(json.dumps(declare(Trip)))]
    return {item.path: item for item in found if item is not None}


def test_types_say_formats_and_markers_say_the_rest() -> None:
    found = fields()
    assert found["flightNumber",].title == "Flight"
    assert (found["day",].format, found["day",].beside) == ("date", "flightNumber")
    assert found["leaves",].format == "datetime"
    assert (found["total",].format, found["total",].currency, found["total",].sum) == (
        "money",
        "currency",
        True,
    )
    assert (found["tickets",].unit, found["tickets",].default) == (("ticket", "tickets"), (1,))
    assert found["seat",].format == found["travel_class",].format == "text"
    assert found["travel_class",].default == ("2",)
    assert found["meal",].words == {"v": "Vegetarian", "n": "None"}
    assert (found["tags",].format, found["tags", None].format) == ("list", "text")
    assert found["either",].format == found["rest",].format == "any"


def test_a_field_without_a_title_is_called_by_its_name_in_words() -> None:
    assert fields()["travel_class",].title == "Travel class"


def test_models_inside_of_models_are_declared_once() -> None:
    found = fields()
    assert found["people", None, "full_name"].title == "Full name"
    assert found["people", None, "born"].default == (None,)
    assert ("people", None, "friends", None, "full_name") not in found


def test_what_a_factory_makes_is_no_default_that_can_be_told() -> None:
    assert fields()["token",].default is None
    assert fields()["token",].required is False


def test_a_declaration_survives_its_way_through_the_log_and_junk_is_passed_over() -> None:
    for stored in declare(Trip):
        loaded = Declared.load(json.loads(json.dumps(stored)))
        assert loaded is not None and loaded.dump() == stored
    for junk in (None, 1, {}, {"path": [], "title": "x"}, {"path": [1], "title": "x"}, {"path": ["a"]}):
        assert Declared.load(junk) is None


class ReadAs(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)
    amount: Annotated[int, Shown(currency="code")] = Field(5, validation_alias="amt")
    code: str = Field("GBP", validation_alias="currency")


class ReadAsAny(BaseModel):
    amount: Annotated[int, Shown(currency="code")] = Field(
        5, validation_alias=AliasChoices("amt", "sum", "a"), serialization_alias="amt"
    )
    code: str = Field("GBP", alias="currency")


class Generated(BaseModel):
    model_config = ConfigDict(alias_generator=str.upper, validate_by_name=True)
    amount: Annotated[int, Shown(currency="code")] = 5
    code: str = "GBP"


async def _run(context: object, args: object) -> Json:
    return None


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        (ReadAs, {"amt": 4000}),
        (ReadAs, {"amount": 4000}),
        (ReadAsAny, {"sum": 4000}),
        (ReadAsAny, {"amt": 4000}),
        (Generated, {"AMOUNT": 4000}),
        (Generated, {"amount": 4000}),
    ],
)
def test_a_field_is_shown_with_what_runs_whatever_name_it_was_sent_under(
    model: type[BaseModel], sent: JsonObject
) -> None:
    """Its default beside the value as that of a stranger would show another call than the one that runs."""
    tool = Tool("pay", "Pays", model, _run)
    found = facts(tool.fields, checked_args(tool, sent), Locale.parse("en_GB"))
    assert [[label.text for label in row.label] for row in found.rows] == [["Amount"]]
    assert [(fact.text, fact.default) for fact in found.rows[0].facts] == [("£4,000.00", False)]
    assert found.strange == ()


class MaybePaid(BaseModel):
    price: Annotated[int, Field(title="Total price"), Shown(currency="GBP", words={})] | None = None


def test_what_is_annotated_inside_of_an_optional_field_holds_as_outside() -> None:
    tool = Tool("pay", "Pays", MaybePaid, _run)
    found = facts(tool.fields, checked_args(tool, {"price": 4000}), Locale.parse("en_GB"))
    assert [[label.text for label in row.label] for row in found.rows] == [["Total price"]]
    assert [fact.text for fact in found.rows[0].facts] == ["£4,000.00"]


class Ids(RootModel[list[int]]):
    pass


class Shares(RootModel[dict[str, int]]):
    pass


class Held(BaseModel):
    ids: Ids
    shares: Annotated[Shares, Field(title="Shares")]


def test_what_a_model_holds_as_its_root_is_declared_in_its_place() -> None:
    tool = Tool("hold", "Holds", Held, _run)
    args = checked_args(tool, {"ids": [1, 2], "shares": {"root": 1, "Ada": 2}})
    found = facts(tool.fields, args, Locale.parse("en_GB"))
    assert [[label.text for label in row.label] for row in found.rows] == [
        ["Ids"],
        ["Shares", "root"],
        ["Shares", "Ada"],
    ]
    assert found.strange == ()
