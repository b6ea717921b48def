"""The form that searches again: what is typed shows at once in the sentence above its button."""

from __future__ import annotations

from beachsite.demo.surfaces import build as b
from envelopes.types import JsonObject

_TIMES = (("any", "Any time"), ("morning", "Morning"), ("afternoon", "Afternoon"), ("evening", "Evening"))


def refine_form(surface: str, results: str, found: JsonObject, today: str) -> list[JsonObject]:
    """A form that is filled with the search it refines; ``results`` is the surface that it will refill."""
    day_is_set = b.required("/form/date")
    people_fit = b.call("numeric", "boolean", value=b.path("/form/passengers"), min=1, max=9)
    top = _top(found)
    components = [
        b.column("root", "title", "places", "when", "time", "limit", "direct", "divider", "foot"),
        b.text("title", "Refine this search", "h4"),
        b.row("places", "origin", "destination"),
        b.component(
            "TextField",
            "origin",
            label="From",
            value=b.path("/form/origin"),
            checks=[b.check(b.required("/form/origin"), "Where do you start?")],
            weight=1,
        ),
        b.component(
            "TextField",
            "destination",
            label="To",
            value=b.path("/form/destination"),
            checks=[b.check(b.required("/form/destination"), "Where do you want to go?")],
            weight=1,
        ),
        b.row("when", "date", "passengers"),
        b.component(
            "DateTimeInput",
            "date",
            label="Day",
            value=b.path("/form/date"),
            enableDate=True,
            min=today,
            checks=[b.check(day_is_set, "Choose a day.")],
            weight=1,
        ),
        b.component(
            "TextField",
            "passengers",
            label="Passengers",
            variant="number",
            value=b.path("/form/passengers"),
            checks=[b.check(people_fit, "From 1 to 9 people.")],
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
            label=f"Highest price per person, in {found['currency']}",
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
                b.check(
                    b.every(
                        b.required("/form/origin"), b.required("/form/destination"), day_is_set, people_fit
                    ),
                    "Fill in the places, the day and one to nine passengers.",
                )
            ],
        ),
        b.text("search-text", "Search again"),
    ]
    return b.create(surface, components, {"form": _model(found, top)}, send_data=True)


# pluralize reads true as 1: the one way to turn a tick into words.
SUMMARY = (
    "Up to ${formatCurrency(value: /form/maxPrice, currency: /form/currency, decimals: 0)} per person"
    "${pluralize(value: /form/directOnly, one: ', direct only', other: '')}"
    ", ${/form/time/0} departure, ${/form/passengers}"
    "${pluralize(value: /form/passengers, one: ' passenger', other: ' passengers')}"
)


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
