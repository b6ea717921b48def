"""What models read, and what it costs: ``python -m tests.bench.prompt [--json]``.

The size of the prompt and of the schema; what a surface costs whose data is retyped, and one whose data is referred to;
and how much of each request was the beginning of the one before, in 30 turns with tool calls, approvals and cards:
providers charge a fraction for that. Bytes only: the same on every machine.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import django
import orjson

from tests.bench.report import JSON_FLAG, Target, show

if TYPE_CHECKING:
    from envelopes.providers.port import ModelRequest
    from tests.desk import Desk

TURNS = 30
GOAL = 0.9
MOST_TOLD = 12_000
"""Bytes that the prompt may say of interfaces."""

SAID = (
    "Find flights from London Gatwick to Corfu on 15 August for 2",
    "click:select_flight",
    "Book easyJet EJ4521 on 15 August for Ada Lovelace, 2 tickets",
    "Find hotels in Lisbon for 3 nights",
    "Thanks",
    "Book easyJet EJ4521 on 16 August for Grace Hopper, 1 ticket",
)
"""What happens in turn; ``click:`` is a click on the first button of the page with that event."""


@dataclass(frozen=True)
class Sent:
    """A request as the Messages API is sent it, in the order in which prefixes are kept: tools, system, messages."""

    turn: str
    body: bytes


def sent(request: ModelRequest) -> Sent:
    body = orjson.dumps([request.tools, request.system, request.messages])
    return Sent(request.turn_id, body)


def common(one: bytes, other: bytes) -> int:
    """Bytes of the longest common prefix."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def prefixes(requests: Sequence[Sent]) -> list[Target]:
    """How much of each request but the last the next one begins with."""
    pairs = [
        (len(one.body), common(one.body, two.body), one.turn == two.turn) for one, two in pairwise(requests)
    ]
    kept, total = sum(shared for _, shared, _ in pairs), sum(size for size, _, _ in pairs)
    across = [shared / size for size, shared, within in pairs if not within]
    within = [shared / size for size, shared, within in pairs if within]
    about = f"{len(requests)} requests, {total:,} bytes; least {min(across + within):.3f}"
    return [
        Target.at_least(
            "of a request, what the next one begins with", kept / total, "of its bytes", GOAL, about
        ),
        Target.known(
            "the same, within a turn", median(within), "of its bytes, median", f"{len(within)} times"
        ),
        Target.known(
            "the same, from turn to turn", median(across), "of its bytes, median", f"{len(across)} times"
        ),
    ]


def sizes() -> list[Target]:
    """Of what Sally's models are told."""
    from a2ui import BASIC_CATALOG_1_0, BEACH_CATALOG_1_0, taught
    from envelopes.management.prompting import sizes_of
    from envelopes.registries.actors import actors
    from envelopes.runtime.prompting import prompt_for

    found = sizes_of(prompt_for(actors["sally"]))
    both = len(taught([BEACH_CATALOG_1_0]).text.encode())
    basic = len(taught([BASIC_CATALOG_1_0]).text.encode())
    return [
        Target.at_most("prompt about A2UI, Sally", found["prompt: a2ui"], "bytes", MOST_TOLD),
        Target.at_most("prompt about A2UI, Basic Catalog alone", basic, "bytes", MOST_TOLD),
        Target.at_most("prompt about A2UI, with our own catalog", both, "bytes", MOST_TOLD),
        Target.known("the whole prompt of Sally", found["the whole prompt"], "bytes"),
        Target.known("schema of respond()", found["tool: respond"], "bytes"),
        Target.known("all tools of Sally", found["all tools"], "bytes"),
    ]


def surface_costs(result: dict[str, Any]) -> list[Target]:
    """Bytes that a model writes for a card with the flights of one search: data and surface retyped, as it had to, and
    the surface alone, with a reference."""
    from a2ui.teaching.rules import EXAMPLES

    (message,) = EXAMPLES[0][1]
    body = {**message["createSurface"], "surfaceId": "flights-1"}

    def part(kind: str, data: Any) -> Any:
        return {"metadata": {"partType": kind, "dataKind": "flight-results"}, "data": data}

    def written(model: Any, *before: Any) -> int:
        shown = part("a2ui-surface", {"version": "1.0", "createSurface": {**body, "dataModel": model}})
        return len(orjson.dumps({"parts": [*before, shown], "turnState": "complete"}))

    retyped = written({"fares": result["flights"]}, part("domain-data", result))
    referred = written({"fares": {"fromCall": "search_flights", "path": "/flights"}})
    flights = len(result["flights"])
    return [
        Target.known(f"a card of {flights} flights, data retyped twice", retyped, "bytes"),
        Target.known(f"a card of {flights} flights, with fromCall", referred, "bytes"),
        Target.at_most("fromCall", referred / retyped, "of that", 0.5),
    ]


async def talk(desk: Desk) -> None:
    """The turns, one after the other; every second question about a booking is denied."""
    from envelopes.models import Turn

    decided = 0
    for number in range(TURNS):
        said = SAID[number % len(SAID)]
        if said.startswith("click:"):
            # The newest list stands at the end.
            targets = re.findall(
                r'<button id="([^"]+)"[^>]*data-act[^>]*>(?:(?!</button>).)*Select', await desk.html()
            )
            await desk.act(targets[-1])
        else:
            await desk.say(said)
        for approval in [one for one in await desk.approvals() if one.state == "pending"]:
            decided += 1
            await desk.decide(
                "granted" if decided % 2 else "denied", which=_place(await desk.approvals(), approval)
            )
    count = await Turn.objects.filter(session=desk.session).acount()
    if count < TURNS or decided < TURNS // len(SAID):
        raise RuntimeError(f"{count} turns and {decided} decisions are not what was to be measured.")


def _place(approvals: Sequence[Any], one: Any) -> int:
    return [approval.pk for approval in approvals].index(one.pk)


async def measured() -> list[Target]:
    """All rows, on the database that Django is set up for."""
    from beachsite.demo.sally import SALLY
    from beachsite.demo.script import sally
    from envelopes.models import ToolCall
    from tests.desk import desk

    more = {"slots": SALLY.slots, "instructions": SALLY.instructions, "catalogs": SALLY.catalogs}
    async with desk(sally, *SALLY.tools, name="sally", **more) as d:
        await talk(d)
        found = await ToolCall.objects.filter(session=d.session, name="search_flights").afirst()
        if found is None or not isinstance(found.result, dict):
            raise RuntimeError("No flights were found.")
        return [*sizes(), *surface_costs(found.result), *prefixes([sent(request) for request in d.requests])]


def main() -> int:
    """Prints the rows; exit code 1 where one misses its target."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "beachsite.settings.local",
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'bench.sqlite3'}",
            "BEACH_DATA": folder,
            "ANTHROPIC_API_KEY": "",
        }
        django.setup()
        logging.disable(logging.WARNING)
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        targets = asyncio.run(measured())
    sys.stdout.write(show(targets, as_json=JSON_FLAG in sys.argv[1:]) + "\n")
    return 0 if all(target.ok for target in targets) else 1


if __name__ == "__main__":
    raise SystemExit(main())
