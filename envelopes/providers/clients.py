"""Clients of SDKs: one, that is one pool of connections, for each event loop, address and key."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar


class Client(Protocol):
    async def close(self) -> None: ...


C = TypeVar("C", bound=Client)


class Clients(Generic[C]):
    """The clients of one SDK; ``close_clients`` closes them with all others."""

    def __init__(self) -> None:
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, C]] = (
            weakref.WeakKeyDictionary()
        )
        _KINDS.append(self)

    def get(self, identity: Hashable, make: Callable[[], C]) -> C:
        """That of the running event loop, made where there is none yet."""
        clients = self._by_loop.setdefault(asyncio.get_running_loop(), {})
        if identity not in clients:
            clients[identity] = make()
        return clients[identity]

    async def close(self, identity: Hashable) -> None:
        """Close one of the running event loop. The next that is asked for is a new one."""
        client = self._by_loop.get(asyncio.get_running_loop(), {}).pop(identity, None)
        if client is not None:
            await client.close()

    async def close_all(self) -> None:
        for client in self._by_loop.pop(asyncio.get_running_loop(), {}).values():
            await client.close()


_KINDS: list[Clients[Any]] = []


async def close_clients() -> None:
    """Close every connection to a model that belongs to the running event loop; for shutting down."""
    for kind in _KINDS:
        await kind.close_all()
