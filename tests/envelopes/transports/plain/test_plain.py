"""A third transport: it follows the log, goes on after a cut, streams text and asks the rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from envelopes import intake
from envelopes.delivery.deltas import deltas
from envelopes.log.doorbell import doorbell
from envelopes.models import Session
from envelopes.providers.scripted import Say, text
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.transports import transports
from envelopes.session_state import live_sessions
from tests.desk import Script, replies
from tests.envelopes.transports.plain import transport as plain
from tests.sockets import Browser, Socket, panel

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.urls("tests.envelopes.transports.plain.urls"),
]

WORDS = "Two flights were found, and one of them is direct. " * 12


class Listener:
    """Somebody at the door."""

    def __init__(self, response: Any) -> None:
        self.lines: list[str] = []
        self._news = asyncio.Event()
        self._reading = asyncio.create_task(self._read(response))

    async def _read(self, response: Any) -> None:
        async for line in response:
            self.lines.append(line.decode().rstrip("\n"))
            self._news.set()

    async def until(self, wanted: str) -> Listener:
        """Until a line has this in it."""
        async with asyncio.timeout(10):
            while not any(wanted in line for line in self.lines):
                self._news.clear()
                await self._news.wait()
        return self

    async def cut(self) -> int:
        """The connection ends, as a server ends it; the last row that came over it."""
        self._reading.cancel()
        await asyncio.wait({self._reading})
        return max(int(line.split()[0]) for line in self.rows)

    @property
    def rows(self) -> list[str]:
        return [line for line in self.lines if line[0].isdigit()]

    @property
    def said(self) -> list[str]:
        """Rows without their numbers."""
        return [line.split(" ", 1)[1] for line in self.rows]

    @property
    def written(self) -> str:
        """What was heard while it was written."""
        return "".join(line.removeprefix("~ tester: ") for line in self.lines if line.startswith("~"))


class House:
    """One conversation, with a panel's socket beside the door: it starts what runs turns."""

    def __init__(self, session: Session, browser: Browser, who: Any) -> None:
        self.session, self.browser, self.who = session, browser, who
        self._said = 0

    async def listen(self, query: str = "") -> Listener:
        client = AsyncClient()
        client.cookies.load(self.browser.cookies)
        response: Any = await client.get(f"/plain/{self.session.public_id}/{query}")
        assert response.status_code == 200
        return Listener(response)

    async def say(self, words: str) -> None:
        self._said += 1
        await sync_to_async(intake.post_message)(self.session, self.who, f"m{self._said}", words)


@asynccontextmanager
async def house(script: Script, *, pace: float = 0) -> AsyncIterator[House]:
    with transports.including(plain.PLAIN):
        async with panel(script, pace=pace) as (session, browser, who):
            socket = await Socket(browser, session.public_id).open()
            yield House(session, browser, who)
            await socket.close()


async def test_it_follows_the_log_and_streams_what_is_being_written() -> None:
    # So slow that there is something to see of it before its part comes.
    async with house(replies([Say([text("response", WORDS)])]), pace=3000) as here:
        listener = await (await here.listen()).until("= 0")
        await here.say("Hello")
        await listener.until(WORDS)
        await listener.cut()

    assert listener.written
    assert WORDS.startswith(listener.written)
    assert listener.said == ["you: Hello", f"tester: {WORDS}"]
    assert listener.lines[-1] == listener.rows[-1]


async def test_it_goes_on_after_a_cut_with_exactly_what_was_missed() -> None:
    async with house(replies([Say([text("response", "One.")])], [Say([text("response", "Two.")])])) as here:
        stayed = await (await here.listen()).until("= 0")
        cut = await (await here.listen()).until("= 0")
        await here.say("First")
        await cut.until(" tester: One.")
        last = await cut.cut()
        await here.say("Second")
        await stayed.until(" tester: Two.")

        for again in ("kept", "made again"):
            back = await (await here.listen(f"?after={last}")).until("=")
            assert back.rows == stayed.rows[len(cut.rows) :] != [], again
            await back.cut()
            live_sessions.clear()
        ahead = await (await here.listen("?after=99")).until("!")
        assert ahead.lines == ["! NotInLog"]
        await stayed.cut()
        # Nobody listens any more but the panel.
        assert len(doorbell._listeners[here.session.pk]) == len(deltas._subscribers[here.session.pk]) == 1


async def test_it_asks_the_rules_for_each_reader() -> None:
    kind = PartType(
        "acme.aside",
        frozenset({"actor"}),
        "flush",
        "once",
        text="required",
        streams_text=True,
        requires_peer_consumes=True,
    )
    script = replies([Say([text("acme.aside", f"Aside: {WORDS}"), text("response", "Done.")])])
    with part_types.including(kind):
        async with house(script, pace=3000) as here:
            person = await (await here.listen()).until("= 0")
            program = await (await here.listen("?consumes=acme.aside")).until("= 0")
            await here.say("Hello")
            for one in (person, program):
                await one.until(" tester: Done.")
                await one.cut()

    assert person.said == ["you: Hello", "tester: Done."]
    assert "flights" not in "".join(person.lines)
    assert program.said == ["you: Hello", f"tester: Aside: {WORDS}", "tester: Done."]
    assert len(program.written) > len(WORDS) > len(person.written)
