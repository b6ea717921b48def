"""From a model's first byte of text inside respond() to the browser's frame:
``python -m tests.bench.first_byte [--json] [--quick]``. Six minutes.

The served app, a Messages API on loopback whose tokens are their own time of writing, the real SDK, and sockets that
watch: 1, 20 and 100 conversations in each of which one reply follows another. In the same run, as a floor, a bare
consumer sends as many stamped frames to as many sockets, and answers pings.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from tests.bench.report import JSON_FLAG, Target, show
from tests.bench.serving.api import ApiServer
from tests.bench.serving.client import Conversation, Socket, closing, connect_all, run, until
from tests.bench.serving.database import scratch_folder
from tests.bench.serving.figures import quantile, us
from tests.bench.serving.floors import Floors
from tests.bench.serving.plan import NORMAL, PLAIN, Plan
from tests.bench.serving.server import Server, Site, default_command
from tests.bench.serving.streams import Ear
from tests.bench.serving.talking import message

HALF_MS, NEARLY_ALL_MS = 6, 40
"""Goals for p50 and p99."""
SHARES = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class Size:
    """``sessions`` at once, in each so many replies that there are ``replies`` at least, and two; each of ``seconds``
    at ``hz`` tokens a second."""

    sessions: tuple[int, ...] = (1, 20, 100)
    replies: int = 100
    seconds: float = 1.5
    hz: float = 20

    def each(self, count: int) -> int:
        return max(2, -(-self.replies // count))


QUICK = Size(sessions=(1, 3), replies=4, seconds=0.3)


@dataclass(frozen=True)
class Heard:
    """Seconds from a byte's writing until it was here: of the first one of each reply, of all others. ``share``: of a
    core, for the server."""

    first: list[float]
    others: list[float]
    share: float


class Listener:
    """One socket: its tokens, and whether its turn has settled."""

    def __init__(self) -> None:
        self.ear = Ear()
        self.settled = True
        self._begun = False

    def hear(self, frame: bytes) -> None:
        self.ear.hear(frame)
        if b'"busy":true' in frame[-40:]:
            self._begun = True
        elif b'"busy":false' in frame[-40:] and self._begun:
            self.settled = True

    def begin(self) -> None:
        self.ear.restart()
        self.settled = self._begun = False


async def listen(server: Server, talks: Sequence[Conversation], size: Size) -> Heard:
    """Replies in all of ``talks``, each at a moment of its own."""
    heard: dict[Socket, Listener] = {}
    first: list[float] = []
    others: list[float] = []

    def hear(socket: Socket, frame: bytes) -> None:
        if socket in heard:
            heard[socket].hear(frame)

    async def talk(socket: Socket, replies: int) -> None:
        listener = heard[socket]
        for _ in range(replies):
            # People do not all ask at once.
            await asyncio.sleep(chance.uniform(0, size.seconds))
            listener.begin()
            socket.send(message(f"sdk {size.seconds:g} {size.hz:g}"))
            await until(lambda: listener.settled and bool(listener.ear.late), "a reply", seconds=60)
            first.append(listener.ear.late[0])
            others.extend(listener.ear.late[1:])

    chance = random.Random(len(talks))
    sockets = await connect_all(server.port, talks, hear)
    with closing(sockets):
        heard.update({one: Listener() for one in sockets})
        # The first turn of a process makes its connections.
        await talk(sockets[0], 2)
        first.clear()
        others.clear()
        used, began = server.cpu(), asyncio.get_running_loop().time()
        await asyncio.gather(*(talk(one, size.each(len(sockets))) for one in sockets))
        used, took = server.cpu() - used, asyncio.get_running_loop().time() - began
    return Heard(first, others, used / took)


def rows(count: int, heard: Heard, bare: Sequence[float]) -> Iterator[Target]:
    """Of ``count`` sessions: the quantiles, and those of the ``bare`` consumer."""
    name = f"first byte, {count} session{'s' if count > 1 else ''}"
    goals = dict(zip(SHARES, (HALF_MS, None, NEARLY_ALL_MS), strict=True))
    for share in SHARES:
        found = quantile(heard.first, share) * 1e3
        about = f"later ones {quantile(heard.others, share) * 1e3:.1f} ms"
        if share == SHARES[0]:
            about = f"{len(heard.first)} replies, {heard.share:.0%} of a core; {about}"
        goal = goals[share]
        row = f"{name}, p{share * 100:g}"
        yield (
            Target.known(row, found, "ms", about)
            if goal is None
            else Target.at_most(row, found, "ms", goal, about)
        )
        yield Target.known(f"bare consumer, {count}, p{share * 100:g}", quantile(bare, share) * 1e3, "ms")


def measure(size: Size, plan: Plan) -> Iterator[Target]:
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        floors = Floors(plan, folder)
        site = Site("sqlite", folder, default_command(), {}, stack)
        api = stack.enter_context(ApiServer(folder / "api.log"))
        for count in size.sessions:
            environ = {"ANTHROPIC_BASE_URL": api.url}
            with site.serving((PLAIN, count, 0), environ=environ) as (server, (talks,)):
                heard = run(listen(server, talks, size))
            yield from rows(count, heard, floors.send(count, size.hz / 2).late)
        most = size.sessions[-1]
        yield Target.known(
            f"bare consumer, {most}, echo of a ping", floors.echo(most) * 1e3, "ms", us(floors.echo(most))
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.first_byte", description=__doc__)
    parser.add_argument(JSON_FLAG, action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--quick", action="store_true", help="does it run?")
    arguments = parser.parse_args()
    plan = replace(NORMAL, seconds=0.5, warm=0.2) if arguments.quick else replace(NORMAL, seconds=3)
    found = list(measure(QUICK if arguments.quick else Size(), plan))
    sys.stdout.write(show(found, as_json=arguments.json) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
