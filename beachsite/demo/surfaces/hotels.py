"""Hotels: a row for each, with a picture."""

from __future__ import annotations

from beachsite.demo.surfaces import build as b
from envelopes.types import JsonObject

CHOOSE, CHOSEN = "Choose", "\N{CHECK MARK} Chosen"


def hotel_results(surface: str, found: JsonObject) -> list[JsonObject]:
    """The hotels of one search."""
    components = [
        b.column("root", "title", "when", "hotels"),
        b.heading("title", "Hotels in ${/destination}"),
        b.text(
            "when",
            b.string(
                "${formatDate(value: /checkIn, format: 'd MMMM')} to "
                "${formatDate(value: /checkOut, format: 'd MMMM')}, "
                "${/nights} ${pluralize(value: /nights, one: 'night', other: 'nights')}, "
                "${/guests} ${pluralize(value: /guests, one: 'guest', other: 'guests')}"
            ),
            "caption",
        ),
        # A column and not a list: a list scrolls inside of the card, and three hotels are no reason to.
        b.repeat("hotels", "hotel", "/hotels", kind="Column"),
        b.column("hotel", "line", "offer"),
        b.component("Divider", "line"),
        # Two weighted rows in a row: side by side where there is room, below each other on a phone.
        b.row("offer", "top", "deal", align="center"),
        b.row("top", "picture", "about", weight=8),
        b.component(
            "Image",
            "picture",
            url=b.path("picture"),
            description=b.path("area"),
            variant="smallFeature",
            fit="cover",
        ),
        b.column("about", "name", "area", "blurb", "extras", weight=1),
        b.heading("name", "${name}"),
        b.text(
            "area",
            b.string("${area}, ${stars} stars, rated ${formatNumber(value: score, decimals: 1)} out of 10"),
            "caption",
        ),
        b.text("blurb", b.path("blurb")),
        b.text("extras", b.string("${extras}. ${cancellation}."), "caption"),
        b.row("deal", "price", "choose", align="center", weight=5),
        b.column("price", "total", "night", align="end", weight=6),
        b.heading("total", b.price("totalPrice", "currency")),
        b.text(
            "night",
            b.string("${formatCurrency(value: pricePerNight, currency: currency)} a night"),
            "caption",
        ),
        b.button(
            "choose",
            "choose-text",
            "choose_hotel",
            {
                "surface": surface,
                "row": b.path("row"),
                "previous": b.path("/selected"),
                "hotel": b.path("name"),
                "area": b.path("area"),
                "checkIn": b.path("/checkIn"),
                "nights": b.path("/nights"),
                "total": b.path("totalPrice"),
                "currency": b.path("currency"),
            },
            weight=5,
            accessibility={"label": b.string("${act} ${name}")},
        ),
        b.text("choose-text", b.path("act")),
    ]
    rows = [hotel | {"row": number, "act": CHOOSE} for number, hotel in enumerate(found["hotels"])]
    return b.create(surface, components, found | {"hotels": rows, "selected": None})


def mark_chosen(surface: str, row: int, previous: int | None) -> list[JsonObject]:
    """One row reads "Chosen", the one before no longer does."""
    return b.mark(surface, "/hotels", row, previous, (CHOOSE, CHOSEN))
