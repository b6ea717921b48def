"""What the planner brings: a part type with a template and a module, a surface template, a state machine, a turn state,
a tool, an actor."""

from __future__ import annotations

from pydantic import BaseModel

from a2ui.compose import Button, Column, Surface, Text, each, event, fn, path
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, ScriptedProvider, data, text
from envelopes.registries.actors import Actor, actors
from envelopes.registries.part_types import part_types
from envelopes.registries.slots import Slot
from envelopes.registries.state_machines import state_machines
from envelopes.registries.surface_templates import SurfaceTemplate, TemplateContext, surface_templates
from envelopes.registries.tools import Tool, ToolContext, tools
from envelopes.registries.transports import transports
from envelopes.registries.turn_states import turn_states
from envelopes.transports.documents import document_part
from envelopes.types import Json, JsonObject
from tests.consumer import brochure, forger
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
turn_states.register(
    {"turnState": "planner.planned", "isTerminal": True, "emitsEnvelope": True, "holdsActor": False}
)


def costs(data: JsonObject, context: TemplateContext) -> Surface:
    line = Text(fn.formatString("${name}: ${formatCurrency(value: amount, currency: 'EUR')}"))
    agree = Button(Text("Agree"), event("agree", total=path("/total")), id="agree")
    total = Text(fn.formatString("#### ${formatCurrency(value: /total, currency: 'EUR')} in all"))
    model = {"lines": data["lines"], "total": sum(line["amount"] for line in data["lines"])}
    return Surface(context.surface_id, Column(Column(each("/lines", line)), total, agree), model)


surface_templates.register(SurfaceTemplate("planner.costs", costs))


class Stops(BaseModel):
    days: int


async def stops(context: ToolContext, args: Stops) -> Json:
    return {"stops": ["Corfu", "Paxos", "Parga <b>"][: args.days]}


STOPS = tools.register(Tool("stops", "Finds stops.", Stops, stops, data_kind="planner.stops"))


LAB: JsonObject = {
    "v": 1,
    "surface": "lab",
    "experimental": {
        "track_id": "spoken-trips",
        "feature_flag": "planner.spoken",
        "support_summary": "You say where you want to go, and the plan follows. Nothing is recorded.",
        "rollout_stage": "limited_preview",
        "ambient_mode": "push_to_talk",
        "consent_required": True,
        "security_review": ["Sound stays in the browser."],
        "exit_criteria": ["Nobody types for a week."],
    },
    "components": [{"id": "said", "type": "text", "props": {"value": "Hold to say where to."}}],
}
"""What is tried out with some people: by a flag, and with their consent."""


def script(request: ModelRequest) -> Reply:
    conversation = Conversation(request)
    if conversation.action is not None and conversation.action["name"] == "agree":
        lines = [{"name": "Ferry", "amount": 90}, {"name": "Rooms", "amount": 400}]
        return Reply([Say([_costs(lines), text("response", "Agreed, with the rooms.")])])
    if conversation.action is not None or conversation.text.startswith(("Pay", forger.SHOW)):
        return forger.script(conversation)
    if "brochure" in conversation.text:
        return brochure.script(conversation)
    if "lab" in conversation.text:
        return Reply([Say([document_part(LAB), text("response", "This is the lab.")])])
    found = conversation.results("stops")
    if not found:
        days = 2 if "two" in conversation.text else 3
        return Reply([Say([text("ack", "Planning.")], "awaiting"), Call("stops", {"days": days})])
    return Reply(
        [
            Say(
                [
                    data("planner.itinerary", {"stops": found[0].content["stops"]}),
                    data("planner.whisper", {"margin": 12}),
                    _costs([{"name": "Ferry", "amount": 90}]),
                    data("setState", {"trip.status": "planned"}),
                    text("response", "Here is your itinerary."),
                ],
                "planner.planned",
            )
        ]
    )


def _costs(lines: list[JsonObject]) -> JsonObject:
    return data("domain-data", {"lines": lines}, dataKind="planner.costs", slotKey="costs")


actors.register(
    Actor(
        "planner",
        "Pia",
        "planner",
        "You plan trips.",
        lambda: ScriptedProvider(script),
        tools=(STOPS, tools.register(brochure.BROCHURE), forger.PAY),
        slots=(Slot("planner.stops", key="planner.trip"),),
        greeting="Where do you dream of?",
    )
)
