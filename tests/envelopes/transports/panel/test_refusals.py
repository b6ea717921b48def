"""What a socket does with what it cannot do: the answer names the frame and says whether to send it again."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.db import OperationalError, connections
from django.test import AsyncClient
from hypothesis import given
from hypothesis import strategies as st

from beachsite.asgi import application
from envelopes.delivery.deltas import deltas
from envelopes.log.append import writing
from envelopes.log.doorbell import doorbell
from envelopes.models import Event, Session, Snapshot
from envelopes.providers.scripted import Say, text
from envelopes.session_state import live_sessions
from envelopes.testing import create_session
from envelopes.transports.panel import consumer
from tests.desk import replies
from tests.envelopes.transports.closing import close_code
from tests.sockets import Browser, Socket, anonymous, panel

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = replies([Say([text("response", "Hello to you.")])])


# -- S4: every refusal names its frame --------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [False, True], ids=["id first", "id last"])
async def test_s4_a_frame_that_is_too_large_is_answered_with_its_id(last: bool) -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        frame = {"type": "edit", "id": "big", "target": "a1-1", "value": 'say "hi" ' * 50_000}
        if last:
            frame["id"] = frame.pop("id")
        await socket.send(frame)
        answer = await socket.until(lambda got: True)
        assert (answer["type"], answer["code"]) == ("error", "too_large")
        assert (answer.get("id"), answer.get("retry")) == ("big", False)
        await socket.close()


BROKEN = [
    '{"type": "message", "id": "m1", "text": "no end',
    '{"type": "message", "text": "x", "id": "m1"',
    '{"id": "m1", "type": "message", "text": NaN}',
    '{"text": {"id": "other"}, "id": "m1", "type": "message"}',
    '{"id": "m1", "id": "m2", "type": "stop"}',
    '{"id": "m1", "type": "no-such-type"}',
    '{"id": "m1", "value": ' + "[" * 5000,
    '{"type": "edit", "id": "m1", "target": "a", "value": {"\\ud800": 1}, "path": "/"}',
]


@pytest.mark.parametrize("raw", BROKEN, ids=range(len(BROKEN)))
async def test_s4_a_frame_that_cannot_be_read_is_answered_with_its_id(raw: str) -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.wire.send_to(text_data=raw)
        answer = await socket.until(lambda got: True)
        assert (answer["type"], answer.get("id"), answer.get("retry")) == ("error", "m1", False)
        await socket.close()


NAMELESS = [
    "",
    "null",
    "[]",
    '[{"id": "m1"}]',
    '{"text": "\\"id\\": \\"m1\\""',
    '{"id": 5}',
    '{"id": "../x"}',
    '{"a": {"id": "m1"}',
]


def test_s4_no_id_is_made_up() -> None:
    from envelopes.transports.panel.frames import readable_id

    assert [readable_id(raw) for raw in NAMELESS] == [None] * len(NAMELESS)
    assert readable_id(None) is None
    assert readable_id("[" * 100_000 + '"id":"m1"') is None
    # However it is written, it is passed over once: backslashes and quotes without an end.
    assert readable_id('{"a":' + '\\"' * 500_000) is None
    assert readable_id('{"a":"' + '\\"' * 500_000) is None


@given(
    st.dictionaries(st.text(max_size=3), st.text(max_size=5)),
    st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True),
)
def test_s4_the_id_of_any_frame_is_found(frame: dict[str, str], name: str) -> None:
    from envelopes.transports.panel.frames import readable_id

    assert readable_id(json.dumps({**frame, "id": name})) == name
    assert readable_id(json.dumps({**frame, "id": name}, ensure_ascii=False)[:-1]) == name


async def test_s4_a_frame_that_came_too_fast_is_named_and_may_come_again(settings: Any) -> None:
    settings.BEACH_FRAMES_PER_SECOND = 1
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        for number in range(5):
            await socket.send({"type": "message", "text": "Hello", "id": f"m{number}"})
        answer = await socket.until(lambda got: got.get("id") == "m4")
        assert (answer["code"], answer.get("retry")) == ("too_fast", True)
        await socket.close()


FRAMES = [
    {"type": "message", "id": "m1", "text": "Hello"},
    {"type": "edit", "id": "m1", "target": "a1-1", "value": 1},
    {"type": "action", "id": "m1", "target": "a1-1"},
    {"type": "show", "id": "m1", "target": "a1-1"},
    {"type": "decide", "id": "m1", "approval": "x", "decision": "denied"},
    {"type": "stop", "id": "m1"},
    {"type": "ping"},
    {"type": "hello", "after": 0},
]


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Cuts the database off, and on again: connections cannot be made, and those there are do not answer."""

    class Database:
        def off(self) -> None:
            def refuse(*args: Any) -> Any:
                raise OperationalError("could not connect to server")

            # All of its connections, whichever thread has them.
            wrapper = type(connections["default"])
            monkeypatch.setattr(wrapper, "connect", refuse)
            monkeypatch.setattr(wrapper, "cursor", refuse)

        def on(self) -> None:
            monkeypatch.undo()

    return Database()


@pytest.mark.parametrize("frame", FRAMES, ids=[str(frame["type"]) for frame in FRAMES])
async def test_s4_while_the_database_is_away_every_frame_is_told_to_come_again(
    frame: dict[str, Any], database: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A ping asks for nothing otherwise: it was asked a moment ago.
    monkeypatch.setattr(consumer, "PING_SECONDS", 0.0)
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        database.off()
        await socket.send(frame)
        answer = await socket.until(lambda got: True)
        database.on()
        assert (answer["type"], answer["code"], answer["retry"]) == ("error", "unavailable", True)
        assert answer["id"] == frame.get("id")
        # The connection lives, and what failed works when it is sent again.
        assert (await socket.ask({"type": "message", "text": "Hello"}, message_id="m1"))["type"] == "ack"
        await socket.settled()
        await socket.close()
    assert not [
        record for record in caplog.records if "A frame of session" in record.message and record.exc_info
    ]


async def test_s4_a_handshake_while_the_database_is_away_is_no_verdict(database: Any) -> None:
    async with panel(ANSWER) as (session, browser, _):
        await (await Socket(browser, session.public_id).open()).close()
        database.off()
        socket = Socket(browser, session.public_id)
        await socket.wire.connect(timeout=30)
        assert await close_code(socket) == 1013
        database.on()


async def test_one_person_has_so_many_pages_open_and_the_next_hears_why(settings: Any) -> None:
    settings.BEACH_SOCKETS_PER_CALLER = 2
    async with panel(ANSWER) as (session, browser, _):
        open_ones = [await Socket(browser, session.public_id).open() for _ in range(2)]
        more = Socket(browser, session.public_id)
        await more.wire.connect(timeout=30)
        closed = await more.wire.receive_output(timeout=30)
        assert (closed["type"], closed["code"]) == ("websocket.close", 4429)
        assert "2 pages" in closed["reason"]
        await more.close()
        # Those of others are not theirs, and a place is free as soon as one has gone.
        other, who = anonymous()
        theirs = await sync_to_async(create_session)(who, session.actor)
        await (await Socket(other, theirs.public_id).open()).close()
        await open_ones.pop().close()
        open_ones.append(await Socket(browser, session.public_id).open())
        for socket in open_ones:
            await socket.close()


async def test_s4_rows_that_the_database_did_not_give_come_when_it_is_back(
    database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Hello"})
        await socket.settled()
        database.off()
        doorbell.ring(session.pk)
        await asyncio.sleep(0.1)
        database.on()
        # Nothing rings any more.
        monkeypatch.setattr(doorbell, "_listeners", {})
        await sync_to_async(_append)(session)
        await socket.until(lambda got: "Said meanwhile" in str(got.get("ops")))
        await socket.close()


async def test_a_hello_that_the_database_did_not_answer_starts_nothing(database: Any) -> None:
    """Else the page would get the log from its first row on, however much of it it has."""
    async with panel(ANSWER) as (session, browser, _):
        first = await Socket(browser, session.public_id).open()
        await first.ask({"type": "message", "text": "Hello"})
        await first.settled()
        await first.close()

        socket = Socket(browser, session.public_id)
        await socket.wire.connect(timeout=30)
        # It is let in when it has an answer.
        await socket.send({"type": "ping"})
        await socket.until(lambda got: got.get("type") == "pong")
        database.off()
        for _attempt in range(2):
            await socket.send({"type": "hello", "after": first.seq})
            assert (await socket.until(lambda got: True))["code"] == "unavailable"
        database.on()
        doorbell.ring(session.pk)
        assert await socket.wire.receive_nothing(timeout=0.3)
        await socket.send({"type": "hello", "after": first.seq})
        await socket.until(lambda got: got.get("type") == "welcome")
        await sync_to_async(_append)(session)
        await socket.until(lambda got: "Said meanwhile" in str(got.get("ops")))
        assert "Hello" not in socket.shown
        await socket.close()


def _append(session: Session) -> None:
    with writing(session.pk) as writer:
        writer.add("message", {"text": "Said meanwhile", "name": "", "id": "other"})


# -- S5: a row that the server does not have --------------------------------------------------------------------------


def _restore(session: Session, seq: int) -> None:
    """The database as it was at a row: an earlier backup, under a process that goes on."""
    Event.objects.filter(session=session, seq__gt=seq).delete()
    Snapshot.objects.filter(session=session, seq__gt=seq).delete()
    Session.objects.filter(pk=session.pk).update(last_seq=seq)


async def test_s5_a_page_that_shows_more_than_the_log_has_is_loaded_again_and_then_goes_on() -> None:
    async with panel(ANSWER) as (session, browser, _):
        first = await Socket(browser, session.public_id).open()
        await first.ask({"type": "message", "text": "Hello"})
        await first.settled()
        shown = first.seq
        await first.ask({"type": "message", "text": "And again"})
        await first.settled()
        ahead = first.seq
        await first.close()
        await sync_to_async(_restore)(session, shown)

        behind = Socket(browser, session.public_id)
        await behind.wire.connect(timeout=30)
        await behind.send({"type": "hello", "after": ahead})
        assert await close_code(behind) == 4410

        # The page that is loaded then is one that fits, so it is not loaded again.
        page = AsyncClient()
        page.cookies.load(browser.cookies)
        html = (await page.get(f"/chat/{session.public_id}/")).content.decode()
        found = re.search(r'data-seq="(\d+)"', html)
        assert found is not None
        assert int(found[1]) == shown
        assert "And again" not in html
        again = await Socket(browser, session.public_id).open(after=shown)
        await again.ask({"type": "message", "text": "Once more"})
        await again.settled()
        assert "Once more" in again.shown
        await again.close()


@pytest.mark.parametrize("had", ["a frame", "a welcome"])
@pytest.mark.parametrize("rests", [True, False])
async def test_s5_a_page_with_other_rows_than_a_log_that_has_come_as_far_again_is_loaded_again(
    had: str, rests: bool
) -> None:
    """Whoever comes back late: the restored log has the number that the page stands at, for another row."""
    async with panel(ANSWER) as (session, browser, _):
        first = await Socket(browser, session.public_id).open()
        await first.ask({"type": "message", "text": "Hello"})
        await first.settled()
        shown = first.seq
        await first.ask({"type": "message", "text": "Forgotten"})
        last = await first.settled()
        await first.close()
        if had == "a welcome":
            # As a page that was loaded then: what it shows came with it, and no frame since.
            loaded = await Socket(browser, session.public_id).open(after=last["seq"])
            last = loaded.frames[-1]
            await loaded.close()
        there = {"type": "hello", "after": last["seq"], "mark": last["mark"]}
        await _greets(browser, session, there, "welcome")
        await sync_to_async(_restore)(session, shown)

        other = await Socket(browser, session.public_id).open(after=shown)
        for words in ("Something else", "And more")[: 1 if rests else 2]:
            await other.ask({"type": "message", "text": words})
            await other.settled()
        assert other.seq == last["seq"] if rests else other.seq > last["seq"]
        await _greets(browser, session, there, 4410)
        # One that has those rows goes on, and so does one that knows of no mark.
        now = other.frames[-1]
        await _greets(
            browser, session, {"type": "hello", "after": now["seq"], "mark": now["mark"]}, "welcome"
        )
        await _greets(browser, session, {"type": "hello", "after": now["seq"]}, "welcome")
        await other.close()


async def _greets(browser: Any, session: Session, hello: dict[str, Any], how: str | int) -> None:
    """Whether a page that says ``hello`` is welcome, or closed with a code."""
    socket = Socket(browser, session.public_id)
    await socket.wire.connect(timeout=30)
    await socket.send(hello)
    if isinstance(how, int):
        assert await close_code(socket) == how
        return
    await socket.until(lambda got: got.get("type") == how)
    await socket.close()


async def test_s5_a_process_that_has_seen_more_sends_nothing_of_it() -> None:
    """The page was loaded from another process, which knows nothing of what this one remembers."""
    async with panel(ANSWER) as (session, browser, _):
        first = await Socket(browser, session.public_id).open()
        await first.ask({"type": "message", "text": "Hello"})
        await first.settled()
        shown = first.seq
        await first.ask({"type": "message", "text": "Forgotten"})
        await first.settled()
        await first.close()
        await sync_to_async(_restore)(session, shown)
        fitting = await Socket(browser, session.public_id).open(after=shown)
        assert "Forgotten" not in fitting.shown
        await fitting.close()


async def test_s5_a_socket_that_stayed_open_is_told_with_its_next_message() -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        for words in ("Hello", "Again", "And again"):
            await socket.ask({"type": "message", "text": words})
            await socket.settled()
        await sync_to_async(_restore)(session, 1)
        await socket.send({"type": "message", "id": "m9", "text": "Is this shown?"})
        assert (await socket.until(lambda got: got.get("id") == "m9"))["type"] == "ack"
        while (message := await socket.wire.receive_output(timeout=30))["type"] != "websocket.close":
            pass
        assert message["code"] == 4410


# -- S7: nobody at the other end --------------------------------------------------------------------------------------


def _held(session: Session) -> list[object]:
    return [
        live_sessions._watchers.get(session.pk),
        doorbell._listeners.get(session.pk),
        deltas._subscribers.get(session.pk),
        [task for task in asyncio.all_tasks() if "_pump" in str(task.get_coro())],
    ]


NOTHING = [None, None, None, []]


class Dying:
    """A connection that ends at the ``last`` message of the server, and how: as servers differ in it."""

    def __init__(self, browser: Browser, session: Session, last: int, error: BaseException) -> None:
        self.scope = {
            "type": "websocket",
            "path": f"/ws/chat/{session.public_id}/",
            "headers": browser.headers(),
            "subprotocols": [],
        }
        self.last = last
        self.error = error
        self.sent = 0
        self._news = asyncio.Condition()
        self.inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.inbox.put_nowait({"type": "websocket.connect"})

    async def send(self, message: dict[str, Any]) -> None:
        async with self._news:
            self.sent += 1
            self._news.notify_all()
        if self.sent >= self.last:
            raise self.error

    async def until(self, sent: int) -> None:
        async with self._news:
            await asyncio.wait_for(self._news.wait_for(lambda: self.sent >= sent), 5)

    def tell(self, frame: dict[str, Any]) -> None:
        self.inbox.put_nowait({"type": "websocket.receive", "text": json.dumps(frame)})

    async def run(self) -> None:
        await asyncio.wait_for(application(self.scope, self.inbox.get, self.send), 5)


@pytest.mark.parametrize(
    "error", [OSError("gone"), RuntimeError("after close"), ValueError("not accepted")], ids=repr
)
@pytest.mark.parametrize("last", [1, 2, 3, 4])
async def test_s7_a_socket_that_dies_as_something_is_sent_leaves_nothing_behind(
    last: int, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async with panel(ANSWER) as (session, browser, _):
        dying = Dying(browser, session, last, error)
        for frame in (
            {"type": "hello", "after": 0},
            {"type": "ping"},
            {"type": "nonsense"},
            {"type": "ping"},
        ):
            dying.tell(frame)
        await dying.run()
        assert dying.sent == last
        assert _held(session) == NOTHING
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_s7_a_socket_that_dies_while_rows_are_sent_leaves_nothing_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with panel(ANSWER) as (session, browser, _):
        dying = Dying(browser, session, 3, ConnectionResetError())
        running = asyncio.create_task(dying.run())
        dying.tell({"type": "hello", "after": 0})
        await dying.until(2)
        # The pump meets it, not the answer to a frame.
        await sync_to_async(_append)(session)
        await dying.until(3)
        dying.inbox.put_nowait({"type": "websocket.disconnect", "code": 1006})
        await running
        assert _held(session) == NOTHING
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_s7_a_socket_that_the_server_gives_up_leaves_nothing_behind() -> None:
    async with panel(ANSWER) as (session, browser, _):
        dying = Dying(browser, session, 100, OSError())
        running = asyncio.create_task(dying.run())
        dying.tell({"type": "hello", "after": 0})
        await dying.until(2)
        running.cancel()
        await asyncio.wait({running})
        assert running.cancelled()
        assert _held(session) == NOTHING


# -- S8: addresses that there are not ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/ws/chat/", 4404),
        ("/ws/other/", 4404),
        ("/", 4404),
        ("", 4404),
        ("//ws//chat//x//", 4404),
        ("/ws/chat/a/b/", 4404),
        ("/ws/chat/x", 4404),
        ("/ws/chat/\0/", 4403),
        ("/ws/chat/²/", 4403),
        ("/ws/chat/..%2f/", 4403),
        (f"/ws/chat/{'x' * 5000}/", 4403),
        ("/ws/chat/\ud800/", 4403),
    ],
)
async def test_s8_any_other_address_is_closed_with_a_code(path: str, code: int) -> None:
    browser, _ = anonymous()
    wire = WebsocketCommunicator(application, "/", headers=browser.headers())
    wire.scope["path"] = path
    async with panel(ANSWER):
        assert (await wire.connect(timeout=30))[0]
        message = await wire.receive_output(timeout=30)
        assert (message["type"], message["code"]) == ("websocket.close", code)
        assert message["reason"]
        await wire.disconnect(timeout=30)


async def test_s8_a_prefix_that_a_client_made_up_is_no_error_either() -> None:
    browser, _ = anonymous()
    wire = WebsocketCommunicator(application, "/ws/chat/x/", headers=browser.headers())
    wire.scope["root_path"] = "/elsewhere"
    assert (await wire.connect(timeout=30))[0]
    assert (await wire.receive_output(timeout=30))["code"] == 4404
    await wire.disconnect(timeout=30)
