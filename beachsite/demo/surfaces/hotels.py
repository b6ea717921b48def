"""Hotels: a row for each, with a picture."""

from __future__ import annotations

from beachsite.demo.surfaces import build as b
from envelopes.types import JsonObject


def hotel_results(surface: str, found: JsonObject) -> list[JsonObject]:
    """The hotels of one search."""
    components = [
        b.column("root", "title", "when", "hotels"),
        b.text("title", b.string("Hotels in ${/destination}"), "h4"),
        b.text(
            "when",
            b.string(
                "${formatDate(value: /checkIn, format: 'd MMMM')} to "
                "${formatDate(value: /checkOut, format: 'd MMMM')}, "
                "${/nights} ${pluralize(value: /nights, one: 'night', other: 'nights')}"
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
        b.text("name", b.path("name"), "h4"),
        b.text("area", b.string("${area}, ${stars} stars, guests say ${score}"), "caption"),
        b.text("blurb", b.path("blurb")),
        b.text("extras", b.string("${extras}. ${cancellation}."), "caption"),
        b.row("deal", "price", "choose", align="center", weight=5),
        b.column("price", "total", "night", weight=6),
        b.text("total", b.price("totalPrice", "currency"), "h4"),
        b.text(
            "night",
            b.string("${formatCurrency(value: pricePerNight, currency: currency, decimals: 0)} a night"),
            "caption",
        ),
        b.button(
            "choose",
            "choose-text",
            "choose_hotel",
            {
                "hotel": b.path("name"),
                "area": b.path("area"),
                "checkIn": b.path("/checkIn"),
                "nights": b.path("/nights"),
                "total": b.path("totalPrice"),
                "currency": b.path("currency"),
            },
            weight=5,
            accessibility={"label": b.string("Choose ${name}")},
        ),
        b.text("choose-text", "Choose"),
    ]
    return b.create(surface, components, found)
