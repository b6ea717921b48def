"""What is neither a search nor a booking: greetings, thanks, and not understanding."""

from __future__ import annotations

from beachsite.demo.script.replay import Flow
from beachsite.demo.script.say import answer

ABILITIES = (
    "- find flights: *Find flights from London Gatwick to Corfu on 15 August for 2*\n"
    "- book one, once you approve: *Book the easyJet one for Ada Lovelace*\n"
    "- look up hotels: *Hotels in Lisbon for 3 nights*\n"
    "- research a place: *Research Corfu for me*"
)


def hello() -> Flow:
    yield answer(
        f"Hello, I am Sally, the travel desk of this demo. I follow a script, but I can:\n\n{ABILITIES}"
    )


def bookings() -> Flow:
    yield answer(
        "What I booked stays in its conversation, with the confirmation as a file. I can neither list bookings nor "
        "cancel them: this demo books flights, once you approve, and no more."
    )


def thanks() -> Flow:
    yield answer("You are welcome. Anything else for the trip?")


def lost() -> Flow:
    yield answer(
        "I did not understand that: I am a scripted demo and know only a few sentences, all about travel. I can:"
        f"\n\n{ABILITIES}"
    )


def stale(name: str) -> Flow:
    yield answer(f"I do not know what to do with “{name}”. Ask me in words instead.")
