from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from babel import Locale
from django.utils import timezone
from pydantic import ValidationError

from beachsite.demo import catalogue, fares
from beachsite.demo.booking import BOOK_FLIGHT, MANAGED_FROM, BookFlight, book_flight, reference_of
from beachsite.demo.errors import BadDate, NotOnSale
from beachsite.demo.models import Booking
from envelopes.errors import Conflict
from envelopes.markup.facts import facts
from envelopes.registries.policies import Ask, Asking
from tests.beachsite.demo.stage import Context

pytestmark = pytest.mark.django_db(transaction=True)


def order(**more: Any) -> BookFlight:
    day = timezone.localdate() + timedelta(days=30)
    total = fares.offer(catalogue.timetable()["EJ4521"], day, 2)["totalPrice"]
    given = {
        "flight": "EJ4521",
        "date": day,
        "lead_passenger": "Ada Lovelace",
        "tickets": 2,
        "total": total,
        "currency": "GBP",
    }
    return BookFlight(**{**given, **more})


async def test_a_booking_is_stored_with_its_reference() -> None:
    context = Context(call_id="call-7")
    bought = await book_flight(context, order())

    stored = await Booking.objects.aget(call_id="call-7")
    assert stored.reference == bought["reference"] == reference_of("call-7")
    assert (stored.flight, stored.tickets, stored.lead_passenger) == ("easyJet EJ4521", 2, "Ada Lovelace")
    (receipt,) = context.files.values()
    assert re.search(r"Departs \d{4}-\d\d-\d\d 06:15, arrives \d{4}-\d\d-\d\d \d\d:\d\d\n", receipt.decode())
    assert str(stored) == f"{stored.reference}, easyJet EJ4521"


async def test_the_same_call_never_buys_twice() -> None:
    await book_flight(Context(call_id="call-8"), order())

    with pytest.raises(Conflict):
        await book_flight(Context(call_id="call-8"), order())

    assert await Booking.objects.acount() == 1


async def test_another_total_than_the_fare_buys_nothing() -> None:
    with pytest.raises(NotOnSale, match="Nothing was bought"):
        await book_flight(Context(), order(total=1))

    assert await Booking.objects.acount() == 0


async def test_another_currency_buys_nothing() -> None:
    with pytest.raises(NotOnSale):
        await book_flight(Context(), order(currency="EUR"))


async def test_a_day_without_that_flight() -> None:
    day = timezone.localdate() + timedelta(days=14)
    day += timedelta(days=(4 - day.weekday()) % 7)

    with pytest.raises(NotOnSale, match="does not fly on Friday"):
        await book_flight(Context(), order(flight="IW 604", date=day))


async def test_a_day_in_the_past() -> None:
    with pytest.raises(BadDate):
        await book_flight(Context(), order(date=timezone.localdate() - timedelta(days=1)))


def test_an_unknown_flight_is_refused_before_anyone_is_asked() -> None:
    with pytest.raises(ValidationError, match="there is no flight"):
        order(flight="XX 1")


def test_the_question_and_the_sentence_afterwards() -> None:
    policy = BOOK_FLIGHT.approval
    assert policy is not None
    asked = order(total=188)

    assert policy.question(asked) == "Buy 2 tickets from London Gatwick to Corfu for £188.00?"
    assert policy.why(asked)
    assert policy.done(asked, {"reference": "BCH-ABCDE"}) == "2 tickets booked: BCH-ABCDE"
    assert (policy.risk, policy.risk_note) == ("high", "spends money")


def test_one_ticket_is_not_one_tickets() -> None:
    policy = BOOK_FLIGHT.approval
    assert policy is not None

    assert policy.question(order(tickets=1, total=94)).startswith("Buy one ticket from")


def test_what_is_approved_can_be_read_as_plain_json() -> None:
    shown = order().model_dump(mode="json")

    assert shown["flight"] == "easyJet EJ4521"
    assert isinstance(shown["total"], int)


def test_the_card_says_the_booking_in_words_on_four_lines() -> None:
    assert {field["path"][0] for field in BOOK_FLIGHT.fields} == set(BookFlight.model_fields)
    shown = facts(BOOK_FLIGHT.fields, order().model_dump(mode="json"), Locale.parse("en_GB"))
    assert [(row.label[0].text, [fact.text for fact in row.facts]) for row in shown.rows] == [
        ("Flight", ["easyJet EJ4521", f"{order().date:%A} {order().date.day} {order().date:%B %Y}"]),
        ("Passenger", ["Ada Lovelace", "2 tickets"]),
        ("Email", ["Not given"]),
        ("Total price", [fares.money(order().total, "GBP")]),
    ]


def test_a_large_booking_needs_a_travel_manager_beside_whoever_travels() -> None:
    policy = BOOK_FLIGHT.approval
    assert policy is not None and callable(policy.rule)

    def asked(total: int) -> Any:
        return policy.rule(Asking(order(total=total), "book_flight", "sally", "s"))

    assert asked(MANAGED_FROM - 1) == Ask()
    large = asked(MANAGED_FROM)
    assert (large.needed, large.tokens) == (2, ("owner", "group:Travel managers"))
