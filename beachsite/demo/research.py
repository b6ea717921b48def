"""Finding out about a destination: slow work that shows how far it is and fills a dashboard on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict

from django.conf import settings
from django.templatetags.static import static
from pydantic import BaseModel, ConfigDict, Field

from a2ui.compose import Surface
from beachsite.demo import catalogue
from beachsite.demo.errors import UnknownPlace
from beachsite.demo.rules import listed
from beachsite.demo.surfaces import build, research
from envelopes.errors import RespondRefused
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import JsonObject

Sleep = Callable[[float], Awaitable[None]]


class ResearchDestination(BaseModel):
    model_config = ConfigDict(extra="forbid")

    destination: str = Field(description="A city or an island.")
    card: str = Field(
        default="",
        max_length=128,
        description="To continue research that was stopped: the surfaceId of its card.",
    )
    done: int = Field(
        default=0, ge=0, le=len(research.SECTIONS), description="How many sections that card has already."
    )


def pace() -> float:
    """Seconds that one step takes: nothing here is really slow, and a demo wants to be watched."""
    return float(settings.BEACH_DEMO_PACE)


def surface_of(call_id: str, place: catalogue.Destination, args: ResearchDestination) -> str:
    """The dashboard's id: one a call, and the same when a call is run again after a crash or goes on from a stop."""
    return args.card or f"research-{place.name.lower()}-{call_id[-6:]}"


def researcher(
    sleep: Sleep = asyncio.sleep,
) -> Callable[[ToolContext, ResearchDestination], Awaitable[JsonObject]]:
    """The tool's function; ``sleep`` is what passes the time between steps."""

    async def run(context: ToolContext, args: ResearchDestination) -> JsonObject:
        place = _place(args)
        surface = surface_of(context.call_id, place, args)
        states = ["done" if number < args.done else "todo" for number in range(len(research.SECTIONS))]
        steps = zip(research.SECTIONS, states, strict=True)
        await context.emit(*(_step(key, place, state) for key, state in steps))
        if args.card:
            await context.emit(_part(research.resumed(surface)))
        else:
            await _frame(context, research.dashboard(surface, place, static(place.picture)))
        sources: list[JsonObject] = []
        for number, key in enumerate(research.SECTIONS, 1):
            sources += [asdict(source) for source in place.sources if source.section == key]
            if number <= args.done:
                continue
            await context.emit(_step(key, place, "running"), _part(research.section_started(surface, key)))
            await sleep(pace())
            filled = research.section_done(surface, key, research.section(place, key), number, list(sources))
            await context.emit(_step(key, place, "done"), _part(filled))
        return _result(place, sources)

    return run


def unfinished(call_id: str, args: ResearchDestination) -> list[JsonObject]:
    """What the card says when the research ends before its end."""
    place = catalogue.find_destination(args.destination)
    return [] if place is None else [_part(research.stopped(surface_of(call_id, place, args)))]


def _place(args: ResearchDestination) -> catalogue.Destination:
    place = catalogue.find_destination(args.destination)
    if place is None:
        known = listed([place.name for place in catalogue.destinations().values()], "and")
        raise UnknownPlace(f"This demo knows nothing about {args.destination}. It knows {known}.")
    return place


async def _frame(context: ToolContext, frame: Surface) -> None:
    """Show the empty dashboard. After a crash the call runs again and its card is there, half filled: then empty it."""
    try:
        await context.emit(_part(frame.create()))
    except RespondRefused:
        await context.emit(_part(frame.again()))


def _step(key: str, place: catalogue.Destination, status: str) -> JsonObject:
    done = 1 if status == "done" else 0
    return {
        "metadata": {"partType": "progress"},
        "data": {
            "id": f"{place.name.lower()}-{key}",
            "group": f"Researching {place.name}",
            "label": research.SECTIONS[key][1],
            "status": status,
            "current": done,
            "total": 1,
        },
    }


def _part(messages: list[JsonObject]) -> JsonObject:
    return {"metadata": {"partType": "a2ui-surface", "dataKind": KIND}, "data": build.batch(messages)}


def _result(place: catalogue.Destination, sources: list[JsonObject]) -> JsonObject:
    return {
        "destination": place.name,
        "country": place.country,
        "lead": place.lead,
        **{key: research.section(place, key) for key in research.SECTIONS},
        "sources": sources,
    }


KIND = "destination-research"
RESEARCH_DESTINATION = Tool(
    name="research_destination",
    description=(
        "Find out about weather, sights, getting around, food and costs of a destination. Takes a while and runs in "
        "the background: it shows its own progress and fills a dashboard; the result comes later."
    ),
    input=ResearchDestination,
    run=researcher(),
    unfinished=unfinished,
    label="Researching the destination",
    background=True,
    data_kind=KIND,
)
