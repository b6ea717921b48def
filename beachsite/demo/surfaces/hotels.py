"""Hotels: a row for each, with a picture."""

from __future__ import annotations

from a2ui.compose import Button, Column, Divider, Image, Row, Surface, Text, each, event, labelled, path
from beachsite.demo.surfaces import build as b
from envelopes.types import JsonObject

CHOOSE, CHOSEN = "Choose", "\N{CHECK MARK} Chosen"


def hotel_results(surface: str, found: JsonObject) -> list[JsonObject]:
    """The hotels of one search."""
    about = Column(
        b.heading("${name}"),
        b.caption(
            b.string("${area}, ${stars} stars, rated ${formatNumber(value: score, decimals: 1)} out of 10")
        ),
        Text(path("blurb")),
        b.caption(b.string("${extras}. ${cancellation}.")),
        weight=1,
    )
    picture = Image(path("picture"), description=path("area"), variant="smallFeature", fit="cover")
    price = Column(
        b.heading(b.price("totalPrice", "currency")),
        b.caption(b.string(f"{b.price('pricePerNight', 'currency')} a night")),
        align="end",
        weight=6,
    )
    choose = Button(
        Text(path("act")),
        event(
            "choose_hotel",
            surface=surface,
            row=path("row"),
            previous=path("/selected"),
            hotel=path("name"),
            area=path("area"),
            checkIn=path("/checkIn"),
            nights=path("/nights"),
            total=path("totalPrice"),
            currency=path("currency"),
        ),
        weight=5,
        id="choose",
        accessibility=labelled(b.string("${act} ${name}")),
    )
    # Two weighted rows in a row: side by side where there is room, below each other on a phone.
    offer = Row(Row(picture, about, weight=8), Row(price, choose, align="center", weight=5), align="center")
    root = Column(
        b.heading("Hotels in ${/destination}"),
        b.caption(
            b.string(
                "${formatDate(value: /checkIn, format: 'd MMMM')} to "
                "${formatDate(value: /checkOut, format: 'd MMMM')}, "
                "${/nights} ${pluralize(value: /nights, one: 'night', other: 'nights')}, "
                "${/guests} ${pluralize(value: /guests, one: 'guest', other: 'guests')}"
            )
        ),
        # A column and not a list: a list scrolls inside of the card, and three hotels are no reason to.
        Column(each("/hotels", Column(Divider(), offer))),
    )
    rows = [hotel | {"row": number, "act": CHOOSE} for number, hotel in enumerate(found["hotels"])]
    return Surface(surface, root, found | {"hotels": rows, "selected": None}).create()


def mark_chosen(surface: str, row: int, previous: int | None) -> list[JsonObject]:
    """One row reads "Chosen", the one before no longer does."""
    return b.mark(surface, "/hotels", row, previous, (CHOOSE, CHOSEN))
