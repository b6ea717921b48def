"""The dashboard of a destination: an empty frame at first, filled section by section while the research runs."""

from __future__ import annotations

from a2ui.compose import (
    Button,
    Column,
    Component,
    Divider,
    Icon,
    Image,
    List,
    Modal,
    Row,
    Surface,
    Tabs,
    Text,
    each,
    event,
    fn,
    labelled,
    path,
    tab,
    update_data,
)
from a2ui.compose.beach import Chart, series
from beachsite.demo.catalogue import Destination
from beachsite.demo.surfaces import build as b
from envelopes.types import JsonObject

SECTIONS: dict[str, tuple[str, str]] = {
    "weather": ("Weather", "Reading the climate tables"),
    "sights": ("Sights", "Choosing what is worth the walk"),
    "around": ("Getting around", "Checking buses, metro and cars"),
    "food": ("Food", "Asking what people eat"),
    "budget": ("Budget", "Adding up what a day costs"),
}
"""By key: the tab's title, and what the research says while it is at it. In the order in which they are done."""

TO_COME = "Not looked up yet."
STOPPED = "Not looked up: the research was stopped."
CONTINUE = "Continue the research"
_INTRODUCTIONS = {
    "sights": "Worth the walk, best first.",
    "around": "How to get around.",
    "food": "What to order.",
    "budget": "What travellers spend, in euros.",
}
CONTINUED = "continue_research"
"""The action of the button that goes on; its context has the surface and how many sections are done."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def dashboard(surface: str, place: Destination, picture: str) -> Surface:
    """The frame, with every section still to come."""
    tabs = [tab(title, _panel(key)) for key, (title, _) in SECTIONS.items()]
    title = Column(b.heading("${/name}, ${/country}"), Text(path("/lead")))
    continued = event(CONTINUED, surface=surface, destination=path("/name"), done=path("/done"))
    root = Column(
        Image(path("/picture"), description=b.string("${/name}"), variant="header"),
        Row(title, b.caption(b.string("${/verb}${/progress}")), justify="spaceBetween", align="center"),
        # Lists of one or none: what is there only at times.
        Column(each("/again", Button(Text(CONTINUE), continued, id="continue"))),
        Tabs(*tabs),
        Divider(),
        Row(
            Column(each("/cited", _sources())),
            b.link("Open the ${/name} guide", place.page),
            justify="spaceBetween",
            align="center",
        ),
    )
    model: JsonObject = {
        "name": place.name,
        "country": place.country,
        "lead": place.lead,
        "picture": picture,
        "done": 0,
        "verb": "",
        "progress": _progress(0),
        "stopped": False,
        "again": [],
        "sections": {key: _empty(TO_COME) for key in SECTIONS},
        "sources": [],
        "sourceCount": 0,
        "cited": [],
    }
    return Surface(surface, root, model)


def _sources() -> Component:
    source = Column(Text(b.string("**${title}**")), b.caption(path("quote")))
    return Modal(
        Row(Icon("info"), Text(b.string("Sources (${/sourceCount})")), align="center"),
        Column(b.heading("Where this comes from: ${/name}"), List(each("/sources", source))),
    )


def section_started(surface: str, key: str) -> list[JsonObject]:
    return [update_data(surface, f"/sections/{key}", _empty(f"{SECTIONS[key][1]}…"))]


def section_done(
    surface: str, key: str, section: JsonObject, number: int, sources: list[JsonObject]
) -> list[JsonObject]:
    """Fill one section; ``number`` sections are done now, with these sources so far."""
    return [
        update_data(surface, f"/sections/{key}", section | {"waiting": False}),
        update_data(surface, "/done", number),
        update_data(surface, "/progress", _progress(number)),
        update_data(surface, "/sources", sources),
        update_data(surface, "/sourceCount", len(sources)),
        update_data(surface, "/cited", [{"id": "all"}] if sources else []),
    ]


def stopped(surface: str) -> list[JsonObject]:
    """The research has ended before its end, wherever it was: the card says so and offers to go on."""
    return [
        update_data(surface, "/stopped", True),
        update_data(surface, "/verb", "Stopped at "),
        update_data(surface, "/again", [{"id": "continue"}]),
    ]


def resumed(surface: str) -> list[JsonObject]:
    """It goes on: what was not looked up is still to come."""
    return [
        update_data(surface, "/stopped", False),
        update_data(surface, "/verb", ""),
        update_data(surface, "/again", []),
    ]


def _empty(summary: str) -> JsonObject:
    return {"summary": summary, "items": [], "waiting": True}


def _progress(done: int) -> str:
    """Nothing to say once all of it is there."""
    return f"{done} of {len(SECTIONS)} sections" if done < len(SECTIONS) else ""


def _summary(key: str) -> Component:
    """The sentence of a section: what was found, what is being done, or that it was left.

    pluralize reads true as 1: the one way to choose between two texts.
    """
    left = fn.all_of(path(f"/sections/{key}/waiting"), path("/stopped"))
    return Text(fn.pluralize(left, path(f"/sections/{key}/summary"), one=STOPPED))


def section(place: Destination, key: str) -> JsonObject:
    """What the research found for one section: a sentence and the items below it."""
    if key == "weather":
        months = zip(_MONTHS, place.weather["highs"], place.weather["rainDays"], strict=True)
        return {
            "summary": place.weather["summary"],
            "items": [
                {
                    "id": "year",
                    "months": [{"name": name, "high": high, "rain": wet} for name, high, wet in months],
                }
            ],
        }
    items: list[JsonObject] = getattr(place, key)
    return {"summary": _INTRODUCTIONS[key], "items": items}


def _panel(key: str) -> Component:
    match key:
        case "weather":
            return _weather()
        case "budget":
            return _budget()
        case _:
            return _listed(key, "time" if key == "sights" else "")


def _weather() -> Component:
    year = Chart(
        "bar",
        path("months"),
        path("name"),
        [series("Average high, °C", path("high")), series("Days with rain", path("rain"))],
        accessibility=labelled("Weather by month"),
    )
    # A list of one or none: there is no chart before there is weather.
    return Column(_summary("weather"), Column(each("/sections/weather/items", year)))


def _lines(key: str, *line: Component) -> Component:
    """A panel with a line for each of its items. A list draws lines of its own between them."""
    row = Row(*line, justify="spaceBetween", align="center")
    return Column(_summary(key), List(each(f"/sections/{key}/items", Column(row))))


def _listed(key: str, aside: str = "") -> Component:
    """Names and notes, and a word at the end of each line where there is one."""
    words = Column(Text(b.string("**${name}**")), b.caption(path("note")), weight=1)
    return _lines(key, words, *([b.caption(path(aside))] if aside else []))


def _budget() -> Component:
    amount = b.heading("${formatCurrency(value: amount, currency: 'EUR')}")
    return _lines("budget", Text(path("name")), amount)
