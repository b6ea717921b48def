"""A person at a browser, against a real server: cookies, a conversation, a socket that comes and goes, and a page that
follows what the socket brings. Whatever arrives twice, out of order or with a gap fails the test at once."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
import secrets
import ssl
from collections.abc import Callable
from html import unescape
from xml.etree import ElementTree as ET

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from envelopes.types import JsonObject
from tests.envelopes.transports.panel.talk import Page
from tests.liveserver import Server

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of servers on this machine: to read the certificates of all authorities takes longer than most tests."""

_THREAD = re.compile(r'<div class="b-thread" id="thread"[^>]*>(.*)<div class="b-tail" id="tail">', re.DOTALL)


class Visitor:
    """One tab. ``frames`` is everything that came, ``page`` what it made, ``seq`` the last row on it."""

    def __init__(self, server: Server, session: str, cookies: dict[str, str]) -> None:
        self.server = server
        self.session = session
        self.cookies = cookies
        self.page = Page()
        self.seq = 0
        self.mark: int | None = None
        self.busy = False
        self.frames: list[JsonObject] = []
        self.streamed: dict[str, str] = {}
        self.drawn: dict[str, tuple[int, str]] = {}
        self._ids = itertools.count(1)
        self._name = secrets.token_hex(6)
        self._news = asyncio.Condition()
        self._wire: ClientConnection | None = None
        self._reading: asyncio.Task[None] | None = None
        self._problem: AssertionError | None = None
        self._greeted = self._welcomed_before = 0

    # -- pages ------------------------------------------------------------------------------------------------------

    @classmethod
    async def arrive(
        cls, server: Server, *, name: str = "", password: str = "", cookies: dict[str, str] | None = None
    ) -> Visitor:
        """A new conversation, of a stranger, of somebody who signs in, or of whoever has these cookies."""
        async with _browser(server, cookies) as http:
            if name:
                await _sign_in(http, name, password)
            else:
                await http.get("/")
            made = await http.post(
                "/chat/new",
                headers={"Accept": "application/json", "X-CSRFToken": http.cookies["csrftoken"]},
            )
            assert made.status_code == 201, made.text
            return cls(server, made.json()["id"], dict(http.cookies))

    def tab(self, server: Server | None = None) -> Visitor:
        """Another tab of the same person on the same conversation, perhaps at another process."""
        return Visitor(server or self.server, self.session, self.cookies)

    async def load(self) -> Page:
        """The page as it is served now."""
        async with _browser(self.server, self.cookies) as http:
            answer = await http.get(f"/chat/{self.session}/")
            assert answer.status_code == 200
            found = _THREAD.search(answer.text)
            assert found is not None
            html = found[1].strip()
            return Page("" if 'id="empty"' in html else html)

    async def is_as_reloaded(self) -> None:
        """What the socket has built is what a reload shows, streamed text included."""
        fresh = await self.load()
        if (here := self.page.markup()) != (there := fresh.markup()):
            place = next((n for n, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), len(there))
            near = slice(max(0, place - 300), place + 300)
            raise AssertionError(f"The page has\n{here[near]}\nand a reload\n{there[near]}")

    async def edit(self, approval: str, values: dict[str, str]) -> int:
        """Correct the arguments of a question in its form, by the labels of the inputs; the status of the answer."""
        address = f"/chat/{self.session}/edit/{approval}"
        async with _browser(self.server, self.cookies) as http:
            form = await http.get(address)
            names = {label: name for name, label in re.findall(r'for="f(a\d+)">([^<]*?) *<', form.text)}
            sent = {names[label]: value for label, value in values.items() if label in names}
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form.text)
            if token is None:
                # It is not to be edited any more: the conversation has come instead.
                return form.status_code
            answer = await http.post(address, data={**sent, "csrfmiddlewaretoken": token[1]})
            return answer.status_code

    # -- the socket ---------------------------------------------------------------------------------------------------

    async def dial(self, server: Server | None = None) -> Visitor:
        """Open a socket and say nothing yet."""
        assert self._wire is None
        self.server = server or self.server
        self._wire = await connect(
            f"{self.server.ws_url}/ws/chat/{self.session}/",
            additional_headers={"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())},
            origin=self.server.url,  # type: ignore[arg-type]
            max_size=None,
        )
        self._reading = asyncio.create_task(self._read(self._wire))
        self._greeted, self._welcomed_before = 0, self._welcomes
        return self

    async def connect(self, server: Server | None = None) -> Visitor:
        """Open a socket and go on from the last row that the page has."""
        await self.dial(server)
        await self.hello()
        await self.until(lambda: self.is_greeted)
        return self

    async def hello(self) -> None:
        """Ask for everything after the last row on the page; again, when something seems to be missing."""
        self._greeted += 1
        await self.send({"type": "hello", "after": self.seq, "mark": self.mark})

    async def drop(self) -> None:
        """The network is gone: no goodbye."""
        wire, reading = self._wire, self._reading
        self._wire = self._reading = None
        if wire is not None and reading is not None:
            wire.transport.abort()
            await reading
            await wire.wait_closed()

    async def ended(self, *, seconds: float = 10) -> int | None:
        """Until the server has closed the connection; with which code."""
        wire, reading = self._wire, self._reading
        self._wire = self._reading = None
        assert wire is not None and reading is not None
        await asyncio.wait_for(reading, seconds)
        return wire.close_code

    @property
    def is_connected(self) -> bool:
        """Whether there is a socket that nobody has closed yet."""
        return self._reading is not None and not self._reading.done()

    @property
    def is_greeted(self) -> bool:
        """Whether this socket's first hello was answered."""
        return self._welcomes > self._welcomed_before

    @property
    def close_code(self) -> int | None:
        """With which code the server has closed the socket; None where it is open, or was cut."""
        return self._wire.close_code if self._wire is not None else None

    def check(self) -> None:
        """Raise what was wrong with a frame that came."""
        self._broken()

    async def send(self, frame: JsonObject) -> None:
        assert self._wire is not None
        await self._wire.send(json.dumps(frame))

    async def ask(self, frame: JsonObject, *, message_id: str = "") -> JsonObject:
        """Send a frame; the ack or error that answers it."""
        name = message_id or f"{self._name}-{next(self._ids)}"
        after = len(self.frames)
        await self.send({**frame, "id": name})
        await self.until(lambda: any(got.get("id") == name for got in self.frames[after:]))
        return next(got for got in self.frames[after:] if got.get("id") == name)

    async def say(self, text: str) -> JsonObject:
        answer = await self.ask({"type": "message", "text": text})
        assert answer["type"] == "ack", answer
        return answer

    async def until(self, holds: Callable[[], bool], *, seconds: float = 30) -> None:
        """Until ``holds`` is true of this visitor, looked at again after every frame, and when the socket has ended."""
        async with self._news:
            try:
                await asyncio.wait_for(self._news.wait_for(lambda: self._broken() or holds()), seconds)
            except TimeoutError:
                gone = "" if self.is_connected else f" The socket has ended (code {self.close_code})."
                raise AssertionError(
                    f"It did not come.{gone} On the page:\n{self.page.text()[-2000:]}"
                ) from None
        self._broken()

    async def shows(self, *texts: str, seconds: float = 30) -> None:
        await self.until(lambda: all(text in self.page.text() for text in texts), seconds=seconds)

    async def settles(self, turns: int = 1, *, seconds: float = 30) -> None:
        """Until nothing is at work, and that many rows have said that a turn is over."""
        await self.until(lambda: not self.busy and self.endings >= turns, seconds=seconds)

    @property
    def rows(self) -> list[JsonObject]:
        return [frame for frame in self.frames if "ops" in frame]

    @property
    def endings(self) -> int:
        """How often it went from busy to idle."""
        states = [frame["busy"] for frame in self.rows]
        return sum(before and not now for before, now in itertools.pairwise(states))

    @property
    def _welcomes(self) -> int:
        return sum(frame.get("type") == "welcome" for frame in self.frames)

    def approvals(self, state: str = "pending") -> list[str]:
        """The ids of the approvals whose cards are in this state; those of settled cards are empty."""
        cards = [card for card in self.page.select("b-approval") if card.get("data-state") == state]
        return [_approval(card) for card in cards]

    # -- what comes ---------------------------------------------------------------------------------------------------

    async def _read(self, wire: ClientConnection) -> None:
        # An ended connection ends the iteration; a dropped one raises.
        with contextlib.suppress(ConnectionClosed):
            async for message in wire:
                async with self._news:
                    try:
                        self._take(json.loads(message))
                    except AssertionError as error:
                        self._problem = self._problem or error
                    self._news.notify_all()
        async with self._news:
            self._news.notify_all()

    def _broken(self) -> bool:
        """Raise what was wrong with a frame, in the test and not in the task that reads."""
        if self._problem is not None:
            raise self._problem
        return False

    def _take(self, frame: JsonObject) -> None:
        self.frames.append(frame)
        if frame.get("type") == "welcome":
            self.mark = frame.get("mark", self.mark)
        if "ops" in frame:
            if frame["seq"] <= self.seq and self._greeted > 1:
                # It has asked for rows that were on their way already.
                self.frames.pop()
                return
            assert frame["seq"] > self.seq, f"row {frame['seq']} came after row {self.seq}"
            assert frame["prev"] == self.seq, f"row {frame['seq']} follows {frame['prev']}, not {self.seq}"
            self.page.apply(frame["ops"])
            self.seq, self.busy = frame["seq"], frame["busy"]
            self.mark = frame.get("mark", self.mark)
        elif frame.get("type") == "delta":
            self._stream(frame)

    def _stream(self, frame: JsonObject) -> None:
        """As the page module does: into the zone, by offset."""
        into = self.page.find(frame["into"])
        if into is None:
            return
        zone = next((child for child in into if child.get("class") == "b-live"), into)
        bubble = self.page.find(f"v{frame['live']}")
        if bubble is None:
            bubble = ET.SubElement(zone, "div", id=f"v{frame['live']}")
            bubble.text = ""
        text = bubble.text or ""
        closed, drawn = self.drawn.get(frame["live"], (0, ""))
        if "draw" in frame:
            # Of blocks that are drawn, the words.
            words = "".join(re.sub("<[^>]*>", "", html) for _, _, html in frame["draw"])
            closed, drawn = frame["offset"], (drawn if frame["from"] else "") + unescape(words)
            self.drawn[frame["live"]] = closed, drawn
        at = len(drawn) + frame["offset"] - closed
        if "draw" in frame or at <= len(text):
            bubble.text = (drawn if "draw" in frame else text[:at]) + frame["text"]
            self.streamed[frame["live"]] = bubble.text


def _approval(card: ET.Element) -> str:
    found = [element.get("data-approval") or "" for element in card.iter() if element.get("data-approval")]
    return found[0] if found else ""


def _browser(server: Server, cookies: dict[str, str] | None = None) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=server.url, cookies=cookies, timeout=30, trust_env=False, verify=NO_TLS)


async def _sign_in(http: httpx.AsyncClient, name: str, password: str) -> None:
    await http.get("/accounts/login/")
    answer = await http.post(
        "/accounts/login/",
        data={"username": name, "password": password, "csrfmiddlewaretoken": http.cookies["csrftoken"]},
    )
    assert answer.status_code == 302, answer.text
