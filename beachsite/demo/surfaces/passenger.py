"""Who travels: the last step before the approval, and the card that says what was bought."""

from __future__ import annotations

from a2ui.compose import (
    Button,
    Card,
    CheckBox,
    Column,
    Divider,
    Icon,
    Row,
    Surface,
    Text,
    TextField,
    check,
    event,
    fn,
    labelled,
    path,
    ref,
    update_components,
    update_data,
)
from beachsite.demo import rules
from beachsite.demo.surfaces import build as b
from envelopes.types import JsonObject

OPEN = "Continue to booking"
ASKED = "Waiting for approval."
BOOKED = "Booked."
REPLACED = "Replaced: you have chosen another flight since. Nothing was booked from this form."
AGAIN = "Replaced: you have asked for this flight again since. Nothing was booked from this form."
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
    name_given = fn.all_of(
        fn.regex(path("/form/name"), rules.FULL_NAME), fn.length(path("/form/name"), max=rules.NAME_LENGTH)
    )
    mail_given = fn.all_of(
        fn.email(path("/form/email")), fn.length(path("/form/email"), max=rules.EMAIL_LENGTH)
    )
    complete = fn.all_of(name_given, mail_given, path("/form/terms"))
    trip = b.string(
        "${/offer/airline} ${/offer/flightNumber}, "
        "${formatDate(value: /offer/departure, format: 'EEEE d MMMM')}, "
        "${formatDate(value: /offer/departure, format: 'HH:mm')} to "
        "${formatDate(value: /offer/arrival, format: 'HH:mm')}"
    )
    total = b.string(
        f"**{b.price('/total', '/offer/currency')}** for "
        "${/tickets} ${pluralize(value: /tickets, one: 'ticket', other: 'tickets')}"
    )
    go = Button(
        Text(OPEN),
        event(
            "book_selected",
            form=surface,
            flight=path("/offer/title"),
            date=path("/date"),
            name=path("/form/name"),
            email=path("/form/email"),
            tickets=path("/tickets"),
            total=path("/total"),
            currency=path("/offer/currency"),
        ),
        variant="primary",
        id="go",
        checks=[check(complete, NEEDED)],
    )
    parts = (
        b.heading("Who is travelling?", id="title"),
        Row(Icon("event"), Text(trip, weight=1), align="center", id="trip"),
        Row(
            TextField(
                "Lead passenger, as in the passport",
                value=path("/form/name"),
                checks=[check(b.once_given("/form/name", name_given), rules.NAME)],
                weight=1,
            ),
            TextField(
                "Email for the confirmation",
                value=path("/form/email"),
                checks=[check(b.once_given("/form/email", mail_given), rules.EMAIL)],
                weight=1,
            ),
            id="fields",
        ),
        CheckBox("I have read the fare conditions (not refundable)", path("/form/terms"), id="terms"),
        Divider(id="divider"),
        Row(Text(total), go, justify="spaceBetween", align="center", id="foot"),
        # In the open, since a button that cannot be pressed tells its reason to nobody who has no mouse.
        # pluralize reads true as 1: the one way to choose between two texts.
        b.caption(fn.pluralize(complete, NEEDED, one=""), id="needed"),
    )
    model = {
        "offer": offer | {"title": f"{offer['airline']} {offer['flightNumber']}"},
        "date": str(offer["departure"])[:10],
        "tickets": tickets,
        "total": offer["pricePerPerson"] * tickets,
        "form": {"name": name, "email": email, "terms": False},
        "open": True,
        "state": OPEN,
    }
    state = b.caption(path("/state"), id="state")
    return Surface(surface, Column(*parts), model, also=(state,), send_data_model=True).create()


def form_state(surface: str, state: str) -> list[JsonObject]:
    """``OPEN`` shows the form as it was filled in; any other state takes its place, so that one form is one purchase
    and one that was replaced is none."""
    shown = _FORM if state == OPEN else _CLOSED
    return [
        update_data(surface, "/open", state == OPEN),
        update_data(surface, "/state", state),
        update_components(surface, Column(*map(ref, shown), id="root")),
    ]


def booking_card(surface: str, booked: JsonObject) -> list[JsonObject]:
    """What was bought."""
    tick = Icon("check", accessibility=labelled("Booked"))
    when = (
        "${formatDate(value: /departure, format: 'EEEE d MMMM yyyy')}, "
        "${formatDate(value: /departure, format: 'HH:mm')} to ${formatDate(value: /arrival, format: 'HH:mm')}"
    )
    ticket = Column(
        Row(tick, b.heading("Reference ${/reference}"), align="center"),
        Text(b.string("**${/flight}** from ${/origin} to ${/destination}")),
        Text(b.string(when)),
        Divider(),
        Row(
            b.caption(b.string("${/leadPassenger}, ${/baggage}")),
            b.heading(b.price("/total", "/currency")),
            justify="spaceBetween",
            align="center",
        ),
    )
    return Surface(surface, Card(ticket), booked).create()
