"""Hotels and research: nothing here is bought."""

from __future__ import annotations

from datetime import date, timedelta

from beachsite.demo import catalogue
from beachsite.demo.fares import money
from beachsite.demo.research import KIND as RESEARCH_KIND
from beachsite.demo.rules import listed
from beachsite.demo.script import people
from beachsite.demo.script.dates import find_day, no_day, say_day
from beachsite.demo.script.replay import Flow, Later
from beachsite.demo.script.say import ack, answer, ask, count, domain, failed, found, surface, thinking
from beachsite.demo.script.scene import ASK_HOTEL, ASK_RESEARCH, Scene
from beachsite.demo.script.slots import nights, read_slots
from beachsite.demo.script.unknown import unknown_place
from beachsite.demo.surfaces.hotels import hotel_results, mark_chosen
from envelopes.providers.scripted import Call, Say, data
from envelopes.types import JsonObject

HOTEL_KIND = "hotel-results"
ROOMS = 6
"""How many guests one hotel search is for, at most."""


def hotels(scene: Scene) -> Flow:
    """Hotels at a place, on the day named, the day flown, or in two weeks."""
    place = destination_in(scene.text)
    if place is None:
        yield _which(scene, ASK_HOTEL)
        return
    if (guests := people.said(scene.text)) > ROOMS:
        yield answer(f"A hotel search takes at most six guests, not {guests:,}. Ask for up to six at a time.")
        return
    if reason := no_day(scene.text, scene.today):
        yield answer(
            f"{reason} Ask me again with a day to come, such as *hotels in {place.name} next Friday*."
        )
        return
    said = read_slots(scene.text, scene.today)
    day = find_day(scene.text, scene.today) or scene.known.day or scene.today + timedelta(days=14)
    length = nights(scene.text) or 3
    arguments: JsonObject = {
        "destination": place.name,
        "check_in": day.isoformat(),
        "nights": length,
        "guests": min(said.passengers or scene.known.passengers or 2, ROOMS),
    }
    if said.max_price is not None:
        arguments["max_price"] = said.max_price
    stay = count(length, "night", "nights")
    yield ack(f"Searching hotels in {place.name}, {stay} from {say_day(day, scene.today)}")
    outcome = yield Call("search_hotels", arguments)
    result = found(outcome)
    if result is None:
        if outcome is not None:
            yield failed(outcome, "The hotel search did not work")
        return
    yield answer(_hotel_words(result), state="awaiting" if result["hotels"] else "complete")
    if result["hotels"]:
        card = surface(hotel_results(f"hotels-{scene.key}", result), HOTEL_KIND)
        yield Say([domain(result, HOTEL_KIND), card])


def choose_hotel(scene: Scene, context: JsonObject) -> Flow:
    yield answer(
        f"**{context.get('hotel')}** is marked. This demo books only flights, so nothing was reserved; "
        "ask me for flights to go with it.",
        *_marks(context),
    )


def _marks(context: JsonObject) -> list[JsonObject]:
    """The chosen row says so. A card of an older version does not tell where it stands."""
    row, previous = context.get("row"), context.get("previous")
    if not isinstance(row, int):
        return []
    before = previous if isinstance(previous, int) else None
    return [surface(mark_chosen(str(context.get("surface")), row, before), HOTEL_KIND)]


def _which(scene: Scene, question: str) -> Say:
    """Ask for a place; say so where one was named that is not here."""
    names = [place.name for place in catalogue.destinations().values()]
    unknown = unknown_place(scene.text, answer=scene.pending == question)
    sorry = f"I know nothing about {unknown}. This demo knows {listed(names, 'and')}. " if unknown else ""
    return ask(sorry + question, names)


def research(scene: Scene) -> Flow:
    """Start the research, say that it is at work, answer when its result comes."""
    place = destination_in(scene.text)
    if place is None:
        yield _which(scene, ASK_RESEARCH)
        return
    yield ack(f"Researching {place.name}")
    yield from _researched({"destination": place.name})


def go_on(scene: Scene, context: JsonObject) -> Flow:
    """Research that was stopped goes on in its own card, with the first section that is missing."""
    done = context.get("done")
    card: JsonObject = {"card": str(context.get("surface")), "done": done if isinstance(done, int) else 0}
    yield ack(f"Continuing the research about {context.get('destination')}")
    yield from _researched({"destination": str(context.get("destination")), **card})


def _researched(arguments: JsonObject) -> Flow:
    yield Call("research_destination", arguments)
    yield thinking("Researching in the background; the card fills in as I go")
    outcome = yield Later()
    if outcome is None:
        return
    result = found(outcome)
    if result is None:
        yield failed(outcome, "The research stopped")
        return
    yield Say([domain(result, RESEARCH_KIND)], "awaiting")
    yield answer(_research_words(result), *_citations(result))


def destination_in(words: str) -> catalogue.Destination | None:
    """The first destination that the words name."""
    lower = catalogue.folded(words)
    for place in catalogue.destinations().values():
        if catalogue.folded(place.name) in lower:
            return place
    slots = read_slots(words, date.min.replace(year=2000), "destination")
    airport = catalogue.airports().get(slots.destination)
    return catalogue.destinations().get(airport.name.lower()) if airport else None


def _hotel_words(result: JsonObject) -> str:
    hotels: list[JsonObject] = result["hotels"]
    if not hotels:
        return f"No hotel in {result['destination']} is that cheap. Try a higher price per night."
    best, cheapest = hotels[0], min(hotels, key=lambda hotel: float(hotel["pricePerNight"]))
    words = f"Guests rate **{best['name']}** highest"
    if cheapest["id"] == best["id"]:
        return f"{words}, and it is the cheapest too."
    return f"{words}; **{cheapest['name']}** is the cheapest."


def _citations(result: JsonObject) -> list[JsonObject]:
    return [
        data(
            "citation",
            {
                "path": f"/{source['section']}",
                "title": source["title"],
                "url": source["url"],
                "quote": source["quote"],
            },
        )
        for source in result["sources"]
        if source["section"] in _TOLD
    ]


_TOLD = ("sights", "food", "budget")
"""The sections that the answer speaks of; its citations are theirs."""


def _research_words(result: JsonObject) -> str:
    room = result["budget"]["items"][0]
    return (
        f"Start with **{result['sights']['items'][0]['name']}**, order **{result['food']['items'][0]['name']}**, and "
        f"expect to pay about {money(room['amount'], 'EUR')} a night for a room for two. The card above has the rest."
    )
