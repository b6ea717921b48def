"""The laboratory's agent: Sally, with gates in her words and in her tools, and one flow more."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from django.conf import settings
from pydantic import BaseModel

from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.functions.registry import agent_function
from beachsite.demo.booking import BOOK_FLIGHT, BookFlight, book_flight
from beachsite.demo.research import RESEARCH_DESTINATION, researcher
from beachsite.demo.sally import SALLY
from beachsite.demo.script import sally
from beachsite.demo.script.replay import Flow, Later, play
from envelopes.delivery.deltas import FLUSH_SECONDS
from envelopes.providers.port import BlockEnded, BlockStarted, InputFragment, ModelEvent, ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, Script, ScriptedProvider, data, text
from envelopes.registries import catalogs
from envelopes.registries.actors import Actor, actors
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests.faults.lab.gates import Gates
from tests.faults.lab.telling import teller

CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
LONG = "This sentence is the {} of three and long enough to be seen coming, word after word, until it ends."


def _count() -> Flow:
    """Three answers in one turn, the second of which can be held in the middle."""
    yield Say([text("ack", "Counting.")], "awaiting")
    yield Say([text("response", LONG.format("first"))], "awaiting")
    yield Say([text("response", LONG.format("second"))], "awaiting")
    yield Say([text("response", LONG.format("third"))])


def _hold(joined: Sequence[str]) -> Flow:
    """A tool that can be held, and an answer to all that was said."""
    yield Say([text("ack", "Holding.")], "awaiting")
    yield Call("hold")
    yield Say([text("response", " ".join(["It was held.", *(f"You also said: {one}." for one in joined)]))])


def _recall(told: Sequence[str]) -> Flow:
    """What was said before, once a tool has run."""
    yield Say([text("ack", "Looking back.")], "awaiting")
    yield Call("hold")
    yield Say([text("response", f"So far you said: {'; '.join(told) or 'nothing'}.")])


def _stubborn() -> Flow:
    """A tool that does not end when it is told to."""
    yield Call("be_stubborn")


SHOP = "https://lab.example/catalogs/shop"
PRICES = BASIC_CATALOG_1_0.extended(
    SHOP, functions=BASIC_CATALOG_1_0.functions.extend(agent_function("price"))
)


class Priced(BaseModel):
    sku: str


def _prices() -> Flow:
    """A card whose price is asked of the agent, with a field that says of what."""
    price = {"@call": "formatString", "args": {"value": "It costs ${price(sku: /sku)}."}}
    rows = [
        {"id": "root", "component": "Column", "children": ["price", "sku"]},
        {"id": "price", "component": "Text", "text": price},
        {"id": "sku", "component": "TextField", "label": "Article", "value": {"@path": "/sku"}},
    ]
    body = {"surfaceId": "prices", "catalogId": SHOP, "components": rows, "dataModel": {"sku": "A1"}}
    yield Say([data("a2ui-surface", {"version": "1.0", "createSurface": body}), text("response", "Prices.")])


def _tell(times: int, hz: float) -> Flow:
    """A job that says words, and an answer once it is over."""
    yield Say([text("ack", "Telling.")], "awaiting")
    yield Call("tell", {"times": times, "hz": hz})
    yield Say([text("thinking", "It is being told")], "awaiting")
    yield Later()
    yield Say([text("response", "All is told.")])


def _asked(conversation: Conversation) -> Reply:
    """Another actor writes the middle, and this one the end."""
    if any(entry.kind == "delegated" for entry in conversation.injections):
        return Reply([Say([text("response", "That was the helper.")])])
    return Reply([Say([text("ack", "I ask the helper.")], "delegated", delegate_to="helper", task="Write.")])


def _breaks(conversation: Conversation) -> Reply:
    """An error that is to be tried again, in an hour, and then an answer."""
    if any("The line is down" in said.text for said in conversation.earlier):
        return Reply([Say([text("response", "The line is up again.")])])
    policy = {"retryPolicy": {"attempts": 2, "afterSeconds": 3600}}
    return Reply([Say([{**text("error", "The line is down."), "data": policy}], "error")])


def helper(request: ModelRequest) -> Reply:
    return Reply([Say([text("response", LONG.format("second"))])])


def script(request: ModelRequest) -> Reply:
    conversation = Conversation(request)
    if "helper" in conversation.text.lower():
        return _asked(conversation)
    if "line" in conversation.text.lower():
        return _breaks(conversation)
    if found := re.fullmatch(r"tell (\d+) times at (\d+)", conversation.text.lower()):
        return play(_tell(int(found[1]), float(found[2])), conversation)
    if "prices" in conversation.text.lower():
        return play(_prices(), conversation)
    if "count" in conversation.text.lower():
        return play(_count(), conversation)
    if "recall" in conversation.text.lower():
        told = [said.text for said in conversation.earlier if said.role == "user"]
        return play(_recall(told), conversation)
    if "hold" in conversation.text.lower():
        return play(_hold(conversation.joined), conversation)
    if "huge" in conversation.text.lower():
        return play(_huge(), conversation)
    if "stubborn" in conversation.text.lower():
        return play(_stubborn(), conversation)
    return sally(request)


def _huge() -> Flow:
    """A surface that is one frame of more than a mebibyte."""
    components = [
        {"id": "root", "component": "List", "children": {"path": "/items", "componentId": "same"}},
        {"id": "same", "component": "Text", "text": {"path": "/text"}},
    ]
    value = {"items": list(range(200)), "text": "word " * 1_400}
    messages = [
        {"version": "v0.9", "createSurface": {"surfaceId": "huge", "catalogId": CATALOG}},
        {"version": "v0.9", "updateComponents": {"surfaceId": "huge", "components": components}},
        {"version": "v0.9", "updateDataModel": {"surfaceId": "huge", "path": "/", "value": value}},
    ]
    yield Say([data("a2ui-surface", {"messages": messages}), text("response", "That was much.")])


class Nothing(BaseModel):
    pass


class Held(ScriptedProvider):
    """Stops at the gate ``words`` when half of the second sentence is written and some of it is on its way."""

    def __init__(self, gates: Gates, follow: Script = script) -> None:
        super().__init__(follow)
        self._gates = gates

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        written, pauses = "", ["the second of three", "long enough to be"]
        async with aclosing(super().stream(request)) as events:
            async for event in events:
                if isinstance(event, BlockStarted):
                    written = ""
                elif isinstance(event, InputFragment):
                    written += event.fragment
                    if pauses and pauses[0] in written:
                        del pauses[0]
                        await (asyncio.sleep(2 * FLUSH_SECONDS) if pauses else self._gates.passing("words"))
                yield event
                if isinstance(event, BlockEnded) and "the third of three" in written:
                    # It is complete, and the turn has taken it: it waits for the end of the reply.
                    await self._gates.passing("complete")


def register() -> None:
    gates = Gates(settings.BEACH_DATA)

    async def book(context: ToolContext, args: BookFlight) -> Json:
        await gates.passing("booking-before")
        result = await book_flight(context, args)
        await gates.passing("booking-after")
        return result

    async def be_stubborn(context: ToolContext, args: Nothing) -> Json:
        await gates.passing("stubborn")
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    async def hold(context: ToolContext, args: Nothing) -> Json:
        await gates.passing("hold")
        return "held"

    async def price(context: ToolContext, args: Priced) -> Json:
        await gates.passing("price")
        return f"{len(args.sku)}2 euros for {args.sku}"

    async def pause(seconds: float) -> None:
        await gates.passing("research")

    catalogs.register(PRICES)
    actors.register(Actor("helper", "Hal", "helps", "You help.", lambda: Held(gates, helper)))
    actors.register(
        replace(
            SALLY,
            name="lab",
            provider=lambda: Held(gates),
            tools=(
                *(tool for tool in SALLY.tools if tool not in (BOOK_FLIGHT, RESEARCH_DESTINATION)),
                replace(BOOK_FLIGHT, run=book),
                replace(RESEARCH_DESTINATION, run=researcher(pause)),
                teller(gates),
                Tool("hold", "Can be held.", Nothing, hold, idempotent=True),
                Tool("be_stubborn", "Does not end.", Nothing, be_stubborn),
                Tool("look_price_up", "What an article costs.", Priced, price, answers="price"),
            ),
        )
    )
