"""The form that searches the same route again: what is typed shows at once in the sentence above its button."""

from __future__ import annotations

from datetime import date

from babel.numbers import get_currency_symbol

from a2ui.compose import (
    Button,
    CheckBox,
    ChoicePicker,
    Column,
    DateTimeInput,
    Divider,
    Row,
    Slider,
    Surface,
    Text,
    TextField,
    check,
    event,
    fn,
    option,
    path,
    ref,
    update_components,
    update_data,
)
from beachsite.demo import rules
from beachsite.demo.surfaces import build as b
from envelopes.types import JsonObject

_TIMES = (("any", "Any time"), ("morning", "Morning"), ("afternoon", "Afternoon"), ("evening", "Evening"))
REPLACED = "Replaced by a newer search."
INCOMPLETE = "Choose a day that is on sale, and one to nine passengers, to search."


def refine_form(surface: str, results: str, found: JsonObject, today: date) -> list[JsonObject]:
    """A form that is filled with the search it refines; ``results`` is the surface that it will refill.

    It lets nothing through that ``search_flights`` would refuse on the day it was made.
    """
    day = fn.formatDate(path("/form/date"), "yyyyMMdd")
    day_is_set = fn.required(path("/form/date"))
    to_come = fn.numeric(day, min=_number(today))
    on_sale = fn.numeric(day, max=_number(rules.last_day(today)))
    people_fit = fn.regex(path("/form/passengers"), rules.WHOLE_PASSENGERS)
    top = _top(found)
    when = Row(
        DateTimeInput(
            path("/form/date"),
            label="Day",
            enableDate=True,
            checks=[
                check(day_is_set, rules.DAY_MISSING),
                check(b.once_given("/form/date", to_come), rules.DAY_PAST),
                check(b.once_given("/form/date", on_sale), rules.day_too_far(today)),
            ],
            weight=1,
        ),
        TextField(
            "Passengers",
            variant="number",
            value=path("/form/passengers"),
            checks=[check(people_fit, rules.PASSENGERS)],
            weight=1,
        ),
    )
    search = Button(
        Text("Search again"),
        event(
            "refine_search",
            results=results,
            origin=path("/form/origin"),
            destination=path("/form/destination"),
            date=path("/form/date"),
            passengers=path("/form/passengers"),
            time=path("/form/time"),
            maxPrice=path("/form/maxPrice"),
            noLimitFrom=top,
            directOnly=path("/form/directOnly"),
        ),
        variant="primary",
        id="search",
        checks=[
            check(path("/open"), REPLACED),
            check(fn.all_of(day_is_set, to_come, on_sale, people_fit), INCOMPLETE),
        ],
    )
    symbol = get_currency_symbol(found["currency"], locale="en_GB")
    root = Column(
        b.heading("Refine this search", id="title"),
        when,
        ChoicePicker(
            [option(label, value) for value, label in _TIMES],
            path("/form/time"),
            label="Departure",
            variant="mutuallyExclusive",
            displayStyle="chips",
        ),
        Slider(path("/form/maxPrice"), min=20, max=top, label=f"Maximum price per person ({symbol})"),
        CheckBox("Direct flights only", path("/form/directOnly")),
        Divider(),
        Row(b.caption(b.string(SUMMARY)), search, justify="spaceBetween", align="center"),
    )
    model = {"form": _model(found, top), "results": results, "open": True}
    return Surface(surface, root, model, send_data_model=True).create()


def retire_form(surface: str) -> list[JsonObject]:
    """A newer search stands below: the form says so and has nothing left to press."""
    root = Column(ref("title"), b.caption(REPLACED, id="replaced"), id="root")
    return [update_data(surface, "/open", False), update_components(surface, root)]


# pluralize reads true as 1: the one way to turn a tick into words.
SUMMARY = (
    "Up to ${formatCurrency(value: /form/maxPrice, currency: /form/currency)} per person"
    "${pluralize(value: /form/directOnly, one: ', direct only', other: '')}"
    ", ${/form/time/0} departure, ${/form/passengers}"
    "${pluralize(value: /form/passengers, one: ' passenger', other: ' passengers')}"
)


def _number(day: date) -> int:
    """A day as a number that grows with it: 20260815."""
    return int(f"{day:%Y%m%d}")


def _model(found: JsonObject, top: int) -> JsonObject:
    wanted = found["filters"]
    return {
        "origin": found["route"]["origin"],
        "destination": found["route"]["destination"],
        "date": found["date"],
        "passengers": str(found["passengers"]),
        "time": [wanted["timeOfDay"]],
        "maxPrice": min(wanted["maxPrice"] or top, top),
        "directOnly": wanted["directOnly"],
        "currency": found["currency"],
    }


def _top(found: JsonObject) -> int:
    """The end of the slider: above the dearest flight shown, on a round number."""
    dearest = max((flight["pricePerPerson"] for flight in found["flights"]), default=200)
    return max(100, (int(dearest) // 50 + 1) * 50)
