"""What is neither a search nor a booking: greetings, thanks, and not understanding."""

from __future__ import annotations

from beachsite.demo.script.replay import Flow
from beachsite.demo.script.say import answer

ABILITIES = (
    "- find flights: *Find flights from London Gatwick to Corfu on 15 August for 2*\n"
    "- book one once you approve it: *Book the easyJet one for Ada Lovelace*\n"
    "- find hotels: *Hotels in Lisbon for 3 nights*\n"
    "- research a place: *Research Corfu for me*"
)


def hello() -> Flow:
    yield answer(
        f"Hello! I am Sally, the travel desk of this demo. I follow a script, but I can:\n\n{ABILITIES}"
    )


def bookings() -> Flow:
    yield answer(
        "Each booking stays in its conversation, with the confirmation as a file. I cannot list or cancel bookings: "
        "this demo only books flights, once you approve."
    )


def thanks() -> Flow:
    yield answer("You’re welcome. Anything else for the trip?")


def lost() -> Flow:
    yield answer(
        "I didn’t understand that. I am a scripted demo and know only a few sentences, all in English and about "
        f"travel. I can:\n\n{ABILITIES}"
    )


def stale(name: str) -> Flow:
    yield answer(f"I don’t know what to do with “{name}”. Ask me in words instead.")
