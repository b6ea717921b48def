"""Search results: one row a flight, which a later search refills in place."""

from __future__ import annotations

from a2ui.compose import (
    Button,
    Column,
    Component,
    Divider,
    Image,
    Row,
    Surface,
    Text,
    check,
    each,
    event,
    labelled,
    path,
    update_data,
)
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
    select = Button(
        Text(path("act")),
        event(
            "select_flight",
            surface=surface,
            row=path("row"),
            previous=path("/selected"),
            form=path("/form"),
            flight=path("flightNumber"),
            airline=path("airline"),
            date=path("/search/date"),
            passengers=path("/search/passengers"),
            total=path("totalPrice"),
            currency=path("currency"),
        ),
        weight=4,
        id="select",
        checks=[check(path("/open"), REPLACED)],
        accessibility=labelled(b.string("${act} ${airline} ${flightNumber}")),
    )
    title = "${/search/origin} to ${/search/destination}, ${formatDate(value: /search/date, format: 'EEEE d MMMM')}"
    # Two weighted rows in a row: side by side where there is room, below each other on a phone. Their own weights keep
    # what is the same in every flight in line.
    flight = Column(
        Divider(), Row(Row(_who(), _trip(), align="center", weight=6), _buy(select), align="center")
    )
    root = Column(
        Row(b.heading(title), b.caption(path("/filters")), justify="spaceBetween", align="center"),
        # A column and not a list: a list scrolls inside of the card, and the last flight would be cut.
        Column(each("/flights", flight)),
        Column(
            Divider(),
            Row(
                b.caption(path("/count")),
                b.link("About ${/search/destination}", _page(found)),
                justify="spaceBetween",
                align="center",
            ),
        ),
    )
    return Surface(surface, root, results_model(found)).create()


def _who() -> Component:
    tile = Image(path("picture"), description=path("airline"), variant="avatar", fit="cover")
    name = Column(Text(b.string("**${airline}**")), b.caption(path("flightNumber")), weight=1)
    return Row(tile, name, align="center", weight=5)


def _trip() -> Component:
    def end(time: str, place: str) -> Component:
        clock = b.string(f"**${{formatDate(value: {time}, format: 'HH:mm')}}**")
        return Column(Text(clock), b.caption(path(place)))

    between = Column(b.caption(path("duration")), Divider(), align="center", weight=1)
    return Row(end("departure", "origin"), between, end("arrival", "destination"), align="center", weight=5)


def _buy(select: Component) -> Component:
    fare = Column(
        b.heading(b.price("pricePerPerson", "currency")), b.caption("per person"), align="end", weight=3
    )
    return Row(b.caption(path("stopsText"), weight=3), fare, select, align="center", weight=5)


def refill(surface: str, found: JsonObject) -> list[JsonObject]:
    """The same card with the result of another search. Rows keep their place in the page by their ``id``."""
    model = results_model(found)
    return [update_data(surface, f"/{key}", value) for key, value in model.items()]


def mark_selected(surface: str, row: int, previous: int | None, form: str = "") -> list[JsonObject]:
    """One row reads "Selected", the one before no longer does. ``form``: the surface that asks who travels."""
    return [
        *b.mark(surface, "/flights", row, previous, (SELECT, SELECTED)),
        update_data(surface, "/form", form or None),
    ]


def retire(surface: str) -> list[JsonObject]:
    """A newer search stands below: the flights stay to be read, and none of them can be chosen."""
    return [update_data(surface, "/open", False), update_data(surface, "/count", REPLACED)]


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
