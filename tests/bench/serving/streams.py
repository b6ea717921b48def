"""Streamed text: tokens of many models to as many sockets."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from tests.bench.report import Target
from tests.bench.serving.bench import Bench, Found, Row
from tests.bench.serving.chainlit import Theirs
from tests.bench.serving.client import Conversation, Socket, closing, connect_all, run, until
from tests.bench.serving.figures import late, ms, quantile, waits_between
from tests.bench.serving.plan import PLAIN, Plan
from tests.bench.serving.processes import BenchError, busy_loop
from tests.bench.serving.server import Server
from tests.bench.serving.talking import message

TOKEN = re.compile(rb"(?<!\d)\d{12,17}(?!\d)")
SLOW, FAST = 10, 200
"""Tokens a second of one stream."""
MORE = 2 * FAST
CARRIED = 0.98
"""So much of what is offered, and all of it counts as carried."""
GAP_MS = 50
_LEAD_SECONDS = 60.0
"""How long it may take until all of them run; whatever is left of it is not waited for."""


@dataclass(frozen=True)
class Streamed:
    """``share``: of a core. ``late``: seconds from a token's writing until it was here. ``gaps``: seconds between two
    frames of a stream. ``drawn``: text came as Markdown that was drawn."""

    tokens: int
    seconds: float
    share: float
    late: list[float]
    gaps: list[float]
    drawn: bool

    @property
    def a_second(self) -> float:
        return self.tokens / self.seconds

    @property
    def cost(self) -> float:
        """Seconds of processor time of a token."""
        return self.share * self.seconds / max(1, self.tokens)

    @property
    def about(self) -> str:
        return f"{self.a_second:,.0f} tokens a second, {self.share:.0%} of a core; {late(self.late)}"


class Ear:
    """Hears the tokens of one stream, each once: what is drawn again was here before."""

    def __init__(self) -> None:
        self.last = 0
        self.drawn = False
        self.restart()

    def restart(self) -> None:
        self.late: list[float] = []
        self.frames: list[float] = []

    def hear(self, frame: bytes) -> None:
        now = time.monotonic_ns()
        fresh = [token for token in map(int, TOKEN.findall(frame)) if self.last < token <= now]
        if not fresh:
            return
        self.last = fresh[-1]
        self.late += [(now - token) / 1e9 for token in fresh]
        self.frames.append(now / 1e9)
        self.drawn = self.drawn or b"<table" in frame


def streams(bench: Bench) -> Iterator[Target]:
    """Beside Chainlit, where it is installed; the figures of both in any case. What is carried is compared at a larger
    offer where all of the first is carried (``_most``)."""
    count = bench.plan.streams
    slow, fast = f"{count} x {SLOW}", f"{count} x {FAST}"
    rows = [
        Row(f"streams {slow}, share of a core", "%", None),
        Row(f"streams {slow}, processor time", "x Chainlit", 0.75),
        Row(f"streams {slow}, p99", "x Chainlit", 1),
    ]
    yield from bench.measure(rows, partial(_slow, bench))
    for busy in (False, True):
        name = f"streams {fast}, core shared" if busy else f"streams {fast}"
        rows = [
            Row(f"{name}, carried", "tokens/s", None),
            Row(f"{name}, p99 between two frames", "ms", GAP_MS),
            Row(f"{name}, carried, compared", "x Chainlit", 2 if busy else 3, least=True),
            Row(f"{name}, p99", "x Chainlit", 1),
        ]
        yield from bench.measure(rows, partial(_fast, bench, busy=busy))
    row = Row(f"streams {fast} as Markdown, processor time", "x plain", 1.5)
    yield from bench.measure([row], partial(_markdown, bench))


def _slow(bench: Bench) -> list[Found]:
    ours = streamed(bench, SLOW)
    own: Found = (ours.share * 100, ours.about)
    if bench.chainlit is None:
        return [own, NO_CHAINLIT, NO_CHAINLIT]
    theirs = bench.chainlit.streamed(bench.plan.streams, SLOW, bench.plan.seconds)
    p99 = quantile(ours.late, 0.99)
    return [own, (ours.share / theirs.share, theirs.about), (p99 / theirs.p99, "")]


def _fast(bench: Bench, *, busy: bool) -> list[Found]:
    ours = streamed(bench, FAST, busy=busy)
    gaps = f"most {ms(max(ours.gaps))}, p50 {ms(quantile(ours.gaps, 0.5))}"
    own: list[Found] = [(ours.a_second, ours.about), (quantile(ours.gaps, 0.99) * 1e3, gaps)]
    if bench.chainlit is None:
        return [*own, NO_CHAINLIT, NO_CHAINLIT]
    with ExitStack() as stack:
        if busy:
            stack.enter_context(busy_loop(bench.folder / "busy.log"))
        theirs = bench.chainlit.streamed(bench.plan.streams, FAST, bench.plan.seconds)
    p99 = quantile(ours.late, 0.99)
    is_all = ours.a_second >= CARRIED * bench.plan.streams * FAST
    compared: Found = (ours.a_second / theirs.a_second, theirs.about)
    if is_all and not busy:
        compared = _most(bench, ours, theirs)
    return [*own, compared, (p99 / theirs.p99, "")]


def _most(bench: Bench, ours: Streamed, theirs: Theirs) -> Found:
    """The most that the product carries beside the most that Chainlit does. One that carries all that it is offered
    says only that it is as much, so both are offered more here; the other columns are of what both were offered before.
    Of either the better of its two figures counts: it may carry less when it is offered more."""
    more = streamed(bench, MORE)
    assert bench.chainlit is not None
    their_more = bench.chainlit.streamed(bench.plan.streams, MORE, bench.plan.seconds)
    ratio = max(ours.a_second, more.a_second) / max(theirs.a_second, their_more.a_second)
    return ratio, f"{theirs.about}; offered {bench.plan.streams} x {MORE}: {more.about}; {their_more.about}"


NO_CHAINLIT: Found = (None, "--chainlit VENV")


def _markdown(bench: Bench) -> list[Found]:
    drawn = streamed(bench, FAST, more=" markdown")
    if not drawn.drawn:
        return [(None, "streamed Markdown is not drawn before its end")]
    plain = streamed(bench, FAST)
    return [(drawn.cost / plain.cost, drawn.about)]


def streamed(bench: Bench, hz: float, *, busy: bool = False, more: str = "") -> Streamed:
    """Everybody asks for tokens at this pace; with something else on the server's core if it is to be `busy`."""
    site, wanted = bench.site("sqlite"), (PLAIN, bench.plan.streams, 0)
    with site.serving(wanted) as (server, (talks,)), ExitStack() as stack:
        if busy:
            stack.enter_context(busy_loop(bench.folder / "busy.log"))
        return run(_streamed(bench.plan, server, talks, f"{hz:g}{more}"))


async def _streamed(plan: Plan, server: Server, talks: Sequence[Conversation], words: str) -> Streamed:
    ears: dict[Socket, Ear] = {}

    def hear(socket: Socket, frame: bytes) -> None:
        if socket in ears:
            ears[socket].hear(frame)

    sockets = await connect_all(server.port, talks, hear)
    with closing(sockets):
        ears.update({one: Ear() for one in sockets})
        for one in sockets:
            one.send(message(f"stream {_LEAD_SECONDS + plan.warm + plan.seconds:g} {words}"))
        await until(
            lambda: all(ear.last for ear in ears.values()), "the first token of each", seconds=_LEAD_SECONDS
        )
        await asyncio.sleep(plan.warm)
        for ear in ears.values():
            ear.restart()
        used, began = server.cpu(), time.monotonic()
        await asyncio.sleep(plan.seconds)
        used, ended = server.cpu() - used, time.monotonic()
        waits = [wait for ear in ears.values() for wait in ear.late]
        gaps = [gap for ear in ears.values() for gap in waits_between(ear.frames, began, ended)]
        drawn = any(ear.drawn for ear in ears.values())
    if not waits:
        raise BenchError(f"None of {len(sockets)} streams brought a token in {plan.seconds:g} s.")
    took = ended - began
    return Streamed(len(waits), took, used / took, waits, gaps, drawn)
