"""One page: what it asks the database, how long it takes beside its own queries run by hand, and what it sends."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from django.db import connection

if TYPE_CHECKING:
    # It asks for settings, and whoever reads what was measured has none.
    from django.test import Client

ROUNDS = 9

FRAME = "frame"
"""A page with nothing in it but a short form: what any page costs."""


@dataclass
class Asked:
    """The statements that went to the database, with their values, as they were given."""

    statements: list[tuple[str, Any]] = field(default_factory=list)

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        self.statements.append((sql, params))
        return execute(sql, params, many, context)

    @property
    def reads(self) -> list[tuple[str, Any]]:
        return [
            (sql, params) for sql, params in self.statements if sql.lstrip().startswith(("SELECT", "WITH"))
        ]


@contextmanager
def asking() -> Iterator[Asked]:
    asked = Asked()
    with connection.execute_wrapper(asked):
        yield asked


@dataclass(frozen=True)
class Measured:
    """``queries`` of one page; medians in milliseconds of the page and of its queries by hand, measured in turn;
    ``kilobytes`` that it sends. ``slowest`` is the longest of the queries, with how long it took."""

    queries: int
    page: float
    by_hand: float
    kilobytes: float
    slowest: str

    @property
    def ratio(self) -> float:
        return self.page / self.by_hand

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def measure(client: Client, address: str, rounds: int = ROUNDS) -> Measured:
    """Raises ``AssertionError`` for a page that is not there."""
    _get(client, address)
    with asking() as asked:
        size = len(_get(client, address))
    pages, hands = [], []
    gc.collect()
    for _ in range(rounds):
        pages.append(_timed(lambda: _get(client, address)))
        hands.append(_timed(lambda: _run(asked.reads)))
    alone = [(min(_timed(lambda one=one: _run([one])) for _ in range(3)), one[0]) for one in asked.reads]
    took, sql = max(alone)
    return Measured(
        len(asked.statements),
        median(pages) * 1000,
        median(hands) * 1000,
        size / 1000,
        f"{took * 1000:.1f} ms: {sql}",
    )


def _get(client: Client, address: str) -> bytes:
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    return answer.content


def _run(statements: Sequence[tuple[str, Any]]) -> None:
    """What the page asked, in its order, with every row fetched."""
    with connection.cursor() as cursor:
        for sql, params in statements:
            cursor.execute(sql, params)
            cursor.fetchall()


def _timed(run: Callable[[], object]) -> float:
    began = perf_counter()
    run()
    return perf_counter() - began
