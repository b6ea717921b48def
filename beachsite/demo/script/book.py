"""Buying: from the passenger form or in one sentence, and what is said once a person has decided."""

from __future__ import annotations

import re
from datetime import date

from beachsite.demo import catalogue
from beachsite.demo.script import flights, forms
from beachsite.demo.script.dates import say_day
from beachsite.demo.script.forms import NOT_AGAIN, fate
from beachsite.demo.script.people import mail, person
from beachsite.demo.script.replay import Flow
from beachsite.demo.script.say import ack, answer, error_code, failed, found, surface
from beachsite.demo.script.scene import Scene, means_last
from beachsite.demo.script.slots import Slots, read_slots
from beachsite.demo.surfaces.passenger import (
    ASKED,
    BOOKED,
    OPEN,
    UNKNOWN,
    booking_card,
    form_state,
    passenger_form,
)
from envelopes.providers.scripted import Call, Outcome, Say, text
from envelopes.types import JsonObject

KIND, FORM_KIND = "flight-booking", "passenger-form"
_SENT = "That form has been sent already, so I have not asked again."
_REPLACED = "That form has been replaced, so I have not booked anything from it. Use the newest one below it."


def from_form(scene: Scene, context: JsonObject) -> Flow:
    """The passenger form was sent. Two windows may send one twice, or one after it was replaced."""
    form = str(context.get("form") or "")
    match fate(scene.conversation.request, form):
        case "sent":
            yield answer(_SENT)
            return
        case "replaced":
            yield answer(_REPLACED)
            return
    arguments: JsonObject = {
        "flight": context.get("flight"),
        "date": context.get("date"),
        "lead_passenger": str(context.get("name") or "").strip(),
        "email": str(context.get("email") or "").strip(),
        "tickets": int(context.get("tickets") or 1),
        "total": context.get("total"),
        "currency": context.get("currency"),
    }
    yield from _buy(scene, arguments, form)


def from_words(scene: Scene) -> Flow:
    """ "Book the easyJet one for Ada Lovelace": the search is run again, so that the price is today's."""
    if refusal := flights.impossible(scene):
        yield refusal
        return
    named, wish, words = _meant(scene)
    question = flights.missing(wish)
    if question is not None:
        yield question
        return
    yield ack("Checking the fare")
    asked = Slots(origin=wish.origin, destination=wish.destination, day=wish.day, passengers=wish.passengers)
    outcome = yield flights.call_of(asked, "check_fare")
    result = found(outcome)
    if result is None:
        if outcome is not None:
            yield failed(outcome, flights.FAILED)
        return
    offer = _pick(words, named, result["flights"])
    if offer is None:
        day = say_day(date.fromisoformat(result["date"]), scene.today)
        yield answer(
            f"That flight doesn’t run on {day}, so I have not booked anything. Choose another flight or day."
        )
        return
    tickets = result["passengers"]
    # What was asked for in words goes on in words; what was typed into a form is shown in one, to be read again.
    order = scene.order
    repeated = means_last(scene.text) and order.words
    flight = f"{offer['airline']} {offer['flightNumber']}"
    name = person(scene.text) or (order.name if repeated else "")
    email = mail(scene.text) or order.email
    if not name:
        messages = scene.forms.chosen(flight, result["date"])
        replaced = [surface(messages, FORM_KIND)] if messages else []
        yield answer(
            "Nothing is bought before you approve it.",
            *replaced,
            surface(passenger_form(f"passenger-{scene.key}", offer, tickets, order.name, email), FORM_KIND),
        )
        return
    yield from _buy(
        scene,
        {
            "flight": flight,
            "date": result["date"],
            "lead_passenger": name,
            "email": email,
            "tickets": tickets,
            "total": offer["totalPrice"],
            "currency": offer["currency"],
        },
    )


def _meant(scene: Scene) -> tuple[catalogue.Flight | None, Slots, str]:
    """The flight that is named or was chosen, the wish it belongs to, and the words that tell which offer."""
    named, wish, words = _named_flight(scene.text), scene.wish, scene.text
    if means_last(words) and named is None and not _airlines(words):
        order = scene.order
        said = read_slots(words, scene.today)
        chosen = catalogue.find_flight(order.flight)
        if chosen is not None:
            named = chosen
            wish = wish.then(Slots(day=order.day, passengers=order.tickets))
            wish = wish.then(Slots(day=said.day, passengers=said.passengers))
        elif order.words:
            named, words = _named_flight(order.words), order.words
    if named is not None:
        wish = wish.then(Slots(origin=named.origin, destination=named.destination))
    return named, wish, words


def _buy(scene: Scene, arguments: JsonObject, form: str = "") -> Flow:
    """Ask for the approval and say what came of it. ``form`` is closed meanwhile, and opened again for another try."""
    yield ack("Asking for your approval")
    closed = form_state(form, ASKED) if form else scene.forms.chosen(arguments["flight"], arguments["date"])
    if closed:
        yield Say([surface(closed, FORM_KIND)], "awaiting")
    outcome = yield Call("book_flight", arguments)
    if outcome is None:
        return
    if form:
        left = BOOKED if found(outcome) else UNKNOWN if error_code(outcome) == "outcome_unknown" else OPEN
        yield Say([surface(form_state(form, left), FORM_KIND)], "awaiting")
    yield _said(scene, outcome)


def _said(scene: Scene, outcome: Outcome) -> Say:
    """What happened, and in every bad case what did not."""
    booked = found(outcome)
    if booked is not None:
        return _booked(scene, booked)
    facts = outcome.content if isinstance(outcome.content, dict) else {}
    match error_code(outcome):
        case "denied":
            reason = str(facts.get("reason") or "").strip()
            because = f" The reason given: “{reason}”" if reason else ""
            return answer(f"I have not booked it, and nothing was paid.{because}")
        case "expired":
            return answer(
                "Nobody answered in time, so the request expired. Nothing was bought and nothing was paid. "
                "Ask me again if you still want to book."
            )
        case "outcome_unknown":
            problem = {
                "code": "outcome_unknown",
                "title": "Nobody knows yet whether this was booked",
                "retry": False,
            }
            words = (
                "The server stopped while the tickets were being bought, so I cannot tell whether they were. "
                f"{NOT_AGAIN} Ask the staff before you book anything else."
            )
            return Say([{**text("error", words), "data": problem}], "error")
        case _:
            return failed(outcome, "The booking did not go through")


def _booked(scene: Scene, booked: JsonObject) -> Say:
    """What the approval and the card do not say already."""
    card = booking_card(f"booking-{scene.key}", booked)
    receipt = (
        f"The confirmation goes to {booked['email']}." if booked.get("email") else "Your receipt is above."
    )
    return answer(f"{forms.BOOKED} {receipt}", surface(card, KIND))


def _named_flight(words: str) -> catalogue.Flight | None:
    squeezed = catalogue.folded(words).replace(" ", "")
    for flight in catalogue.timetable().values():
        if re.search(rf"{flight.number.replace(' ', '').lower()}(?!\d)", squeezed):
            return flight
    return None


def _airlines(words: str) -> list[str]:
    lower = catalogue.folded(words)
    return [
        airline.name for airline in catalogue.airlines().values() if catalogue.folded(airline.name) in lower
    ]


def _pick(words: str, named: catalogue.Flight | None, offers: list[JsonObject]) -> JsonObject | None:
    """The offer that the words mean: by number, by airline, else the cheapest."""
    if named is not None:
        return next((offer for offer in offers if offer["flightNumber"] == named.number), None)
    airlines = _airlines(words)
    if airlines:
        return next((offer for offer in offers if offer["airline"] in airlines), None)
    return offers[0] if offers else None
