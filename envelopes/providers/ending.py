"""The end of a reply that is complete: what stands behind it in the stream takes nothing from it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TypeVar

SECONDS = 1.0
"""How long the end of the stream is waited for, so that the connection can be used again."""

T = TypeVar("T")


async def rest(events: AsyncIterator[T]) -> list[T]:
    """What is left, as far as it can be read: an error that comes now, or a server that keeps the stream open, is none
    of the answer."""
    found: list[T] = []
    with contextlib.suppress(Exception):
        async with asyncio.timeout(SECONDS):
            async for event in events:
                found.append(event)  # noqa: PERF401  # what came before an error counts
    return found
