"""The dashboard of a destination: an empty frame at first, filled section by section while the research runs."""

from __future__ import annotations

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


def dashboard(surface: str, place: Destination, picture: str) -> list[JsonObject]:
    """The frame, with every section still to come."""
    panels = [{"title": title, "child": f"{key}-panel"} for key, (title, _) in SECTIONS.items()]
    components = [
        b.column("root", "picture", "head", "again", "tabs", "divider", "foot"),
        b.component(
            "Image", "picture", url=b.path("/picture"), description=b.string("${/name}"), variant="header"
        ),
        b.row("head", "title", "state", justify="spaceBetween", align="center"),
        b.column("title", "name", "lead"),
        b.heading("name", "${/name}, ${/country}"),
        b.text("lead", b.path("/lead")),
        b.text("state", b.string("${/verb}${/progress}"), "caption"),
        # Lists of one or none: what is there only at times.
        b.repeat("again", "continue", "/again", kind="Column"),
        b.button(
            "continue",
            "continue-text",
            CONTINUED,
            {"surface": surface, "destination": b.path("/name"), "done": b.path("/done")},
        ),
        b.text("continue-text", CONTINUE),
        b.component("Tabs", "tabs", tabs=panels),
        *_weather(),
        *_listed("sights", "time"),
        *_listed("around"),
        *_listed("food"),
        *_budget(),
        b.component("Divider", "divider"),
        b.row("foot", "cited", "page", justify="spaceBetween", align="center"),
        b.repeat("cited", "sources", "/cited", kind="Column"),
        b.component("Modal", "sources", trigger="sources-open", content="sources-body"),
        b.row("sources-open", "sources-icon", "sources-text", align="center"),
        b.component("Icon", "sources-icon", name="info"),
        b.text("sources-text", b.string("Sources (${/sourceCount})")),
        b.column("sources-body", "sources-title", "sources-list"),
        b.heading("sources-title", "Where this comes from: ${/name}"),
        b.repeat("sources-list", "source", "/sources"),
        b.column("source", "source-title", "source-quote"),
        b.text("source-title", b.string("**${title}**")),
        b.text("source-quote", b.path("quote"), "caption"),
        b.link("page", "page-text", place.page),
        b.text("page-text", b.string("Open the ${/name} guide")),
    ]
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
    return b.create(surface, components, model)


def section_started(surface: str, key: str) -> list[JsonObject]:
    return [b.update(surface, f"/sections/{key}", _empty(f"{SECTIONS[key][1]}…"))]


def section_done(
    surface: str, key: str, section: JsonObject, number: int, sources: list[JsonObject]
) -> list[JsonObject]:
    """Fill one section; ``number`` sections are done now, with these sources so far."""
    return [
        b.update(surface, f"/sections/{key}", section | {"waiting": False}),
        b.update(surface, "/done", number),
        b.update(surface, "/progress", _progress(number)),
        b.update(surface, "/sources", sources),
        b.update(surface, "/sourceCount", len(sources)),
        b.update(surface, "/cited", [{"id": "all"}] if sources else []),
    ]


def stopped(surface: str) -> list[JsonObject]:
    """The research has ended before its end, wherever it was: the card says so and offers to go on."""
    return [
        b.update(surface, "/stopped", True),
        b.update(surface, "/verb", "Stopped at "),
        b.update(surface, "/again", [{"id": "continue"}]),
    ]


def resumed(surface: str) -> list[JsonObject]:
    """It goes on: what was not looked up is still to come."""
    return [
        b.update(surface, "/stopped", False),
        b.update(surface, "/verb", ""),
        b.update(surface, "/again", []),
    ]


def _empty(summary: str) -> JsonObject:
    return {"summary": summary, "items": [], "waiting": True}


def _progress(done: int) -> str:
    """Nothing to say once all of it is there."""
    return f"{done} of {len(SECTIONS)} sections" if done < len(SECTIONS) else ""


def _summary(key: str) -> JsonObject:
    """The sentence of a section: what was found, what is being done, or that it was left.

    pluralize reads true as 1: the one way to choose between two texts.
    """
    left = b.every(b.path(f"/sections/{key}/waiting"), b.path("/stopped"))
    shown = b.call("pluralize", value=left, one=STOPPED, other=b.path(f"/sections/{key}/summary"))
    return b.text(f"{key}-summary", shown)


def section(place: Destination, key: str) -> JsonObject:
    """What the research found for one section: a sentence and the items below it."""
    if key == "weather":
        months = zip(_MONTHS, place.weather["highs"], place.weather["rainDays"], strict=True)
        return {
            "summary": place.weather["summary"],
            "key": "Average high, and days with rain",
            "items": [
                {"id": month, "high": f"{high}°", "rain": f"{wet} days"} for month, high, wet in months
            ],
        }
    items: list[JsonObject] = getattr(place, key)
    return {"summary": _INTRODUCTIONS[key], "items": items}


def _weather() -> list[JsonObject]:
    return [
        b.column("weather-panel", "weather-summary", "weather-key", "months"),
        _summary("weather"),
        b.text("weather-key", b.path("/sections/weather/key"), "caption"),
        b.repeat("months", "month", "/sections/weather/items", direction="horizontal"),
        b.column("month", "month-name", "month-high", "month-rain", align="center"),
        b.text("month-name", b.path("id"), "caption"),
        b.text("month-high", b.string("**${high}**")),
        b.text("month-rain", b.path("rain"), "caption"),
    ]


def _listed(key: str, aside: str = "") -> list[JsonObject]:
    """A panel with a list of names and notes, and a word at the end of each line where there is one."""
    line = (f"{key}-words", f"{key}-aside") if aside else (f"{key}-words",)
    parts = [
        b.column(f"{key}-panel", f"{key}-summary", f"{key}-list"),
        _summary(key),
        b.repeat(f"{key}-list", f"{key}-item", f"/sections/{key}/items"),
        # A list draws its own lines.
        b.column(f"{key}-item", f"{key}-row"),
        b.row(f"{key}-row", *line, justify="spaceBetween", align="center"),
        b.column(f"{key}-words", f"{key}-name", f"{key}-note", weight=1),
        b.text(f"{key}-name", b.string("**${name}**")),
        b.text(f"{key}-note", b.path("note"), "caption"),
    ]
    return [*parts, b.text(f"{key}-aside", b.path(aside), "caption")] if aside else parts


def _budget() -> list[JsonObject]:
    return [
        b.column("budget-panel", "budget-summary", "budget-list"),
        _summary("budget"),
        b.repeat("budget-list", "budget-item", "/sections/budget/items"),
        b.column("budget-item", "budget-row"),
        b.row("budget-row", "budget-name", "budget-amount", justify="spaceBetween", align="center"),
        b.text("budget-name", b.path("name")),
        b.heading("budget-amount", "${formatCurrency(value: amount, currency: 'EUR')}"),
    ]
