"""Hotels and research: nothing here is bought."""

from __future__ import annotations

from datetime import date, timedelta

from beachsite.demo import catalogue
from beachsite.demo.fares import money
from beachsite.demo.research import KIND as RESEARCH_KIND
from beachsite.demo.script import people
from beachsite.demo.script.dates import find_day, no_day, say_day
from beachsite.demo.script.replay import Flow, Later
from beachsite.demo.script.say import ack, answer, ask, count, domain, failed, found, surface, thinking
from beachsite.demo.script.scene import ASK_HOTEL, ASK_RESEARCH, Scene
from beachsite.demo.script.slots import nights, read_slots
from beachsite.demo.script.unknown import unknown_place
from beachsite.demo.surfaces.hotels import hotel_results, mark_chosen
from envelopes.providers.scripted import Call, Outcome, Say, data
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
        yield answer(f"A hotel search holds at most six guests, not {guests:,}. Ask for up to six at a time.")
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
    yield ack(f"Looking for hotels in {place.name}, {stay} from {say_day(day, scene.today)}.")
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
    total = money(float(context.get("total") or 0), str(context.get("currency") or "EUR")).removesuffix(".00")
    stay = count(int(context.get("nights") or 1), "night", "nights")
    day = say_day(date.fromisoformat(str(context["checkIn"])), scene.today)
    yield answer(
        f"**{context.get('hotel')}**, {context.get('area')}: {stay} from {day} for {total}. This demo books flights "
        "only, so nothing was reserved. Ask me for flights if you want some to go with it.",
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
    sorry = f"I know nothing about {unknown}. This demo knows {', '.join(names)}. " if unknown else ""
    return ask(sorry + question, names)


def research(scene: Scene) -> Flow:
    """Start the research, say that it is at work, answer when its result comes."""
    place = destination_in(scene.text)
    if place is None:
        yield _which(scene, ASK_RESEARCH)
        return
    yield ack(f"I will find out about {place.name}.")
    yield Call("research_destination", {"destination": place.name})
    yield thinking("Reading on in the background, and filling the card as I find things.")
    outcome = yield Later()
    if outcome is None:
        return
    content = outcome.content if isinstance(outcome.content, dict) else {}
    result = content.get("result")
    if outcome.is_error or not isinstance(result, dict):
        error = content.get("error") or content
        yield failed(Outcome(outcome.tool, outcome.call_id, error, is_error=True), "The research broke off")
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
        return f"No hotel in {result['destination']} is that cheap. Try a higher price a night."
    best, cheapest = hotels[0], min(hotels, key=lambda hotel: float(hotel["pricePerNight"]))
    words = (
        f"{count(len(hotels), 'hotel', 'hotels').capitalize()} in {result['destination']}. "
        f"Guests like **{best['name']}** best ({best['score']} of 10)"
    )
    if cheapest["id"] == best["id"]:
        return f"{words}, and it is the cheapest too."
    a_night = money(cheapest["pricePerNight"], cheapest["currency"]).removesuffix(".00")
    return f"{words}; {cheapest['name']} is the cheapest at {a_night} a night."


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
    ]


def _research_words(result: JsonObject) -> str:
    name = result["destination"]
    costs = {item["name"]: item["amount"] for item in result["budget"]["items"]}
    room = next(iter(costs.items()), ("Room for two, a night", 0))
    first = result["sights"]["items"][0]
    food = result["food"]["items"][0]
    return (
        f"**{name}, {result['country']}.** {result['lead']} {result['weather']['summary']}\n\n"
        f"- See **{first['name']}** first: {_lower(first['note'])}\n"
        f"- Eat **{food['name']}**: {_lower(food['note'])}\n"
        f"- Count on about €{room[1]} a night for a room for two.\n\n"
        "Everything else is in the card, with its sources."
    )


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
