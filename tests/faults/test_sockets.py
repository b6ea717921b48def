"""Sockets that drop, lag behind and come in crowds. The channel layer is in memory here: nothing hangs on it."""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlsplit

from tests.a2ui.strategies import FUZZ
from tests.faults.conftest import Lab
from tests.visitor import Visitor

CROWD = 50 if FUZZ > 1 else 20
"""In a long run more of them."""
SEARCH = "Find flights from London Gatwick to Corfu on 15 August for 2"


async def test_a_socket_that_was_away_during_a_turn_gets_exactly_what_it_missed(lab: Lab) -> None:
    lab.gates.shut("words")
    away = await (await Visitor.arrive(lab.server)).connect()
    stayed = await away.tab().connect()
    await away.say("Count to three")
    await lab.gates.wait("words")
    await away.until(lambda: any("second of three" in text for text in away.streamed.values()))
    await away.drop()
    seen = len(away.rows)
    lab.gates.open("words")
    await stayed.say(SEARCH)
    await stayed.settles(1)
    await stayed.until(lambda: stayed.seq == _last(lab) and not stayed.busy)

    await away.connect()
    await away.until(lambda: away.seq == stayed.seq)
    assert away.rows[seen:] == stayed.rows[-len(away.rows[seen:]) :]
    assert away.page.markup() == stayed.page.markup()
    await away.is_as_reloaded()
    for tab in (away, stayed):
        await tab.drop()


async def test_whoever_comes_in_the_middle_of_a_sentence_reads_it_from_its_beginning(lab: Lab) -> None:
    lab.gates.shut("words")
    first = await (await Visitor.arrive(lab.server)).connect()
    await first.say("Count to three")
    await lab.gates.wait("words")
    # The model has stopped writing; what it wrote is kept all the same.
    await lab.holds("SELECT live LIKE '%the second of three%' FROM envelopes_turn", (1,))
    late = await first.tab().connect()
    await late.until(lambda: any("This sentence is the second" in text for text in late.streamed.values()))
    lab.gates.open("words")
    await late.settles()
    await late.is_as_reloaded()
    for tab in (first, late):
        await tab.drop()


async def test_a_socket_that_comes_and_goes_all_the_time_misses_nothing(lab: Lab) -> None:
    """Nothing of a session is kept between two connections but the number of the last row."""
    stayed = await (await Visitor.arrive(lab.server)).connect()
    restless = await stayed.tab().connect()
    talking = asyncio.create_task(_talk(stayed))
    while not talking.done():
        await restless.drop()
        await restless.connect()
    await talking
    await restless.until(lambda: restless.seq == stayed.seq)
    assert restless.rows == stayed.rows
    assert restless.page.markup() == stayed.page.markup()
    for tab in (stayed, restless):
        await tab.drop()


async def _talk(visitor: Visitor) -> None:
    for number, words in enumerate((SEARCH, "Count to three", "hello"), 1):
        await visitor.say(words)
        await visitor.settles(number)


async def test_a_second_hello_in_the_middle_of_a_turn_skips_and_swaps_nothing(lab: Lab) -> None:
    """The page says hello again when it notices a gap, while rows keep coming."""
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say(SEARCH)
    while visitor.endings < 1:
        await visitor.hello()
        await asyncio.sleep(0.03)
    await visitor.settles()
    await visitor.is_as_reloaded()
    await visitor.drop()


async def test_a_reader_that_does_not_read_holds_up_nobody(lab: Lab) -> None:
    visitor = await Visitor.arrive(lab.server)
    idle = [await connect_and_never_read(visitor) for _ in range(3)]
    watching = await visitor.tab().connect()
    for number in (1, 2, 3):
        await watching.say(SEARCH)
        await watching.settles(number)
    other = await (await Visitor.arrive(lab.server)).connect()
    await other.say("hello")
    await other.settles()
    await watching.is_as_reloaded()
    for tab in (watching, other):
        await tab.drop()
    for raw in idle:
        raw.close()


async def connect_and_never_read(visitor: Visitor) -> socket.socket:
    """A raw socket with a tiny buffer that says hello and then never reads again."""
    where = urlsplit(visitor.server.url)
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    await asyncio.to_thread(raw.connect, (where.hostname, where.port))
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    head = (
        f"GET /ws/chat/{visitor.session}/ HTTP/1.1\r\nHost: {where.netloc}\r\nOrigin: {visitor.server.url}\r\n"
        f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nCookie: {cookie}\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    await asyncio.to_thread(raw.sendall, head.encode())
    assert b" 101 " in await asyncio.to_thread(raw.recv, 64)
    await asyncio.to_thread(raw.sendall, masked(b'{"type": "hello", "after": 0}'))
    return raw


def masked(text: bytes) -> bytes:
    """A short text frame whose mask is zero."""
    return bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text


async def test_many_conversations_at_once(lab: Lab) -> None:
    visitors = await asyncio.gather(*(Visitor.arrive(lab.server) for _ in range(CROWD)))
    await asyncio.gather(*(visitor.connect() for visitor in visitors))
    words = [SEARCH, "Count to three", "hello", "hello", "hello"]
    await asyncio.gather(*(visitor.say(words[n % 5]) for n, visitor in enumerate(visitors)))
    await asyncio.gather(*(visitor.settles(seconds=60) for visitor in visitors))

    for visitor in visitors:
        assert visitor.page.text().count("You said:") == 1
        assert not visitor.page.select("b-error")
    lab.log_is_gap_free()
    assert lab.query("SELECT DISTINCT status, finalized_by, attempt FROM envelopes_turn") == [
        ("settled", "complete", 1)
    ]
    assert "database is locked" not in lab.server.log.read_text()
    await visitors[-1].is_as_reloaded()
    await asyncio.gather(*(visitor.drop() for visitor in visitors))


def _last(lab: Lab) -> int:
    """The last row of the only session that shows something."""
    rows = "kind IN ('settled', 'turn') AND audience = 'delivered'"
    last: int = lab.query(f"SELECT max(seq) FROM envelopes_event WHERE {rows}")[0][0]  # noqa: S608
    return last
