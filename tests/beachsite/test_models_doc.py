"""The guide about models: its pieces run as they stand."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from beachsite.suite import ROOT
from envelopes.providers.port import InputFragment, ModelRequest, ReplyEnded
from envelopes.providers.transcript import user_text

GUIDE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_each_piece_runs(block: str) -> None:
    def run() -> None:
        exec(block, {"__name__": "shop.beach"})  # noqa: S102 - the guide's own

    # In a thread: one of them has an event loop of its own.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(run).result(20)


async def test_the_provider_of_the_guide_answers() -> None:
    found: dict[str, Any] = {}
    (block,) = [block for block in BLOCKS if "class Echo" in block]
    exec(block, found)  # noqa: S102 - the guide's own
    asked = ModelRequest("", [{"role": "user", "content": [user_text("Hello")]}], [], turn_id="t")

    async with asyncio.timeout(5):
        events = [event async for event in found["Echo"]().stream(asked)]

    assert isinstance(events[-1], ReplyEnded)
    assert '"text": "Hello"' in next(event.fragment for event in events if isinstance(event, InputFragment))
