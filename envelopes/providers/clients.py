"""Clients of SDKs: one, that is one pool of connections, for each event loop, address and key.

Keys may be as many as people, and each client holds certificates and sockets, so only so many are kept: those that were
asked for last. One that a stream is read from is kept in any case.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

logger = logging.getLogger(__name__)

MOST = 64
"""Clients of one SDK that an event loop keeps though nobody reads from them."""


class Client(Protocol):
    async def close(self) -> None: ...


C = TypeVar("C", bound=Client)


@dataclass
class _Pool(Generic[C]):
    """Those of one event loop, the one that was asked for last at the end. ``held``: how many read from each now;
    ``closing``: what nobody will ask for any more."""

    clients: dict[Hashable, C] = field(default_factory=dict)
    held: Counter[Hashable] = field(default_factory=Counter)
    closing: set[asyncio.Task[None]] = field(default_factory=set)


class Clients(Generic[C]):
    """The clients of one SDK; ``close_clients`` closes them with all others."""

    def __init__(self) -> None:
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool[C]] = (
            weakref.WeakKeyDictionary()
        )
        _KINDS.append(self)

    def get(self, identity: Hashable, make: Callable[[], C]) -> C:
        """That of the running event loop, made where there is none yet. Beyond ``MOST`` it may be closed as soon as
        others are asked for; ``holding`` keeps it."""
        pool = self._pool()
        client = pool.clients.pop(identity, None)
        pool.clients[identity] = client = make() if client is None else client
        _let_go(pool, but=identity)
        return client

    @contextmanager
    def holding(self, identity: Hashable) -> Iterator[None]:
        """The client of that identity, made before or meanwhile, is not closed for want of room."""
        pool = self._pool()
        pool.held[identity] += 1
        try:
            yield
        finally:
            pool.held[identity] -= 1
            if not pool.held[identity]:
                del pool.held[identity]
                _let_go(pool)

    async def close(self, identity: Hashable) -> None:
        """Close one of the running event loop. The next that is asked for is a new one."""
        client = self._pool().clients.pop(identity, None)
        if client is not None:
            await client.close()

    async def close_all(self) -> None:
        pool = self._by_loop.pop(asyncio.get_running_loop(), None)
        if pool is None:
            return
        clients, pool.clients = pool.clients, {}
        for client in clients.values():
            await _close(client)
        await asyncio.gather(*pool.closing)

    def _pool(self) -> _Pool[C]:
        return self._by_loop.setdefault(asyncio.get_running_loop(), _Pool())


def _let_go(pool: _Pool[C], but: Hashable = None) -> None:
    """Close what is beyond ``MOST`` and nobody reads from, the one that was asked for longest ago first."""
    free = [identity for identity in pool.clients if identity != but and not pool.held[identity]]
    for identity in free[: max(0, len(pool.clients) - MOST)]:
        task = asyncio.get_running_loop().create_task(_close(pool.clients.pop(identity)))
        pool.closing.add(task)
        task.add_done_callback(pool.closing.discard)


async def _close(client: Client) -> None:
    try:
        await client.close()
    except Exception:
        # Nobody waits for it who could be told.
        logger.exception("A client of a model's API could not be closed.")


_KINDS: list[Clients[Any]] = []


async def close_clients() -> None:
    """Close every connection to a model that belongs to the running event loop; for shutting down."""
    for kind in _KINDS:
        await kind.close_all()
