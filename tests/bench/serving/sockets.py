"""Small frames from browsers, and everybody coming back at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from tests.bench.report import Target
from tests.bench.serving.bench import Bench, Found, Row
from tests.bench.serving.client import Conversation, run
from tests.bench.serving.figures import late, ms, us
from tests.bench.serving.pings import asked, ping_cost
from tests.bench.serving.plan import SMALL
from tests.bench.serving.processes import BenchError
from tests.bench.serving.server import Server
from tests.bench.serving.storm import greet
from tests.bench.serving.talking import message


def pings(bench: Bench) -> Iterator[Target]:
    """Processor time of a ping, and of an edit with its ack and its row."""
    rows = [Row("ping", "x echo", 1.3), Row("edit", "x (echo + 3 updates)", 1)]
    yield from bench.measure(rows, partial(_pings, bench))


def _pings(bench: Bench) -> list[Found]:
    plan = bench.plan
    echo = bench.floors.echo(plan.pings)
    floor = echo + 3 * bench.floors.update("sqlite")
    with bench.site("sqlite").serving((SMALL, plan.pings, 0)) as (server, (talks,)):
        target = _slider(server, talks[0])
        ping = run(ping_cost(server, server.port, talks, plan))
        # Copies of one conversation: the slider has the same id in all of them.
        edit, took = run(asked(server, server.port, talks, plan, partial(_edit, target)))
    return [
        (ping / echo, f"{us(ping)} against {us(echo)}"),
        (edit / floor, f"{us(edit)} against {us(floor)}; acks {late(took)}"),
    ]


def _edit(target: str, number: int) -> dict[str, object]:
    return {"type": "edit", "id": message("")["id"], "target": target, "value": number % 999 + 1}


def _slider(server: Server, talk: Conversation) -> str:
    """The id of the slider on the page."""
    _, page = server.page(talk)
    tags = [tag for tag in re.findall(r"<[^>]+>", page.decode()) if 'data-in="slider"' in tag]
    if not tags or (found := re.search(r' id="([^"]+)"', tags[0])) is None:
        raise BenchError("There is no slider on the page.")
    return found[1]


def storm(bench: Bench) -> Iterator[Target]:
    """All sockets at once at a server that has just been started."""
    count = bench.plan.storm
    rows = [
        Row(f"{count} sockets greeted after a restart", "x bare consumer", 2.5),
        Row("worst /healthz meanwhile", "ms", 100),
    ]
    yield from bench.measure(rows, partial(_storm, bench))


def _storm(bench: Bench) -> list[Found]:
    bare = bench.floors.accept(bench.plan.storm)
    with bench.site("sqlite").serving((SMALL, bench.plan.storm, 0)) as (server, (talks,)):
        before = server.cpu()
        greeted = run(greet(server.port, talks))
        each = (server.cpu() - before) / len(talks)
    about = f"{greeted.seconds:.2f} s against {bare.seconds:.2f} s; {us(each)} each"
    worst = max(greeted.health)
    return [(greeted.seconds / bare.seconds, about), (worst * 1e3, f"bare consumer {ms(max(bare.health))}")]
