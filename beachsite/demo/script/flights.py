"""Searching flights, searching again from the form, choosing one."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from beachsite.demo import catalogue, fares
from beachsite.demo.fares import money
from beachsite.demo.rules import listed
from beachsite.demo.script import forms, intents, people
from beachsite.demo.script.dates import no_day, say_day
from beachsite.demo.script.replay import Flow
from beachsite.demo.script.say import ack, answer, ask, domain, error_code, failed, found, surface
from beachsite.demo.script.scene import ASK_DAY, ASK_DESTINATION, ASK_ORIGIN, Scene
from beachsite.demo.script.slots import Slots, city_airports, read_slots
from beachsite.demo.script.unknown import unknown_place
from beachsite.demo.surfaces.flights import flight_results, mark_selected, refill
from beachsite.demo.surfaces.passenger import passenger_form
from beachsite.demo.surfaces.refine import refine_form
from envelopes.providers.scripted import Call, Outcome, Say
from envelopes.types import Json, JsonObject

KIND = "flight-results"
FAILED = "The flight search did not work"
DAYS = ["tomorrow", "next Friday", "in two weeks"]


def search(scene: Scene) -> Flow:
    """Look for flights, or ask for what is missing."""
    wish = scene.wish
    if wish.destination == "Atlantis":
        yield from _atlantis(scene)
        return
    if refusal := impossible(scene):
        yield refusal
        return
    answers = scene.pending in (ASK_ORIGIN, ASK_DESTINATION)
    place = unknown_place(scene.text, flight=True, answer=answers)
    if place and intents.of(scene.text) == "search":
        # A place of an earlier search is not what is meant.
        said = read_slots(scene.text, scene.today)
        wish = replace(wish, origin=said.origin, destination=said.destination)
    question = missing(wish, place)
    if question is not None:
        yield question
        return
    assert wish.day is not None  # noqa: S101 - missing() asked for it
    yield ack(f"Searching flights from {_name(wish.origin)} to {_name(wish.destination)}")
    outcome = yield call_of(wish)
    result = found(outcome)
    if result is None:
        if outcome is not None:
            yield failed(outcome, FAILED, instead=_instead(wish, outcome))
        return
    results, form = f"flights-{scene.key}", f"refine-{scene.key}"
    yield answer(summary(result, scene.today), state="awaiting")
    shown = [domain(result, KIND), surface(flight_results(results, result), KIND)]
    if replaced := scene.forms.searched():
        shown.append(surface(replaced, KIND))
    yield Say(shown, "awaiting")
    yield Say([surface(refine_form(form, results, result, scene.today), KIND)])


def refine(scene: Scene, context: JsonObject) -> Flow:
    """Search again with what the form holds, into the card that is there already."""
    arguments = _form_arguments(context)
    yield ack(f"Searching again: {_wanted(arguments)}")
    outcome = yield Call("search_flights", arguments)
    result = found(outcome)
    if result is None:
        if outcome is not None:
            yield failed(outcome, FAILED)
        return
    refilled = [*refill(str(context.get("results")), result), *scene.forms.refined()]
    yield Say([domain(result, KIND), surface(refilled, KIND)], "awaiting")
    yield answer(f"The list above is up to date. {summary(result, scene.today)}")


def select(scene: Scene, context: JsonObject) -> Flow:
    """Mark the row and ask who travels."""
    flight = catalogue.find_flight(str(context.get("flight")))
    if flight is None:
        yield answer("That flight is no longer in the list. Search again and choose another.")
        return
    if scene.forms.asking:
        yield answer(f"{forms.WAITS} Approve or deny it first, then choose another flight.")
        return
    day = date.fromisoformat(str(context["date"]))
    people = int(context.get("passengers") or 1)
    previous: Json = context.get("previous")
    offer = fares.offer(flight, day, people)
    replaced = scene.forms.chosen(f"{offer['airline']} {offer['flightNumber']}", day.isoformat())
    form = f"passenger-{scene.key}"
    marks = mark_selected(
        str(context["surface"]), int(context["row"]), int(previous) if previous is not None else None, form
    )
    yield answer(
        "Nothing is bought before you approve it.",
        surface([*marks, *replaced], KIND),
        surface(passenger_form(form, offer, people), "passenger-form"),
    )


def impossible(scene: Scene) -> Say | None:
    """What cannot be searched, whatever else is said: too many people, or a day that is none."""
    if (number := people.said(scene.text)) > people.MOST:
        return answer(
            f"One booking holds at most nine tickets, so I cannot search for {number:,}. Tell me a number up to nine; "
            "a larger group needs several bookings."
        )
    if reason := no_day(scene.text, scene.today):
        return ask(f"{reason} {ASK_DAY}", DAYS)
    return None


def missing(wish: Slots, unknown: str = "") -> Say | None:
    """The question to ask next, with answers to choose from; None when nothing is missing. ``unknown``: a place that
    was named and is not in the demo."""
    sorry = ""
    if unknown:
        known = listed([airport.name for airport in catalogue.airports().values()], "and")
        sorry = f"I don’t know {unknown}. This demo flies between {known}. "
    if not wish.origin:
        return ask(sorry + ASK_ORIGIN, ["London Gatwick", "London Heathrow", "Lisbon", "Copenhagen"])
    if several := city_airports(wish.origin):
        return ask(sorry + ASK_ORIGIN, [airport.name for airport in several])
    if not wish.destination:
        return ask(sorry + ASK_DESTINATION, fares.routes_from(wish.origin))
    if several := city_airports(wish.destination):
        return ask(sorry + ASK_DESTINATION, [airport.name for airport in several])
    if wish.day is None:
        return ask(ASK_DAY, DAYS)
    return None


def call_of(wish: Slots, tool: str = "search_flights") -> Call:
    arguments: JsonObject = {
        "origin": _name(wish.origin),
        "destination": _name(wish.destination),
        "date": wish.day.isoformat() if wish.day else "",
        "passengers": wish.passengers or 1,
    }
    if wish.max_price is not None:
        arguments["max_price"] = wish.max_price
    if wish.direct_only:
        arguments["direct_only"] = True
    if wish.time_of_day != "any":
        arguments["time_of_day"] = wish.time_of_day
    return Call(tool, arguments)


def summary(result: JsonObject, today: date) -> str:
    """The answer in words: how many, the cheapest, and what one gets for more."""
    flights: list[JsonObject] = result["flights"]
    day = say_day(date.fromisoformat(result["date"]), today)
    if not flights:
        if not result["flightsThatDay"]:
            return f"Nobody flies that route on {day}. Choose another day in the form."
        there = f"None of the {result['flightsThatDay']} flights on {day} matches."
        return f"{there} Raise the maximum price or allow a stop."
    cheapest = flights[0]
    words = f"**{cheapest['airline']} {cheapest['flightNumber']}** {_is(len(flights))} {_price(cheapest)}"
    direct = [flight for flight in flights if not flight["stops"]]
    if not cheapest["stops"] or not direct:
        return f"{words}."
    return f"{words}, with a stop; the cheapest direct flight is {_price(direct[0])}."


def _is(of_them: int) -> str:
    return "costs" if of_them == 1 else "is the cheapest at"


def _atlantis(scene: Scene) -> Flow:
    wish = scene.wish
    yield ack("Looking for a way to Atlantis")
    day = wish.day or scene.today
    origin = wish.origin if wish.origin in catalogue.airports() else "LGW"
    outcome = yield call_of(Slots(origin=origin, destination="Atlantis", day=day, passengers=wish.passengers))
    if outcome is not None:
        yield failed(
            outcome, "Atlantis cannot be reached", instead=_instead(Slots(origin=origin, day=day), outcome)
        )


def _instead(wish: Slots, outcome: Outcome) -> list[str]:
    """Searches that can work where this one could not."""
    if wish.day is None or error_code(outcome) not in ("no_route", "system_down"):
        return []
    there = fares.routes_from(wish.origin)[:3]
    return [f"Fly from {_name(wish.origin)} to {name} on {wish.day.day} {wish.day:%B %Y}" for name in there]


def _form_arguments(context: JsonObject) -> JsonObject:
    limit, unlimited = context.get("maxPrice"), context.get("noLimitFrom")
    time = context.get("time")
    arguments: JsonObject = {
        "origin": context.get("origin"),
        "destination": context.get("destination"),
        "date": context.get("date"),
        "passengers": _whole(context.get("passengers")),
        "direct_only": bool(context.get("directOnly")),
        "time_of_day": str(time[0]) if isinstance(time, list) and time else "any",
    }
    # The slider at its end means that the price does not matter.
    if isinstance(limit, (int, float)) and isinstance(unlimited, (int, float)) and limit < unlimited:
        arguments["max_price"] = round(limit)
    return arguments


def _whole(value: Json) -> Json:
    """A number that was typed; what is none goes to the tool as it is, which says so."""
    text = str(value or 1).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else value


def _wanted(arguments: JsonObject) -> str:
    words = [f"{arguments['origin']} to {arguments['destination']}"]
    if arguments["time_of_day"] != "any":
        words.append(arguments["time_of_day"])
    if "max_price" in arguments:
        origin = catalogue.find_airport(str(arguments["origin"]))
        limit = money(arguments["max_price"], origin.currency) if origin else arguments["max_price"]
        words.append(f"up to {limit} per person")
    if arguments["direct_only"]:
        words.append("direct only")
    return ", ".join(words)


def _name(code: str) -> str:
    airport = catalogue.airports().get(code)
    return airport.name if airport else code


def _price(flight: JsonObject) -> str:
    return f"{money(flight['pricePerPerson'], flight['currency'])} per person"
