"""What the length of a conversation costs: its page, and making its state from rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from html.parser import HTMLParser
from statistics import median

from tests.bench.report import Target
from tests.bench.serving.bench import Bench, Found, Row
from tests.bench.serving.client import Conversation, closing, connect_all, run
from tests.bench.serving.figures import ms, us
from tests.bench.serving.server import Server

SAID = ("card 5", "hello", "hello")
_TIMES = 7


class Elements(HTMLParser):
    """Counts them."""

    count = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count += 1


@dataclass(frozen=True)
class Page:
    """``seconds`` of a page that was asked for before, ``built`` of one that nobody ever has, so that its conversation
    is made from all of its rows."""

    seconds: float
    built: float
    size: int
    elements: int


def page(bench: Bench) -> Iterator[Target]:
    """A long conversation beside one of a hundred rows."""
    short, long = bench.plan.page_rows
    names = ("time", "bytes", "DOM elements", "time, first after a restart", "time, never asked for before")
    rows = [Row(f"page of {long} rows, {name}", f"x {short} rows", 1.5) for name in names[:4]]
    rows += [Row(f"page of {long} rows, {names[4]}", f"x {short} rows", None)]
    yield from bench.measure(rows, partial(_page, bench))


def _page(bench: Bench) -> list[Found]:
    wanted = [(SAID, 1, rows) for rows in (0, *bench.plan.page_rows)]
    with bench.site("sqlite").serving(*wanted) as (server, ((warm,), *talks)):
        _warm(server, warm)
        short, long = (_loaded(server, talk) for (talk,) in talks)
        server.restart()
        _warm(server, warm)
        (few, _), (many, _) = (server.page(talk) for (talk,) in talks)
    return [
        (long.seconds / short.seconds, f"{ms(long.seconds)} against {ms(short.seconds)}"),
        (long.size / short.size, f"{long.size:,} against {short.size:,}"),
        (long.elements / short.elements, f"{long.elements:,} against {short.elements:,}"),
        (many / few, f"{ms(many)} against {ms(few)}"),
        (long.built / short.built, f"{ms(long.built)} against {ms(short.built)}"),
    ]


def _warm(server: Server, talk: Conversation) -> None:
    """What a server does once, it does for this one."""
    for _ in range(3):
        server.page(talk)


def _loaded(server: Server, talk: Conversation) -> Page:
    built, body = server.page(talk)
    elements = Elements()
    elements.feed(body.decode())
    again = median(server.page(talk)[0] for _ in range(_TIMES))
    return Page(again, built, len(body), elements.count)


def replay(bench: Bench) -> Iterator[Target]:
    """The first socket of a conversation that this process has never seen and that has no snapshot."""
    short, long = bench.plan.replay_rows
    row = Row(f"replay of {long} rows, a row", f"x {short} rows", 1.3)
    yield from bench.measure([row], partial(_replay, bench))


def _replay(bench: Bench) -> list[Found]:
    plan = bench.plan
    # As many rows of both, so that both take long enough to be told from what a socket costs.
    count = max(2, plan.replay_rows[1] // plan.replay_rows[0] * plan.replays // 2)
    few, many = plan.replay_rows
    wanted = ((SAID, 6, 0), (SAID, count, few), (SAID, plan.replays, many))
    with bench.site("sqlite").serving(*wanted) as (server, (tiny, short, long)):
        run(_greet_each(server, tiny[:3]))
        socket = run(_greet_each(server, tiny[3:])) / 3
        costs = [
            (run(_greet_each(server, talks)) / len(talks) - socket) / rows
            for talks, rows in zip((short, long), plan.replay_rows, strict=True)
        ]
    about = f"{us(costs[1])} against {us(costs[0])} a row"
    return [(costs[1] / costs[0], about)]


async def _greet_each(server: Server, talks: list[Conversation]) -> float:
    """Seconds of processor time until each was welcomed, one after the other."""
    before = server.cpu()
    for talk in talks:
        with closing(await connect_all(server.port, [talk])):
            pass
    return server.cpu() - before
