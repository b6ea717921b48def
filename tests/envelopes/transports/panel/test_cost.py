"""What a socket costs beside its conversation: after a restart everybody connects at once, and then they all ping."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from beachsite.suite import ROOT
from envelopes.access import Principal
from envelopes.database_threads import DatabaseThreads, in_session, read_beside_sessions
from envelopes.log import poll
from envelopes.providers.scripted import Say, text
from envelopes.session_state import live_sessions
from envelopes.testing import create_session
from envelopes.transports.panel import consumer
from tests.desk import replies
from tests.sockets import Browser, Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = replies([Say([text("response", "Hello to you.")])])


class Cost:
    """``queries`` and ``hops`` into the database's threads."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.hops = 0


@pytest.fixture
def alone(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a runner nor the poll asks for anything meanwhile, and sessions have one thread."""
    settings.BEACH_DATABASE_THREADS = 1
    settings.BEACH_EXECUTOR = "worker"
    monkeypatch.setattr(poll, "SECONDS", 3600.0)


@asynccontextmanager
async def counted(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cost]:
    cost = Cost()
    hop = DatabaseThreads.ask

    def counting(self: DatabaseThreads, *args: Any) -> Any:
        cost.hops += 1
        return hop(self, *args)

    # In each thread, for its own connection.
    captured = [CaptureQueriesContext(connection) for _ in range(2)]
    await read_beside_sessions(captured[0].__enter__)
    await in_session(0, captured[1].__enter__)
    with monkeypatch.context() as patch:
        patch.setattr(DatabaseThreads, "ask", counting)
        yield cost
    cost.queries = await read_beside_sessions(_read, captured[0]) + await in_session(0, _read, captured[1])


def _read(captured: CaptureQueriesContext) -> list[str]:
    queries = [query["sql"] for query in captured.captured_queries]
    captured.__exit__(None, None, None)
    return queries


@pytest.mark.usefixtures("alone")
async def test_a_strangers_handshake_and_hello_cost_two_queries_and_two_hops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with panel(ANSWER) as (session, browser, _):
        # What a process does for its first socket is counted elsewhere.
        first = await Socket(browser, session.public_id).open()
        async with counted(monkeypatch) as cost:
            second = await Socket(browser, session.public_id).open()
            await second.close()
        assert (len(cost.queries), cost.hops) == (2, 2), cost.queries
        assert session.pk not in live_sessions._sessions
        await first.close()


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("staff", [False, True])
async def test_a_users_cost_two_more_and_staff_are_asked_what_they_may(
    staff: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The login and the user; of a superuser, who sees every conversation, also whether this one is theirs."""
    make = get_user_model().objects.create_user  # type: ignore[attr-defined]
    user = await sync_to_async(make)("ada", password="a sound one", is_staff=staff, is_superuser=staff)
    client = Client()
    await sync_to_async(client.force_login)(user)
    browser = Browser({name: morsel.value for name, morsel in client.cookies.items()})
    async with panel(ANSWER):
        session = await sync_to_async(create_session)(Principal(user=user, name="ada"), "tester")
        first = await Socket(browser, session.public_id).open()
        async with counted(monkeypatch) as cost:
            second = await Socket(browser, session.public_id).open()
        assert (len(cost.queries), cost.hops) == (4 + staff, 2), cost.queries
        await second.close()
        await first.close()


@pytest.mark.usefixtures("alone")
async def test_a_ping_costs_nothing_until_it_is_time_to_ask_who_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()

        async def ping() -> Cost:
            async with counted(monkeypatch) as cost:
                await socket.send({"type": "ping"})
                await socket.until(lambda frame: frame == {"type": "pong"})
            return cost

        cost = await ping()
        assert (cost.queries, cost.hops) == ([], 0)
        monkeypatch.setattr(consumer, "PING_SECONDS", 0.0)
        cost = await ping()
        assert (len(cost.queries), cost.hops) == (1, 1), cost.queries
        await socket.close()


def test_pages_ping_often_enough_to_hear_in_time_that_a_login_has_ended() -> None:
    """A page asks after so much silence; the first ping after ``PING_SECONDS`` is looked at."""
    beat = re.search(r"BEAT = (\d+)", (ROOT / "static/client/socket.js").read_text(encoding="utf-8"))
    assert beat is not None

    assert consumer.PING_SECONDS + int(beat[1]) / 1000 <= consumer.RECHECK_SECONDS
