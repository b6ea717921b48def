"""The script that plays Sally: a function of the request and of nothing else."""

from __future__ import annotations

from beachsite.demo.script import book, flights, intents, look, talk
from beachsite.demo.script.replay import Flow, going_on, play
from beachsite.demo.script.scene import (
    ASK_DAY,
    ASK_DESTINATION,
    ASK_HOTEL,
    ASK_ORIGIN,
    ASK_RESEARCH,
    Scene,
    added,
    not_understood,
    read_scene,
)
from beachsite.demo.script.slots import read_slots
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Reply
from envelopes.types import JsonObject


def sally(request: ModelRequest) -> Reply:
    """What Sally says next."""
    scene = read_scene(request)
    return play(_all_of(scene), scene.conversation)


def _all_of(scene: Scene) -> Flow:
    """What she was asked, and then whatever was said while she was at work on that."""
    scenes = [scene]
    for number, words in enumerate(scene.conversation.joined, 1):
        scenes.append(added(scenes[-1], words, number))
    for one in scenes[:-1]:
        yield from going_on(flow_of(one))
    yield from flow_of(scenes[-1])


def flow_of(scene: Scene) -> Flow:
    if scene.action is not None:
        return _clicked(scene, scene.action)
    intent = intents.of(scene.text)
    understood = not not_understood(scene.text)
    if scene.pending and understood and intent in ("unclear", "thanks"):
        return _answered(scene)
    match intent:
        case "search":
            return flights.search(scene)
        case "book":
            return book.from_words(scene)
        case "hotels":
            return look.hotels(scene)
        case "research":
            return look.research(scene)
        case "bookings":
            return talk.bookings()
        case "hello" | "help":
            return talk.hello()
        case "thanks":
            return talk.thanks()
        case "unclear":
            # "And on Sunday?" goes on from the last search.
            goes_on = (
                understood and scene.known.destination and read_slots(scene.text, scene.today).says_something
            )
            return flights.search(scene) if goes_on else talk.lost()


def _answered(scene: Scene) -> Flow:
    """The last turn ended with a question, and this is no new request."""
    if scene.pending in (ASK_ORIGIN, ASK_DESTINATION, ASK_DAY):
        return flights.search(scene)
    if scene.pending == ASK_HOTEL:
        return look.hotels(scene)
    if scene.pending == ASK_RESEARCH:
        return look.research(scene)
    return talk.lost()


def _clicked(scene: Scene, action: JsonObject) -> Flow:
    raw = action.get("context")
    context: JsonObject = raw if isinstance(raw, dict) else {}
    match action.get("name"):
        case "refine_search":
            return flights.refine(scene, context)
        case "select_flight":
            return flights.select(scene, context)
        case "book_selected":
            return book.from_form(scene, context)
        case "choose_hotel":
            return look.choose_hotel(scene, context)
        case "continue_research":
            return look.go_on(scene, context)
        case name:
            return talk.stale(str(name))
