"""More programs at once than the database has connections: a request that takes long keeps none meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

import httpx

from tests.faults.conftest import Lab, make_lab

__all__ = ["make_lab"]

CALLERS = 24
"""The pool has sixteen connections."""


async def test_who_listens_or_waits_keeps_no_connection(
    postgres_url: str, make_lab: Callable[[Mapping[str, str]], Lab]
) -> None:
    lab = await asyncio.to_thread(make_lab, {"DATABASE_URL": postgres_url})
    add = ("beach", "peer", "add", "desk", "--scopes", "chat,read", "--rate", "9999")
    token = (await asyncio.to_thread(lab.server.manage, *add)).strip()
    waits = {"text": "Count to three"}
    async with (
        AsyncExitStack() as listening,
        httpx.AsyncClient(
            base_url=lab.server.url,
            headers={"Authorization": f"Bearer {token}", "Prefer": "wait=15"},
            timeout=60,
            limits=httpx.Limits(max_connections=200),
        ) as client,
    ):
        path = f"/api/sessions/{(await client.post('/api/sessions', json={})).json()['id']}"
        for _ in range(CALLERS):
            stream = await listening.enter_async_context(client.stream("GET", f"{path}/parts"))
            assert stream.status_code == 200
        lab.gates.shut("words")
        waiting = [asyncio.create_task(client.post(f"{path}/messages", json=waits)) for _ in range(CALLERS)]
        while lab.count("envelopes_turn") < CALLERS:  # noqa: ASYNC110 - the turns are in another process
            await asyncio.sleep(0.1)

        for asked in ("/readyz", "/?new"):
            assert (await client.get(asked)).status_code == 200
        assert (await client.post("/api/sessions", json={})).status_code == 201
        lab.gates.open("words")
        assert {answer.status_code for answer in await asyncio.gather(*waiting)} <= {200, 202}
