"""The form that searches the same route again: what is typed shows at once in the sentence above its button."""

from __future__ import annotations

from datetime import date

from babel.numbers import get_currency_symbol

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
    day = b.call("formatDate", value=b.path("/form/date"), format="yyyyMMdd")
    day_is_set = b.required("/form/date")
    to_come = b.call("numeric", value=day, min=_number(today))
    on_sale = b.call("numeric", value=day, max=_number(rules.last_day(today)))
    people_fit = b.call("regex", value=b.path("/form/passengers"), pattern=rules.WHOLE_PASSENGERS)
    top = _top(found)
    components = [
        b.column("root", "title", "when", "time", "limit", "direct", "divider", "foot"),
        b.heading("title", "Refine this search"),
        b.row("when", "date", "passengers"),
        b.component(
            "DateTimeInput",
            "date",
            label="Day",
            value=b.path("/form/date"),
            enableDate=True,
            checks=[
                b.check(day_is_set, rules.DAY_MISSING),
                b.check(b.once_given("/form/date", to_come), rules.DAY_PAST),
                b.check(b.once_given("/form/date", on_sale), rules.day_too_far(today)),
            ],
            weight=1,
        ),
        b.component(
            "TextField",
            "passengers",
            label="Passengers",
            variant="number",
            value=b.path("/form/passengers"),
            checks=[b.check(people_fit, rules.PASSENGERS)],
            weight=1,
        ),
        b.component(
            "ChoicePicker",
            "time",
            label="Departure",
            variant="mutuallyExclusive",
            displayStyle="chips",
            options=[{"label": label, "value": value} for value, label in _TIMES],
            value=b.path("/form/time"),
        ),
        b.component(
            "Slider",
            "limit",
            label=f"Maximum price per person ({get_currency_symbol(found['currency'], locale='en_GB')})",
            min=20,
            max=top,
            value=b.path("/form/maxPrice"),
        ),
        b.component("CheckBox", "direct", label="Direct flights only", value=b.path("/form/directOnly")),
        b.component("Divider", "divider"),
        b.row("foot", "summary", "search", justify="spaceBetween", align="center"),
        b.text("summary", b.string(SUMMARY), "caption"),
        b.button(
            "search",
            "search-text",
            "refine_search",
            {
                "results": results,
                "origin": b.path("/form/origin"),
                "destination": b.path("/form/destination"),
                "date": b.path("/form/date"),
                "passengers": b.path("/form/passengers"),
                "time": b.path("/form/time"),
                "maxPrice": b.path("/form/maxPrice"),
                "noLimitFrom": top,
                "directOnly": b.path("/form/directOnly"),
            },
            variant="primary",
            checks=[
                b.check(b.path("/open"), REPLACED),
                b.check(b.every(day_is_set, to_come, on_sale, people_fit), INCOMPLETE),
            ],
        ),
        b.text("search-text", "Search again"),
    ]
    model = {"form": _model(found, top), "results": results, "open": True}
    return b.create(surface, components, model, send_data=True)


def retire_form(surface: str) -> list[JsonObject]:
    """A newer search stands below: the form says so and has nothing left to press."""
    root = [b.column("root", "title", "replaced"), b.text("replaced", REPLACED, "caption")]
    return [b.update(surface, "/open", False), b.change(surface, root)]


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
