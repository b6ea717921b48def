"""The forms of earlier turns: which of them are still open, and what has become of one since.

Open ones are known from the data models that come with every message and click. That is how things stood when the
person acted; turns before this one may have changed them since, and the conversation tells how.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from beachsite.demo.surfaces import flights, passenger, refine
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Conversation
from envelopes.providers.transcript import ActionTaken, UserText, apart, entries
from envelopes.types import Json, JsonObject

PASSENGER, REFINE = "passenger-", "refine-"
ASKED = "[Asked for approval:"
DECIDED = "[Approval "
"""How a model reads of approvals in earlier turns."""

WAITS = "A booking is waiting for your approval above."
"""The answer to whoever chooses another flight meanwhile."""

BOOKED = "Booked."
NOT_AGAIN = "I have not tried again."
DONE = (BOOKED, NOT_AGAIN)
"""What an answer says when its form must not be sent a second time."""

Choice = tuple[Json, Json]
"""A flight by airline and number, and its date."""

Fate = Literal["", "sent", "replaced"]


@dataclass(frozen=True)
class Forms:
    """``passengers`` and ``searches`` are ids of open forms, the former with the flight and its date; ``results`` the
    lists that the latter refill; ``asking`` is true while an approval of an earlier turn waits for a person."""

    passengers: dict[str, Choice] = field(default_factory=dict)
    searches: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    asking: bool = False

    def chosen(self, flight: Json, day: Json) -> list[JsonObject]:
        """Messages after which the forms before this choice do nothing any more, and say whether it is another."""
        return [
            message
            for form, choice in self.passengers.items()
            for message in passenger.form_state(
                form, passenger.AGAIN if choice == (flight, day) else passenger.REPLACED
            )
        ]

    def searched(self) -> list[JsonObject]:
        """Messages after which only a newer search counts."""
        return [
            *(message for form in self.searches for message in refine.retire_form(form)),
            *(message for results in self.results for message in flights.retire(results)),
            *self.refined(),
        ]

    def refined(self) -> list[JsonObject]:
        """Messages after which nothing is left of what was chosen from the lists before."""
        return [
            message for form in self.passengers for message in passenger.form_state(form, passenger.SEARCHED)
        ]


def open_forms(request: ModelRequest, conversation: Conversation) -> Forms:
    model = conversation.data_model
    surfaces: Json = model.get("surfaces") if isinstance(model, dict) else None
    shown = surfaces.items() if isinstance(surfaces, dict) else ()
    still = [(name, data) for name, data in shown if isinstance(data, dict) and data.get("open") is True]
    return Forms(
        {name: _choice(data) for name, data in still if name.startswith(PASSENGER)},
        tuple(name for name, _ in still if name.startswith(REFINE)),
        tuple(str(data["results"]) for name, data in still if name.startswith(REFINE) and "results" in data),
        any(_waits(said) for _, said in _turns(request)),
    )


def _choice(data: JsonObject) -> Choice:
    offer = data.get("offer")
    return offer.get("title") if isinstance(offer, dict) else None, data.get("date")


def fate(request: ModelRequest, form: str) -> Fate:
    """What earlier turns have made of a form that was still open when it was sent."""
    found: Fate = ""
    for clicks, said in _turns(request):
        for action in clicks:
            context = action.get("context")
            if not isinstance(context, dict) or not form:
                continue
            if action.get("name") == "book_selected" and context.get("form") == form:
                found = "sent" if _waits(said) or any(words in said for words in DONE) else ""
            elif action.get("name") == "select_flight" and context.get("form") == form and WAITS not in said:
                found = "replaced"
    return found


def _waits(said: str) -> bool:
    return said.count(ASKED) > said.count(DECIDED)


def _turns(request: ModelRequest) -> list[tuple[list[JsonObject], str]]:
    """Earlier turns: the clicks before each answer, and the answer."""
    turns: list[tuple[list[JsonObject], str]] = []
    clicks: list[JsonObject] = []
    for message in request.messages[: opening(request)]:
        if message["role"] == "assistant":
            blocks = [block for block in message["content"] if isinstance(block, dict)]
            turns.append((clicks, " ".join(str(block.get("text", "")) for block in blocks)))
            clicks = []
            continue
        found = [bare(entry.action) for entry in entries(message) if isinstance(entry, ActionTaken)]
        clicks = [*clicks, *found]
    return turns


def opening(request: ModelRequest) -> int:
    """Where this turn begins: the last user message with a person's words or a click."""
    places = [
        number
        for number, message in enumerate(request.messages)
        if any(isinstance(entry, (UserText, ActionTaken)) for entry in apart(entries(message))[0])
    ]
    return places[-1] if places else 0


def bare(action: JsonObject) -> JsonObject:
    """The action itself, also where it comes in its message (``{version, action}``)."""
    inner = action.get("action")
    return inner if isinstance(inner, dict) else action
