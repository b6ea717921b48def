"""How many one caller may have open, and a process, and that each is counted for exactly as long as it is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from django.http import StreamingHttpResponse

from envelopes.errors import Crowded, TooOften
from envelopes.quotas import Quota


async def numbers(ended: list[str]) -> AsyncGenerator[int]:
    try:
        yield 1
        yield 2
    finally:
        ended.append("end")


async def test_so_many_are_open_and_no_more(settings: Any) -> None:
    settings.BEACH_STREAMS_PER_CALLER = 2
    streams = Quota("streams", "BEACH_STREAMS_PER_CALLER", "BEACH_STREAMS")
    mine = [streams.opened("peer:1", numbers([])) for _ in range(2)]
    with pytest.raises(TooOften) as refused:
        streams.opened("peer:1", numbers([]))
    assert refused.value.facts == {"limit": "BEACH_STREAMS_PER_CALLER", "allowed": 2, "retry_after": 5}
    assert "2 streams" in refused.value.message
    # Those of others are not theirs.
    other = streams.opened("peer:2", numbers([]))
    assert [streams.of(f"peer:{peer}") for peer in (1, 2)] == [2, 1]
    for each in (*mine, other):
        each.close()


async def test_it_is_free_again_however_it_ends(settings: Any) -> None:
    settings.BEACH_STREAMS_PER_CALLER = 1
    streams = Quota("streams", "BEACH_STREAMS_PER_CALLER", "BEACH_STREAMS")
    ended: list[str] = []
    # Read to its end.
    stream = streams.opened("me", numbers(ended))
    assert [item async for item in stream] == [1, 2]
    stream.close()
    assert streams.of("me") == 0
    # Left in the middle: also what it was made of ends, and not when garbage is looked for. Django closes in a thread.
    kept = numbers(ended)
    stream = streams.opened("me", kept)
    assert await anext(stream) == 1
    await asyncio.to_thread(stream.close)
    assert streams.of("me") == 0
    while len(ended) < 2:  # noqa: ASYNC110 - it ends in a task of its own
        await asyncio.sleep(0)
    # Never begun, and never closed.
    stream = streams.opened("me", numbers(ended))
    del stream
    assert streams.of("me") == 0


async def test_a_response_closes_it(settings: Any) -> None:
    settings.BEACH_STREAMS_PER_CALLER = 1
    streams = Quota("streams", "BEACH_STREAMS_PER_CALLER", "BEACH_STREAMS")
    response = StreamingHttpResponse(streams.opened("me", numbers([])))
    assert streams.of("me") == 1
    response.close()
    assert streams.of("me") == 0


def test_a_process_has_so_many_for_all_and_no_more(settings: Any) -> None:
    settings.BEACH_STREAMS = 2
    streams = Quota("streams", "BEACH_STREAMS_PER_CALLER", "BEACH_STREAMS")
    end, _ = [streams.take(f"peer:{peer}") for peer in (1, 2)]
    with pytest.raises(Crowded) as refused:
        streams.take("peer:3")
    assert refused.value.facts == {"limit": "BEACH_STREAMS", "allowed": 2, "retry_after": 5}
    assert (refused.value.code, "2 streams" in refused.value.message) == ("unavailable", True)
    # However often its end is told.
    end()
    end()
    streams.take("peer:3")
    with pytest.raises(Crowded):
        streams.take("peer:4")
