"""Buying tickets: the tool with a side effect, so a person says yes first and it runs once."""

from __future__ import annotations

import hashlib
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from asgiref.sync import sync_to_async
from django.db import IntegrityError, transaction
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field, field_validator

from beachsite.demo import catalogue, fares
from beachsite.demo.accounts import MANAGERS
from beachsite.demo.errors import BadDate, NotOnSale
from beachsite.demo.models import Booking
from envelopes.errors import Conflict
from envelopes.registries.policies import OWNER, Ask, Asking, Group
from envelopes.registries.shown import Shown
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.types import Json, JsonObject

MANAGED_FROM = 1_500
"""What a booking costs that nobody decides alone, in whatever currency."""

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


class BookFlight(BaseModel):
    """What the person approves is what is bought: the total is part of the call and is checked against the fare."""

    model_config = ConfigDict(extra="forbid")

    flight: str = Field(
        title="Flight",
        description="The flight number, with or without the airline, such as 'easyJet EJ4521'.",
    )
    date: Annotated[date, Field(title="Date"), Shown(beside="flight")]
    lead_passenger: str = Field(
        title="Passenger", min_length=2, max_length=120, description="Full name of whoever travels."
    )
    email: str = Field(
        default="", title="Email", max_length=254, description="Where the confirmation goes; may be empty."
    )
    tickets: Annotated[
        int, Field(title="Tickets", ge=1, le=9), Shown(beside="lead_passenger", unit=("ticket", "tickets"))
    ] = 1
    total: Annotated[
        int,
        Field(
            title="Total price",
            gt=0,
            description="What all tickets cost together, exactly as a search showed it.",
        ),
        Shown(currency="currency", sum=True),
    ]
    currency: str = Field(title="Currency", pattern="^[A-Z]{3}$")

    @field_validator("flight")
    @classmethod
    def _known(cls, value: str) -> str:
        flight = catalogue.find_flight(value)
        if flight is None:
            raise ValueError(f"there is no flight {value!r}; search first and take a number from the result")
        return flight.title


def reference_of(call_id: str) -> str:
    """A booking reference that a repeated call would get again: "BCH-7QK2M"."""
    number = int.from_bytes(hashlib.sha256(call_id.encode()).digest()[:8])
    letters = ""
    for _ in range(5):
        number, rest = divmod(number, len(_LETTERS))
        letters += _LETTERS[rest]
    return f"BCH-{letters}"


async def book_flight(context: ToolContext, args: BookFlight) -> JsonObject:
    """Buy the tickets, if the fare is still what the person agreed to."""
    flight = catalogue.find_flight(args.flight)
    if flight is None:
        raise NotOnSale(f"There is no flight {args.flight}. Nothing was bought and nothing was paid.")
    if args.date < timezone.localdate():
        raise BadDate(f"{args.date.isoformat()} is in the past. Nothing was bought and nothing was paid.")
    if args.date.isoweekday() not in flight.days:
        raise NotOnSale(
            f"{flight.title} does not fly on {args.date:%A} {args.date.day} {args.date:%B}. Nothing was bought."
        )
    offer = fares.offer(flight, args.date, args.tickets)
    if args.total != offer["totalPrice"] or args.currency != offer["currency"]:
        raise NotOnSale(
            f"The fare is {fares.money(offer['totalPrice'], offer['currency'])}, not "
            f"{fares.money(args.total, args.currency)}. Nothing was bought and nothing was paid.",
            total=offer["totalPrice"],
            currency=offer["currency"],
        )
    booking = await sync_to_async(_store)(context, args)
    result = {
        "reference": booking.reference,
        "flight": flight.title,
        "origin": catalogue.airports()[flight.origin].name,
        "destination": catalogue.airports()[flight.destination].name,
        "departure": offer["departure"],
        "arrival": offer["arrival"],
        "leadPassenger": args.lead_passenger,
        "email": args.email,
        "tickets": args.tickets,
        "total": args.total,
        "currency": args.currency,
        "baggage": offer["baggage"],
    }
    await context.attach(f"{booking.reference}.txt", "text/plain", _confirmation(result).encode())
    return result


def _store(context: ToolContext, args: BookFlight) -> Booking:
    try:
        with transaction.atomic():
            return Booking.objects.create(
                reference=reference_of(context.call_id),
                call_id=context.call_id,
                session_id=str(context.session_id),
                flight=args.flight,
                date=args.date,
                lead_passenger=args.lead_passenger,
                email=args.email,
                tickets=args.tickets,
                total=Decimal(args.total),
                currency=args.currency,
            )
    except IntegrityError as error:
        raise Conflict("These tickets were bought by an earlier run of the same call.") from error


def _confirmation(result: JsonObject) -> str:
    """The receipt, as a text file. It says itself that the ticket is none."""
    lines = (
        f"Booking {result['reference']}",
        f"{result['flight']} from {result['origin']} to {result['destination']}",
        f"Departs {_moment(result['departure'])}, arrives {_moment(result['arrival'])}",
        f"{_tickets(result['tickets']).capitalize()} for {result['leadPassenger']}",
        f"Total {fares.money(result['total'], result['currency'])}, {result['baggage']}",
        "",
        "From the Beach demo: no airline knows of this booking and nothing was paid.",
    )
    return "\n".join(lines) + "\n"


def _moment(value: str) -> str:
    """ "2026-08-15 06:15": no timetable knows seconds."""
    return value.replace("T", " ")[:16]


def _tickets(count: int) -> str:
    return "one ticket" if count == 1 else f"{count} tickets"


def _question(args: BookFlight) -> str:
    flight = catalogue.find_flight(args.flight)
    price = fares.money(args.total, args.currency)
    if flight is None:
        return f"Buy {_tickets(args.tickets)} on {args.flight} for {price}?"
    start, end = (catalogue.airports()[code].name for code in (flight.origin, flight.destination))
    return f"Buy {_tickets(args.tickets)} from {start} to {end} for {price}?"


def _why(args: BookFlight) -> str:
    bought = "it" if args.tickets == 1 else "them"
    return f"Sally buys {bought} once. The fare cannot be refunded; in this demo nothing is really charged."


def _rule(asking: Asking) -> Ask:
    """A journey that costs much needs a travel manager besides whoever travels."""
    if asking.args.total < MANAGED_FROM:
        return Ask()
    return Ask(deciders=(OWNER, Group(MANAGERS)), needed=2)


def _done(args: BookFlight, result: Json) -> str:
    bought: Any = result if isinstance(result, dict) else {}
    return f"{_tickets(args.tickets).capitalize()} booked: {bought.get('reference', 'none')}"


BOOK_FLIGHT = Tool(
    name="book_flight",
    description=(
        "Buy tickets for one flight. A person is asked first, by the runtime. Needs the exact total of a search."
    ),
    input=BookFlight,
    run=book_flight,
    label="Booking the flight",
    approval=ApprovalPolicy(
        question=_question, why=_why, done=_done, risk="high", risk_note="spends money", rule=_rule
    ),
    idempotent=False,
    data_kind="flight-booking",
)
