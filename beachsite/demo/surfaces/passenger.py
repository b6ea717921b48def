"""Who travels: the last step before the approval, and the card that says what was bought."""

from __future__ import annotations

from beachsite.demo.surfaces import build as b
from envelopes.types import JsonObject

OPEN = "Continue to booking"
ASKED = "Waiting for approval"
BOOKED = "Booked"
NEEDED = "Fill in name and email, and tick the fare conditions, to go on."


def passenger_form(
    surface: str, offer: JsonObject, tickets: int, name: str = "", email: str = ""
) -> list[JsonObject]:
    """A form for one offer of a search; it can go on only with a name, a plausible address and the conditions read.

    ``name`` and ``email`` are what is known already; the conditions are read again each time.
    """
    name_given = b.call("length", "boolean", value=b.path("/form/name"), min=2, max=120)
    mail_given = b.call("email", "boolean", value=b.path("/form/email"))
    complete = b.every(b.required("/form/name"), name_given, mail_given, b.path("/form/terms"))
    components = [
        b.column("root", "title", "trip", "fields", "terms", "divider", "foot", "needed"),
        b.text("title", "Who is travelling?", "h4"),
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
            checks=[b.check(_once_typed("/form/name", name_given), "A full name is needed.")],
            weight=1,
        ),
        b.component(
            "TextField",
            "email",
            label="Email for the confirmation",
            value=b.path("/form/email"),
            checks=[b.check(_once_typed("/form/email", mail_given), "That is not an email address yet.")],
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
                "**${formatCurrency(value: /total, currency: /offer/currency, decimals: 2)}** for "
                "${pluralize(value: /tickets, one: 'one ticket', two: 'two tickets', other: 'all tickets')}"
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
            checks=[
                b.check(complete, NEEDED),
                b.check(b.path("/open"), "This has been sent already."),
            ],
        ),
        b.text("go-text", b.path("/act")),
        # In the open, since a button that cannot be pressed tells its reason to nobody who has no mouse.
        # pluralize reads true as 1: the one way to choose between two texts.
        b.text("needed", b.call("pluralize", value=complete, one="", other=NEEDED), "caption"),
    ]
    model = {
        "offer": offer | {"title": f"{offer['airline']} {offer['flightNumber']}"},
        "date": str(offer["departure"])[:10],
        "tickets": tickets,
        "total": offer["pricePerPerson"] * tickets,
        "form": {"name": name, "email": email, "terms": False},
        "open": True,
        "act": OPEN,
    }
    return b.create(surface, components, model, send_data=True)


def _once_typed(pointer: str, condition: JsonObject) -> JsonObject:
    """A form must not greet anyone in red: an empty field is the button's business."""
    return b.either(b.call("not", "boolean", value=b.required(pointer)), condition)


def form_state(surface: str, act: str) -> list[JsonObject]:
    """What the form's button says; only with ``OPEN`` can it be pressed, so that one form is one purchase."""
    return [b.update(surface, "/open", act == OPEN), b.update(surface, "/act", act)]


def booking_card(surface: str, booked: JsonObject) -> list[JsonObject]:
    """What was bought."""
    components = [
        b.component("Card", "root", child="ticket"),
        b.column("ticket", "head", "flight", "when", "divider", "foot"),
        b.row("head", "tick", "reference", align="center"),
        b.component("Icon", "tick", name="check", accessibility={"label": "Booked"}),
        b.text("reference", b.string("Booked: ${/reference}"), "h4"),
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
        b.text("paid", b.price("/total", "/currency"), "h4"),
    ]
    return b.create(surface, components, booked)
