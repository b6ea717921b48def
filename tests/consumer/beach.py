"""What the planner brings: a part type with a template and a module, a state machine, a tool, an actor."""

from __future__ import annotations

from pydantic import BaseModel

from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, ScriptedProvider, data, text
from envelopes.registries.actors import Actor, actors
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.state_machines import state_machines
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests.consumer import brochure

part_types.register(
    PartType(
        "planner.itinerary",
        frozenset({"actor"}),
        "flush",
        "once",
        data="required",
        template="planner/itinerary.html",
        module="planner/itinerary.js",
        in_words=lambda part: f"Itinerary: {', '.join(part['data']['stops'])}",
    )
)
part_types.register(
    {
        "partType": "planner.whisper",
        "deliveryRules": {"streaming": "flush", "buffered": "drop"},
        "requiresPeerConsumes": True,
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
        tools=(Tool("stops", "Finds stops.", Stops, stops), brochure.BROCHURE),
        greeting="Where do you dream of?",
    )
)
