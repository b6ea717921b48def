"""Who travels: the last step before the approval, and the card that says what was bought."""

from __future__ import annotations

from beachsite.demo import rules
from beachsite.demo.surfaces import build as b
from envelopes.types import JsonObject

OPEN = "Continue to booking"
ASKED = "Waiting for approval."
BOOKED = "Booked."
REPLACED = "Replaced: you have chosen another flight since. Nothing was booked from this form."
SEARCHED = "Replaced by a newer search. Nothing was booked from this form."
UNKNOWN = "Nobody knows yet whether this was booked. Ask the staff before you try again."
NEEDED = "Enter a name and an email address, and accept the fare conditions, to continue."
_FORM = ("title", "trip", "fields", "terms", "divider", "foot", "needed")
_CLOSED = ("trip", "state")


def passenger_form(
    surface: str, offer: JsonObject, tickets: int, name: str = "", email: str = ""
) -> list[JsonObject]:
    """A form for one offer of a search; it can go on only with a name, a plausible address and the conditions read.

    ``name`` and ``email`` are what is known already; the conditions are read again each time.
    """
    name_given = b.every(
        b.call("regex", value=b.path("/form/name"), pattern=rules.FULL_NAME),
        b.call("length", value=b.path("/form/name"), max=rules.NAME_LENGTH),
    )
    mail_given = b.every(
        b.call("email", value=b.path("/form/email")),
        b.call("length", value=b.path("/form/email"), max=rules.EMAIL_LENGTH),
    )
    complete = b.every(name_given, mail_given, b.path("/form/terms"))
    components = [
        b.column("root", *_FORM),
        b.heading("title", "Who is travelling?"),
        b.row("trip", "plane", "trip-text", align="center"),
        b.component("Icon", "plane", name="event"),
        b.text(
            "trip-text",
            b.string(
                "${/offer/airline} ${/offer/flightNumber}, "
                "${formatDate(value: /offer/departure, format: 'EEEE d MMMM')}, "
                "${formatDate(value: /offer/departure, format: 'HH:mm')} to "
                "${formatDate(value: /offer/arrival, format: 'HH:mm')}"
            ),
            weight=1,
        ),
        b.row("fields", "name", "email"),
        b.component(
            "TextField",
            "name",
            label="Lead passenger, as in the passport",
            value=b.path("/form/name"),
            checks=[b.check(b.once_given("/form/name", name_given), rules.NAME)],
            weight=1,
        ),
        b.component(
            "TextField",
            "email",
            label="Email for the confirmation",
            value=b.path("/form/email"),
            checks=[b.check(b.once_given("/form/email", mail_given), rules.EMAIL)],
            weight=1,
        ),
        b.component(
            "CheckBox",
            "terms",
            label="I have read the fare conditions (not refundable)",
            value=b.path("/form/terms"),
        ),
        b.component("Divider", "divider"),
        b.row("foot", "total", "go", justify="spaceBetween", align="center"),
        b.text(
            "total",
            b.string(
                "**${formatCurrency(value: /total, currency: /offer/currency)}** for "
                "${/tickets} ${pluralize(value: /tickets, one: 'ticket', other: 'tickets')}"
            ),
        ),
        b.button(
            "go",
            "go-text",
            "book_selected",
            {
                "form": surface,
                "flight": b.path("/offer/title"),
                "date": b.path("/date"),
                "name": b.path("/form/name"),
                "email": b.path("/form/email"),
                "tickets": b.path("/tickets"),
                "total": b.path("/total"),
                "currency": b.path("/offer/currency"),
            },
            variant="primary",
            checks=[b.check(complete, NEEDED)],
        ),
        b.text("go-text", OPEN),
        # In the open, since a button that cannot be pressed tells its reason to nobody who has no mouse.
        # pluralize reads true as 1: the one way to choose between two texts.
        b.text("needed", b.call("pluralize", value=complete, one="", other=NEEDED), "caption"),
        b.text("state", b.path("/state"), "caption"),
    ]
    model = {
        "offer": offer | {"title": f"{offer['airline']} {offer['flightNumber']}"},
        "date": str(offer["departure"])[:10],
        "tickets": tickets,
        "total": offer["pricePerPerson"] * tickets,
        "form": {"name": name, "email": email, "terms": False},
        "open": True,
        "state": OPEN,
    }
    return b.create(surface, components, model, send_data=True)


def form_state(surface: str, state: str) -> list[JsonObject]:
    """``OPEN`` shows the form as it was filled in; any other state takes its place, so that one form is one purchase
    and one that was replaced is none."""
    shown = _FORM if state == OPEN else _CLOSED
    return [
        b.update(surface, "/open", state == OPEN),
        b.update(surface, "/state", state),
        b.change(surface, [b.column("root", *shown)]),
    ]


def booking_card(surface: str, booked: JsonObject) -> list[JsonObject]:
    """What was bought."""
    components = [
        b.component("Card", "root", child="ticket"),
        b.column("ticket", "head", "flight", "when", "divider", "foot"),
        b.row("head", "tick", "reference", align="center"),
        b.component("Icon", "tick", name="check", accessibility={"label": "Booked"}),
        b.heading("reference", "Reference ${/reference}"),
        b.text("flight", b.string("**${/flight}** from ${/origin} to ${/destination}")),
        b.text(
            "when",
            b.string(
                "${formatDate(value: /departure, format: 'EEEE d MMMM yyyy')}, "
                "${formatDate(value: /departure, format: 'HH:mm')} to ${formatDate(value: /arrival, format: 'HH:mm')}"
            ),
        ),
        b.component("Divider", "divider"),
        b.row("foot", "who", "paid", justify="spaceBetween", align="center"),
        b.text("who", b.string("${/leadPassenger}, ${/baggage}"), "caption"),
        b.heading("paid", b.price("/total", "/currency")),
    ]
    return b.create(surface, components, booked)
