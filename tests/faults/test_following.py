"""A program that follows a conversation at two processes in turn, cut at random places."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.faults.conftest import Lab
from tests.visitor import NO_TLS

CUTS = 25
DEMO = {"DJANGO_SETTINGS_MODULE": "beachsite.settings.local", "BEACH_SCRIPT_PACE": "1500"}
"""A model that takes its time, so that there is something to cut."""


@dataclass
class Reader:
    """What a program has heard: the rows, and the texts that were being written."""

    after: int = 0
    rows: list[tuple[int, str, Any]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    settled: int = 0

    async def hear(self, server: str, path: str, token: str, events: int) -> None:
        """Goes on from where it was cut, and is cut again after so many ``events``, or with the end of a turn."""
        headers = {"Authorization": f"Bearer {token}", "Last-Event-ID": str(self.after)}
        async with (
            httpx.AsyncClient(timeout=60, verify=NO_TLS) as client,
            client.stream("GET", f"{server}{path}/parts", headers=headers) as stream,
        ):
            assert stream.status_code == 200
            before, fields = self.settled, dict[str, str]()
            async for line in stream.aiter_lines():
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                    continue
                if "data" in fields:
                    self._take(fields)
                    events -= 1
                fields = {}
                if events <= 0 or self.settled > before:
                    return

    def _take(self, fields: dict[str, str]) -> None:
        name, data = fields["event"], json.loads(fields["data"])
        if name == "textDelta":
            known = self.texts.get(data["live"], "")
            assert data["offset"] <= len(known), "text is missing before this"
            self.texts[data["live"]] = known[: data["offset"]] + data["text"]
        if "id" in fields:
            self.after = int(fields["id"])
            self.rows.append((self.after, name, data))
            self.settled += name == "settled"


async def test_cut_again_and_again_at_two_processes_nothing_is_lost_or_doubled(
    make_lab: Callable[[dict[str, str]], Lab], make_sibling: Callable[[Lab], Lab]
) -> None:
    one = await asyncio.to_thread(make_lab, DEMO)
    other = await asyncio.to_thread(make_sibling, one)
    servers = [one.server.url, other.server.url]
    add = ("beach", "peer", "add", "desk", "--scopes", "chat,read", "--rate", "9999")
    token = (await asyncio.to_thread(one.server.manage, *add)).strip()
    chance, reader, turns, cuts = random.Random(7), Reader(), 0, 0
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(timeout=60, headers=headers) as client:
        made = await client.post(f"{servers[0]}/api/sessions", json={})
        path = f"/api/sessions/{made.json()['id']}"
        while cuts < CUTS:
            said = await client.post(
                f"{servers[turns % 2]}{path}/messages",
                json={"text": "What can you do?"},
                headers={"Prefer": "respond-async"},
            )
            assert said.status_code == 202
            turns += 1
            while reader.settled < turns:
                await reader.hear(servers[cuts % 2], path, token, chance.randint(1, 4))
                cuts += 1
    whole = Reader()
    while whole.settled < turns:
        await whole.hear(servers[1], path, token, 10_000)

    assert reader.rows == whole.rows
    assert [row[0] for row in reader.rows] == sorted({row[0] for row in reader.rows})
    said_in_the_end = {
        data["live"]: data["part"]["text"]
        for _, name, data in reader.rows
        if name == "partReceived" and "live" in data
    }
    assert reader.texts, "nothing was seen while it was being written"
    for live, text in reader.texts.items():
        assert said_in_the_end[live].startswith(text)
