"""What the planner brings: a part type with a template and a module, a state machine, a tool, an actor."""

from __future__ import annotations

from pydantic import BaseModel

from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, ScriptedProvider, data, text
from envelopes.registries.actors import Actor, actors
from envelopes.registries.part_types import part_types
from envelopes.registries.state_machines import state_machines
from envelopes.registries.tools import Tool, ToolContext, tools
from envelopes.registries.transports import transports
from envelopes.types import Json
from tests.consumer import brochure
from tests.consumer.itinerary import ITINERARY
from tests.consumer.transport import LINES

part_types.register(ITINERARY)
transports.register(LINES)
part_types.register(
    {
        "partType": "planner.whisper",
        "deliveryRules": {"streaming": "flush", "buffered": "drop"},
        "requiresPeerConsumes": True,
        "description": "what we earn, for partners alone",
    }
)
state_machines.register(
    {
        "component": "trip",
        "coordinates": {"status": {"initial": "idea", "transitions": {"idea": ["planned"], "planned": []}}},
        "allowHandlerTransitions": True,
    }
)


class Stops(BaseModel):
    days: int


async def stops(context: ToolContext, args: Stops) -> Json:
    return {"stops": ["Corfu", "Paxos", "Parga <b>"][: args.days]}


STOPS = tools.register(Tool("stops", "Finds stops.", Stops, stops))


def script(request: ModelRequest) -> Reply:
    if "brochure" in Conversation(request).text:
        return brochure.script(Conversation(request))
    found = Conversation(request).results("stops")
    if not found:
        return Reply([Say([text("ack", "Planning.")], "awaiting"), Call("stops", {"days": 3})])
    return Reply(
        [
            Say(
                [
                    data("planner.itinerary", {"stops": found[0].content["stops"]}),
                    data("planner.whisper", {"margin": 12}),
                    data("setState", {"trip.status": "planned"}),
                    text("response", "Here is your itinerary."),
                ]
            )
        ]
    )


actors.register(
    Actor(
        "planner",
        "Pia",
        "planner",
        "You plan trips.",
        lambda: ScriptedProvider(script),
        tools=(STOPS, tools.register(brochure.BROCHURE)),
        greeting="Where do you dream of?",
    )
)
