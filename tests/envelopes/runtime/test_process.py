"""A process that was asked to end lets go of everything within a bound, and nothing starts in it again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import AsyncClient

from envelopes.delivery.relay import Relay
from envelopes.log.doorbell import Doorbell
from envelopes.runtime import process
from envelopes.testing import current
from tests.desk import replies
from tests.envelopes.transports.closing import close_code
from tests.sockets import Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = replies([])


class DeafLayer:
    """A layer whose client takes a cancellation for a timeout of its own and tries again, as that of Redis may."""

    def __init__(self) -> None:
        self.over = False
        self.calls: list[str] = []

    async def new_channel(self, prefix: str) -> str:
        return f"{prefix}!1"

    async def _hang(self, name: str) -> None:
        self.calls.append(name)
        while not self.over:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    async def group_add(self, group: str, channel: str) -> None:
        await self._hang("join")

    async def group_discard(self, group: str, channel: str) -> None:
        await self._hang("leave")

    async def group_send(self, group: str, message: Any) -> None:
        await self._hang("send")

    async def receive(self, channel: str) -> None:
        await self._hang("receive")


@pytest.fixture
def layer() -> Iterator[DeafLayer]:
    deaf = DeafLayer()
    yield deaf
    deaf.over = True


@pytest.mark.parametrize("before", [0.0, 0.1], ids=["while it starts", "while it runs"])
async def test_s1_a_relay_whose_client_swallows_cancellations_is_left_within_a_bound(
    layer: DeafLayer, before: float
) -> None:
    bell = Doorbell()
    relay = Relay(layer, bell)
    starting = asyncio.create_task(relay.start())
    await asyncio.sleep(before)
    bell.ring(1, work=True)
    stopping = asyncio.create_task(relay.stop())
    done, _ = await asyncio.wait({stopping}, timeout=8)
    layer.over = True
    assert done, "the relay waits for a client that does not listen"
    await asyncio.wait({starting, stopping})


async def test_s1_nothing_starts_any_more_and_the_process_says_that_it_is_not_ready() -> None:
    assert (await AsyncClient().get("/readyz")).status_code == 200
    process.ensure_started()
    running = current()
    assert running is not None
    process.begin_stopping()
    process.begin_stopping()
    await process.shut_down()

    process.ensure_started()
    assert current() is None
    answer = await AsyncClient().get("/readyz")
    assert (answer.status_code, json.loads(answer.content)["status"]) == (503, "unready")
    assert (await AsyncClient().get("/healthz")).status_code == 200
    assert (await AsyncClient().get("/accounts/login/")).status_code == 200
    assert current() is None


async def test_s1_open_sockets_are_told_to_come_back_and_new_ones_are_sent_on() -> None:
    async with panel(ANSWER) as (session, browser, _):
        greeted, silent = await Socket(browser, session.public_id).open(), Socket(browser, session.public_id)
        await silent.wire.connect(timeout=30)
        process.begin_stopping()
        for socket in (greeted, silent):
            assert await close_code(socket) == 1012
        # What is sent now is not answered: it comes again, with the same id, to whoever is there then.
        await greeted.send({"type": "message", "id": "m1", "text": "too late"})
        assert await greeted.wire.receive_nothing(timeout=0.2)
        assert not await session.turns.aexists()

        late = Socket(browser, session.public_id)
        assert (await late.wire.connect(timeout=30))[0]
        assert await close_code(late) == 1012
        foreign = Socket(browser, session.public_id, origin="https://evil.example")
        assert not (await foreign.wire.connect(timeout=30))[0]


async def test_s1_a_database_that_is_away_does_not_keep_a_runner_from_its_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from django.db import OperationalError

    from envelopes.runtime.runner import Runner
    from envelopes.turns import renewing

    def away(owner: str) -> list[int]:
        raise OperationalError("no route to host")

    runner = Runner()
    await runner.start()
    monkeypatch.setattr(renewing, "release", away)
    await runner.stop()
    assert not runner.started
    assert "could not be given back" in caplog.text
