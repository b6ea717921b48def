"""The actor: one Sally, on Claude or another model where there is one, on the script where there is none."""

from __future__ import annotations

from beachsite.demo.booking import BOOK_FLIGHT
from beachsite.demo.instructions import INSTRUCTIONS
from beachsite.demo.pacing import PacedModel
from beachsite.demo.research import RESEARCH_DESTINATION
from beachsite.demo.script import sally as script
from beachsite.demo.tools import CHECK_FARE, SEARCH_FLIGHTS, SEARCH_HOTELS
from envelopes.conf import conf
from envelopes.providers.port import Provider
from envelopes.providers.scripted import ScriptedProvider, translation
from envelopes.registries.actors import Actor, Prompt
from envelopes.registries.slots import Slot

PROMPTS = (
    Prompt(
        "Find a flight",
        "London Gatwick to Corfu, 15 August",
        "Find flights from London Gatwick to Corfu on 15 August for 2",
    ),
    Prompt(
        "Book one",
        "You approve before anything is bought",
        "Book easyJet EJ4521 on 15 August for Ada Lovelace, 2 tickets",
    ),
    Prompt("Research Corfu", "Runs in the background and fills a card", "Research Corfu for me"),
    Prompt("Hotels in Lisbon", "Three nights, with pictures", "Find hotels in Lisbon for 3 nights"),
    Prompt("Somewhere on Friday", "Leave something out and be asked", "I'd like to fly somewhere on Friday"),
    Prompt("Fly to Atlantis", "See how it fails", "Fly me to Atlantis"),
)


def provider() -> Provider:
    """The model of the next turn."""
    if conf.ANTHROPIC_API_KEY:
        from envelopes.providers import anthropic

        return anthropic.from_settings()
    if conf.BEACH_OPENAI_MODEL:
        from envelopes.providers import openai

        return openai.from_settings()
    return PacedModel(script)


def translator() -> Provider:
    """The second model, for agents that ask Sally: fast, or scripted as she is."""
    if conf.ANTHROPIC_API_KEY:
        from envelopes.providers import anthropic

        return anthropic.translator_from_settings()
    return ScriptedProvider(translation)


SALLY = Actor(
    name="sally",
    display_name="Sally",
    role="travel desk",
    instructions=INSTRUCTIONS,
    provider=provider,
    translator=translator,
    tools=(SEARCH_FLIGHTS, CHECK_FARE, SEARCH_HOTELS, RESEARCH_DESTINATION, BOOK_FLIGHT),
    prompts=PROMPTS,
    # She shows all of it on cards of her own.
    slots=(Slot(own_card=True),),
    greeting="Where would you like to go?",
    pledge="Nothing is bought before you approve it.",
    # Whoever tries the desk is to see it.
    takeover=True,
)
