"""How much is measured: the issue's own numbers, fewer for a look, more for a night."""

from __future__ import annotations

from dataclasses import dataclass

PLAIN = ("hello",)
"""What was said in a conversation (`app.actor`): one text."""
SMALL = ("card 5", "hello")
"""A small surface."""


@dataclass(frozen=True)
class Plan:
    """Counts are of conversations (each with a socket) unless said otherwise; ``seconds`` is one measurement."""

    seconds: float = 6
    warm: float = 1.5
    """Seconds before it: the first of everything is not measured."""
    updates: int = 50
    updates_hz: float = 5
    many: tuple[int, ...] = (200, 1000)
    """The sessions whose updates are carried at once."""
    late: int = 200
    growth: int = 20
    growth_items: tuple[int, int] = (5, 500)
    growth_rows: int = 3000
    growth_sessions: tuple[int, int] = (100, 1000)
    turns: int = 10
    counted_turns: int = 20
    queue: int = 200
    streams: int = 200
    sdk_streams: tuple[int, ...] = (40, 60, 80, 100)
    """Replies of the SDK at once: the first is compared, the others are tried until a core is too busy."""
    pings: int = 20
    storm: int = 1000
    page_rows: tuple[int, int] = (100, 20_000)
    replay_rows: tuple[int, int] = (1200, 24_000)
    replays: int = 2
    held: int = 300
    steady: float = 0
    """Seconds of steady load for the growth of memory, once; 0 for none."""
    steady_runs: int = 1
    by_hand: int = 4000
    """Rows that the floor of a row writes."""
    idle: float = 3
    """Seconds in which statements of a server are counted that has nothing to do."""

    @property
    def most(self) -> dict[tuple[str, ...], int]:
        """How many conversations of a kind any row wants."""
        small = max(
            self.updates, *self.many, self.late, *self.growth_sessions, self.pings, self.storm, self.held + 20
        )
        return {SMALL: small, PLAIN: max(self.turns + self.queue, self.streams, *self.sdk_streams) + 1}


NORMAL = Plan()
QUICK = Plan(
    seconds=0.8,
    warm=0.3,
    idle=1,
    updates=10,
    many=(10,),
    late=10,
    growth=4,
    growth_items=(5, 50),
    growth_rows=60,
    growth_sessions=(4, 12),
    turns=4,
    counted_turns=5,
    queue=8,
    streams=10,
    sdk_streams=(4, 6),
    pings=4,
    storm=30,
    page_rows=(100, 600),
    replay_rows=(100, 600),
    replays=1,
    held=12,
    by_hand=500,
)
LONG = Plan(seconds=15, growth_sessions=(100, 10_000), held=1000, steady=1800, steady_runs=3)
