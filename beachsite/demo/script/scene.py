"""What the script knows when it is asked: the request, read once."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils import timezone

from beachsite.demo.script import intents
from beachsite.demo.script.dates import find_day
from beachsite.demo.script.forms import Forms, bare, open_forms, opening
from beachsite.demo.script.people import mail, person
from beachsite.demo.script.slots import Place, Slots, is_guess, read_slots
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Conversation
from envelopes.providers.transcript import ActionTaken, UserText, entries
from envelopes.types import JsonObject

ASK_ORIGIN = "Which airport are you leaving from?"
ASK_DESTINATION = "Where would you like to go?"
ASK_DAY = "Which day would you like to fly?"
ASK_HOTEL = "Where do you need a hotel?"
ASK_RESEARCH = "Which destination should I research?"
_QUESTIONS = (ASK_ORIGIN, ASK_DESTINATION, ASK_DAY, ASK_HOTEL, ASK_RESEARCH)


@dataclass(frozen=True)
class Order:
    """What was chosen or nearly bought last: by a flight and its day, or by the ``words`` that asked for it."""

    flight: str = ""
    day: date | None = None
    tickets: int = 0
    name: str = ""
    email: str = ""
    words: str = ""


@dataclass(frozen=True)
class Scene:
    """``pending`` is the question that the last turn ended with; ``known`` what earlier turns say about a flight;
    ``order`` is what "book it" means; ``key`` is short and its own for each turn, for surface ids; ``forms`` are those
    of earlier turns."""

    conversation: Conversation
    today: date
    text: str
    action: JsonObject | None
    pending: str
    known: Slots
    order: Order
    key: str
    forms: Forms

    @property
    def wish(self) -> Slots:
        """What earlier turns and this one say together. A whole new request forgets the earlier ones."""
        return _told(self.text, self.pending, self.known, self.today)


def read_scene(request: ModelRequest) -> Scene:
    conversation = Conversation(request)
    today = _today(conversation)
    known, pending, order = _memory(request, conversation, today)
    key = re.sub(r"[^A-Za-z0-9]", "", str(request.turn_id))[-8:] or "turn"
    click = conversation.action
    return Scene(
        conversation,
        today,
        conversation.text.strip(),
        bare(click) if click else None,
        pending,
        known,
        order,
        key,
        open_forms(request, conversation),
    )


def added(scene: Scene, words: str, number: int) -> Scene:
    """What is left to do after ``scene``, in the same turn, about what the person said meanwhile."""
    known = scene.wish if scene.action is None else scene.known
    key, order = f"{scene.key}{number}", _ordered(scene.text, scene.order)
    return replace(scene, text=words.strip(), action=None, pending="", known=known, order=order, key=key)


def _today(conversation: Conversation) -> date:
    """The day the turn began, by its own clock: a turn that runs over midnight must not change its mind."""
    for injection in conversation.injections:
        if injection.kind == "context" and isinstance(injection.payload, dict):
            try:
                now = datetime.fromisoformat(str(injection.payload.get("now")))
                return now.astimezone(ZoneInfo(str(injection.payload.get("timezone") or "UTC"))).date()
            except (ValueError, ZoneInfoNotFoundError):
                break
    return timezone.localdate()


def _memory(request: ModelRequest, conversation: Conversation, today: date) -> tuple[Slots, str, Order]:
    known, pending, order = Slots(), "", Order()
    for message in request.messages[: opening(request)]:
        if message["role"] == "assistant":
            said = " ".join(
                str(block.get("text", "")) for block in message["content"] if isinstance(block, dict)
            )
            pending = next((question for question in _QUESTIONS if question in said), "")
            continue
        for entry in entries(message):
            if isinstance(entry, UserText):
                told = _told(entry.text, pending, known, today)
                # Nobody wants to go on from there.
                known = known if told.destination == "Atlantis" else told
                order = _ordered(entry.text, order)
            elif isinstance(entry, ActionTaken):
                known = _clicked(bare(entry.action), known, today)
                order = _chosen(bare(entry.action), order)
    return known, pending, order


def _ordered(text: str, order: Order) -> Order:
    """The order after somebody's words. Who travels stays the same when something else is looked for."""
    match intents.of(text):
        case "search":
            return Order(name=order.name, email=order.email)
        case "book":
            known = replace(order, name=person(text) or order.name, email=mail(text) or order.email)
            return known if means_last(text) else replace(known, flight="", day=None, tickets=0, words=text)
        case _:
            return order


def means_last(text: str) -> bool:
    """Whether "it" is booked: what was chosen before."""
    return bool(re.search(r"\b(it|that|this|again|after all|the same)\b", text.lower()))


def _chosen(action: JsonObject, order: Order) -> Order:
    context = action.get("context")
    if not isinstance(context, dict) or action.get("name") not in ("select_flight", "book_selected"):
        return order
    people = str(context.get("tickets") or context.get("passengers") or "")
    return Order(
        str(context.get("flight") or ""),
        find_day(str(context.get("date") or ""), date.min),
        int(people) if people.isdigit() else 0,
        str(context.get("name") or "").strip() or order.name,
        str(context.get("email") or "").strip() or order.email,
    )


def _told(text: str, pending: str, known: Slots, today: date) -> Slots:
    intent = intents.of(text)
    if not_understood(text):
        return known
    asked: Place | None = (
        "origin" if pending == ASK_ORIGIN else "destination" if pending == ASK_DESTINATION else None
    )
    said = read_slots(text, today, asked)
    answers = pending in (ASK_HOTEL, ASK_RESEARCH) and intent not in ("search", "book")
    if answers or intent in ("hotels", "research"):
        return known
    if intent == "search" and asked is None and pending != ASK_DAY:
        return said
    return known.then(said)


def not_understood(text: str) -> bool:
    """Whether nothing should be made of a sentence, though it names places that are known."""
    return intents.foreign(text) or (intents.of(text) == "unclear" and is_guess(text))


def _clicked(action: JsonObject, known: Slots, today: date) -> Slots:
    context = action.get("context")
    if not isinstance(context, dict) or action.get("name") != "refine_search":
        return known
    sentence = f"from {context.get('origin')} to {context.get('destination')} {context.get('date')}"
    said = read_slots(sentence, today)
    people = str(context.get("passengers") or "")
    return known.then(said).then(Slots(passengers=int(people) if people.isdigit() else 0))
