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

_INTRODUCTIONS = {
    "sights": "Worth the walk, best first.",
    "around": "How people get about.",
    "food": "What to order.",
    "budget": "What readers spent, in euros.",
}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def dashboard(surface: str, place: Destination, picture: str) -> list[JsonObject]:
    """The frame, with every section still to come."""
    panels = [{"title": title, "child": f"{key}-panel"} for key, (title, _) in SECTIONS.items()]
    components = [
        b.column("root", "picture", "head", "tabs", "divider", "foot"),
        b.component(
            "Image", "picture", url=b.path("/picture"), description=b.string("${/name}"), variant="header"
        ),
        b.row("head", "title", "state", justify="spaceBetween", align="center"),
        b.column("title", "name", "lead"),
        b.text("name", b.string("${/name}, ${/country}"), "h4"),
        b.text("lead", b.path("/lead")),
        b.text("state", b.string("${/done} of ${/of} sections"), "caption"),
        b.component("Tabs", "tabs", tabs=panels),
        *_weather(),
        *_listed("sights", "time"),
        *_listed("around"),
        *_listed("food"),
        *_budget(),
        b.component("Divider", "divider"),
        b.row("foot", "sources", "page", justify="spaceBetween", align="center"),
        b.component("Modal", "sources", trigger="sources-open", content="sources-body"),
        b.row("sources-open", "sources-icon", "sources-text", align="center"),
        b.component("Icon", "sources-icon", name="info"),
        b.text("sources-text", b.string("Sources (${/sourceCount})")),
        b.column("sources-body", "sources-title", "sources-list"),
        b.text("sources-title", b.string("Where this comes from: ${/name}"), "h4"),
        b.repeat("sources-list", "source", "/sources"),
        b.column("source", "source-line", "source-title", "source-quote"),
        b.text("source-title", b.string("**${title}**")),
        b.text("source-quote", b.path("quote"), "caption"),
        b.component("Divider", "source-line"),
        b.link("page", "page-text", place.page),
        b.text("page-text", b.string("Open the ${/name} guide")),
    ]
    empty: JsonObject = {key: {"summary": "Not looked up yet.", "items": []} for key in SECTIONS}
    model = {
        "name": place.name,
        "country": place.country,
        "lead": place.lead,
        "picture": picture,
        "done": 0,
        "of": len(SECTIONS),
        "sections": empty,
        "sources": [],
        "sourceCount": 0,
    }
    return b.create(surface, components, model)


def section_started(surface: str, key: str) -> list[JsonObject]:
    return [b.update(surface, f"/sections/{key}/summary", f"{SECTIONS[key][1]}…")]


def section_done(
    surface: str, key: str, section: JsonObject, number: int, sources: list[JsonObject]
) -> list[JsonObject]:
    """Fill one section; ``number`` sections are done now, with these sources so far."""
    return [
        b.update(surface, f"/sections/{key}", section),
        b.update(surface, "/done", number),
        b.update(surface, "/sources", sources),
        b.update(surface, "/sourceCount", len(sources)),
    ]


def section(place: Destination, key: str) -> JsonObject:
    """What the research found for one section: a sentence and the items below it."""
    if key == "weather":
        months = zip(_MONTHS, place.weather["highs"], place.weather["rainDays"], strict=True)
        return {
            "summary": place.weather["summary"],
            "items": [{"id": month, "high": f"{high}°", "rain": f"{wet} wet"} for month, high, wet in months],
        }
    items: list[JsonObject] = getattr(place, key)
    return {"summary": _INTRODUCTIONS[key], "items": items}


def _weather() -> list[JsonObject]:
    return [
        b.column("weather-panel", "weather-summary", "months"),
        b.text("weather-summary", b.path("/sections/weather/summary")),
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
        b.text(f"{key}-summary", b.path(f"/sections/{key}/summary")),
        b.repeat(f"{key}-list", f"{key}-item", f"/sections/{key}/items"),
        b.column(f"{key}-item", f"{key}-line", f"{key}-row"),
        b.component("Divider", f"{key}-line"),
        b.row(f"{key}-row", *line, justify="spaceBetween", align="center"),
        b.column(f"{key}-words", f"{key}-name", f"{key}-note", weight=1),
        b.text(f"{key}-name", b.string("**${name}**")),
        b.text(f"{key}-note", b.path("note"), "caption"),
    ]
    return [*parts, b.text(f"{key}-aside", b.path(aside), "caption")] if aside else parts


def _budget() -> list[JsonObject]:
    return [
        b.column("budget-panel", "budget-summary", "budget-list"),
        b.text("budget-summary", b.path("/sections/budget/summary")),
        b.repeat("budget-list", "budget-item", "/sections/budget/items"),
        b.column("budget-item", "budget-line", "budget-row"),
        b.component("Divider", "budget-line"),
        b.row("budget-row", "budget-name", "budget-amount", justify="spaceBetween", align="center"),
        b.text("budget-name", b.path("name")),
        b.text(
            "budget-amount",
            b.call("formatCurrency", value=b.path("amount"), currency="EUR", decimals=0),
            "h4",
        ),
    ]
