"""Search results: one row a flight, which a later search refills in place."""

from __future__ import annotations

from beachsite.demo.fares import money
from beachsite.demo.surfaces import build as b
from envelopes.types import JsonObject

SELECT, SELECTED = "Select", "\N{CHECK MARK} Selected"
REPLACED = "Replaced by a newer search."


def results_model(found: JsonObject) -> JsonObject:
    """The data model for the result of ``search_flights``."""
    flights = [flight | {"row": number, "act": SELECT} for number, flight in enumerate(found["flights"])]
    route = found["route"]
    return {
        "search": {
            "origin": route["origin"],
            "destination": route["destination"],
            "date": found["date"],
            "passengers": found["passengers"],
        },
        "filters": _filters(found),
        "flights": flights,
        "count": _count(len(flights), found["flightsThatDay"]),
        "selected": None,
        "form": None,
        "open": True,
    }


def flight_results(surface: str, found: JsonObject) -> list[JsonObject]:
    """A card with the flights of one search."""
    components = [
        b.column("root", "head", "flights", "foot"),
        b.row("head", "title", "filters", justify="spaceBetween", align="center"),
        b.heading(
            "title",
            "${/search/origin} to ${/search/destination}, "
            "${formatDate(value: /search/date, format: 'EEEE d MMMM')}",
        ),
        b.text("filters", b.path("/filters"), "caption"),
        # A column and not a list: a list scrolls inside of the card, and the last flight would be cut.
        b.repeat("flights", "flight", "/flights", kind="Column"),
        b.column("flight", "line", "flight-row"),
        b.component("Divider", "line"),
        # Two weighted rows in a row: side by side where there is room, below each other on a phone. Their own weights
        # keep what is the same in every flight in line.
        b.row("flight-row", "way", "buy", align="center"),
        b.row("way", "who", "trip", align="center", weight=6),
        b.row("who", "tile", "name", align="center", weight=5),
        b.component(
            "Image",
            "tile",
            url=b.path("picture"),
            description=b.path("airline"),
            variant="avatar",
            fit="cover",
        ),
        b.column("name", "airline", "number", weight=1),
        b.text("airline", b.string("**${airline}**")),
        b.text("number", b.path("flightNumber"), "caption"),
        b.row("trip", "leaves", "between", "lands", align="center", weight=5),
        b.column("leaves", "departure", "from"),
        b.text("departure", b.string("**${formatDate(value: departure, format: 'HH:mm')}**")),
        b.text("from", b.path("origin"), "caption"),
        b.column("between", "duration", "rail", align="center", weight=1),
        b.text("duration", b.path("duration"), "caption"),
        b.component("Divider", "rail"),
        b.column("lands", "arrival", "to"),
        b.text("arrival", b.string("**${formatDate(value: arrival, format: 'HH:mm')}**")),
        b.text("to", b.path("destination"), "caption"),
        b.row("buy", "stops", "fare", "select", align="center", weight=5),
        b.text("stops", b.path("stopsText"), "caption", weight=3),
        b.column("fare", "price", "each", align="end", weight=3),
        b.heading("price", b.price("pricePerPerson", "currency")),
        b.text("each", "per person", "caption"),
        b.button(
            "select",
            "select-text",
            "select_flight",
            {
                "surface": surface,
                "row": b.path("row"),
                "previous": b.path("/selected"),
                "form": b.path("/form"),
                "flight": b.path("flightNumber"),
                "airline": b.path("airline"),
                "date": b.path("/search/date"),
                "passengers": b.path("/search/passengers"),
                "total": b.path("totalPrice"),
                "currency": b.path("currency"),
            },
            weight=4,
            checks=[b.check(b.path("/open"), REPLACED)],
            accessibility={"label": b.string("${act} ${airline} ${flightNumber}")},
        ),
        b.text("select-text", b.path("act")),
        b.column("foot", "line-end", "foot-row"),
        b.component("Divider", "line-end"),
        b.row("foot-row", "count", "info", justify="spaceBetween", align="center"),
        b.text("count", b.path("/count"), "caption"),
        b.link("info", "info-text", _page(found)),
        b.text("info-text", b.string("About ${/search/destination}")),
    ]
    return b.create(surface, components, results_model(found))


def refill(surface: str, found: JsonObject) -> list[JsonObject]:
    """The same card with the result of another search. Rows keep their place in the page by their ``id``."""
    model = results_model(found)
    return [b.update(surface, f"/{key}", value) for key, value in model.items()]


def mark_selected(surface: str, row: int, previous: int | None, form: str = "") -> list[JsonObject]:
    """One row reads "Selected", the one before no longer does. ``form``: the surface that asks who travels."""
    return [
        *b.mark(surface, "/flights", row, previous, (SELECT, SELECTED)),
        b.update(surface, "/form", form or None),
    ]


def retire(surface: str) -> list[JsonObject]:
    """A newer search stands below: the flights stay to be read, and none of them can be chosen."""
    return [b.update(surface, "/open", False), b.update(surface, "/count", REPLACED)]


def _page(found: JsonObject) -> str:
    place = str(found["route"]["destination"]).lower().replace(" ", "-")
    return f"https://example.com/{place}"


def _filters(found: JsonObject) -> str:
    wanted = found["filters"]
    words = ["1 passenger" if found["passengers"] == 1 else f"{found['passengers']} passengers"]
    if wanted["timeOfDay"] != "any":
        words.append(str(wanted["timeOfDay"]))
    if wanted["directOnly"]:
        words.append("direct only")
    if wanted["maxPrice"] is not None:
        words.append(f"up to {money(wanted['maxPrice'], found['currency'])}")
    return ", ".join(words)


def _count(shown: int, all_day: int) -> str:
    if not all_day:
        return "No flights that day. Try another day."
    if not shown:
        return f"None of the {all_day} flights that day matches. Try a higher price or another time."
    if shown < all_day:
        return f"{shown} of {all_day} flights that day"
    return {1: "1 flight that day", 2: "Both flights that day"}.get(shown, f"All {shown} flights that day")
