"""What Beach knows of this application. It is imported at start-up, as ``admin.py`` is."""

from __future__ import annotations

from django.conf import settings

from envelopes import Actor, Prompt, Provider, Slot, register
from envelopes.conf import conf
from envelopes.providers import anthropic
from envelopes.providers.scripted import ScriptedProvider
from helpdesk.cards import ORDER_CARD
from helpdesk.catalog import CATALOG
from helpdesk.gateway import Gateway
from helpdesk.instructions import instructions
from helpdesk.parcel import PARCEL
from helpdesk.script import script
from helpdesk.states import CASE
from helpdesk.tools import ASK_CARRIER, FIND_ORDER, REFUND


def provider() -> Provider:
    """The model of the next turn: the one in the house, Claude where there is a key, else the script."""
    if url := getattr(settings, "HELPDESK_GATEWAY", ""):
        return Gateway(url, "house-1")
    return anthropic.from_settings() if conf.ANTHROPIC_API_KEY else ScriptedProvider(script)


INES = Actor(
    name="ines",
    display_name="Ines",
    role="support",
    instructions=instructions,
    provider=provider,
    tools=(FIND_ORDER, ASK_CARRIER, REFUND),
    slots=(Slot("helpdesk.order", key="helpdesk.order"),),
    catalogs=(CATALOG.id,),
    prompts=(
        Prompt("My order", "How far it is", "How far is order L-1042?"),
        Prompt("My parcel", "Asks the carrier", "Where is order L-1042?"),
        Prompt(
            "A refund", "You approve it first", "Refund 12.50 euros for order L-1042, the shade is broken"
        ),
    ),
    greeting="What can I do for you?",
    pledge="No money moves before somebody approves it.",
)

register(CATALOG, PARCEL, ORDER_CARD, CASE, INES)
