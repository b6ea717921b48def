"""The panel's socket: who gets in, what bad frames do, that nothing is lost and nothing doubled."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.test import Client
from pydantic import BaseModel

from envelopes import intake
from envelopes.access import Principal
from envelopes.artifacts import Chunk, begin, stored
from envelopes.log.append import writing
from envelopes.models import Event, Session, Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Reply, Say, data, text
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.session_state import live_sessions, presented, resumed
from envelopes.testing import create_session
from envelopes.transports.panel import consumer
from tests import factories
from tests.desk import replies
from tests.sockets import Browser, Socket, anonymous, panel

pytestmark = pytest.mark.django_db(transaction=True)


class Nothing(BaseModel):
    pass


ANSWER = replies([Say([text("response", "Hello to you.")])])
BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
ROWS = [
    {"id": "root", "component": "Column", "children": ["b", "f"]},
    {
        "id": "b",
        "component": "Button",
        "child": "l",
        "action": {"event": {"name": "book", "context": {"amount": 40}}},
    },
    {"id": "f", "component": "TextField", "label": "Name", "value": {"path": "/v"}},
    {"id": "l", "component": "Text", "text": "Book"},
]
FORM = data(
    "a2ui-surface",
    {
        "messages": [
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC}},
            {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": ROWS}},
        ]
    },
)
"""A button (DOM id a1-1) and a field (a1-2)."""


async def _close_code(socket: Socket) -> int:
    while True:
        message = await socket.wire.receive_output(timeout=30)
        if message["type"] == "websocket.close":
            return int(message["code"])
        assert message["type"] != "websocket.send", f"data before the close: {message}"


# -- the door -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "lets_in"),
    [
        ("http://testserver", True),
        ("https://testserver", True),
        ("https://evil.example", False),
        ("https://testserver.evil.example", False),
        ("https://eviltestserver", False),
        ("http://testserver:8001", False),
        ("http://user@testserver", False),
        ("null", False),
        ("", False),
        (None, False),
    ],
)
async def test_only_pages_of_the_site_may_open_a_socket(origin: str | None, lets_in: bool) -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = Socket(browser, session.public_id, origin=origin)
        accepted, _ = await socket.wire.connect(timeout=30)
        assert accepted is lets_in
        if lets_in:
            await socket.close()


async def test_an_origin_from_the_settings_may_too(settings: Any) -> None:
    settings.BEACH_ALLOWED_ORIGINS = ["https://chat.example"]
    async with panel(ANSWER) as (session, browser, _):
        for origin, lets_in in (("https://chat.example", True), ("https://chat.example.evil.example", False)):
            socket = Socket(browser, session.public_id, origin=origin)
            accepted, _ = await socket.wire.connect(timeout=30)
            assert accepted is lets_in
            await socket.close()


async def test_without_a_login_the_socket_closes_before_any_data() -> None:
    async with panel(ANSWER) as (session, _, _who):
        socket = Socket(Browser({}), session.public_id)
        await socket.wire.connect(timeout=30)
        assert await _close_code(socket) == 4401


async def test_somebody_elses_session_and_one_that_does_not_exist_look_the_same() -> None:
    async with panel(ANSWER) as (session, _, _who):
        stranger, _ = anonymous()
        for name in (session.public_id, "nosuchsession", session.public_id.upper(), "1"):
            socket = Socket(stranger, name)
            await socket.wire.connect(timeout=30)
            assert await _close_code(socket) == 4403


async def test_a_login_that_has_ended_does_not_go_on_through_an_open_socket() -> None:
    user = await sync_to_async(get_user_model().objects.create_user)("ada", password="x")  # type: ignore[attr-defined]
    client = Client()
    await sync_to_async(client.force_login)(user)
    async with panel(ANSWER) as (_, _browser, _who):
        session = await sync_to_async(create_session)(Principal(user=user, name="ada"), "tester")
        socket = await Socket(
            Browser({"sessionid": client.cookies["sessionid"].value}), session.public_id
        ).open()
        await sync_to_async(client.logout)()
        await socket.send({"type": "message", "id": "m1", "text": "still me?"})
        assert await _close_code(socket) == 4411
        assert not await sync_to_async(Turn.objects.filter(session=session).exists)()


async def test_whoever_only_watches_is_asked_again_too(monkeypatch: pytest.MonkeyPatch) -> None:
    user = await sync_to_async(get_user_model().objects.create_user)("ada", password="x")  # type: ignore[attr-defined]
    client = Client()
    await sync_to_async(client.force_login)(user)
    async with panel(ANSWER):
        session = await sync_to_async(create_session)(Principal(user=user, name="ada"), "tester")
        socket = await Socket(
            Browser({"sessionid": client.cookies["sessionid"].value}), session.public_id
        ).open()
        await socket.send({"type": "ping"})
        assert (await socket.until(lambda frame: True))["type"] == "pong"
        await sync_to_async(client.logout)()
        # As if that were so long ago.
        monkeypatch.setattr(consumer, "PING_SECONDS", 0.0)
        await socket.send({"type": "ping"})
        assert await _close_code(socket) == 4411


async def test_a_decision_that_is_sent_again_is_answered_and_is_no_late_one() -> None:
    async def refund(context: object, args: Nothing) -> str:
        return "refunded"

    tool = Tool("refund", "", Nothing, refund, approval=ApprovalPolicy(question=lambda args: "Refund?"))
    script = replies([Call("refund", {})], [Say([text("response", "Done.")])])
    async with panel(script, tool) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "refund"})
        await socket.until(lambda frame: "b-approval" in json.dumps(frame))
        approval = await sync_to_async(session.approvals.get)()
        decide = {"type": "decide", "approval": approval.approval_id, "decision": "granted"}
        first = await socket.ask(decide, message_id="click")
        again = await socket.ask(decide, message_id="click")
        assert (first["type"], first["state"]) == ("ack", "granted")
        assert (again["type"], again["state"], again["repeated"]) == ("ack", "granted", True)
        assert not await Event.objects.filter(session=session, kind="late-decision").aexists()
        # Another click is another click.
        late = await socket.ask({**decide, "decision": "denied"}, message_id="other")
        assert late["code"] == "already_decided"
        assert await Event.objects.filter(session=session, kind="late-decision").acount() == 1
        await socket.close()


# -- frames -------------------------------------------------------------------------------------------------------

BAD = [
    "not json",
    "",
    "null",
    "[]",
    "42",
    "{}",
    '{"HEADERS": null}',
    '{"action": {"nested": 1}}',
    '{"surfaceId": ["s1"]}',
    '{"type": "no-such-type"}',
    '{"a": NaN}',
    "\ufeff{}",
    '{"type": "message", "id": "x"}',
    '{"type": "message", "id": "x", "text": 5}',
    '{"type": "message", "id": "../x", "text": "a"}',
    '{"type": "hello", "after": -1}',
    '{"type": "hello", "after": true}',
    '{"type": "edit", "id": "x", "target": "a1-0", "value": 1, "path": "/owner"}',
    '{"type": "decide", "id": "x", "approval": "a", "decision": "maybe"}',
    "[" * 5000,
]


async def test_bad_frames_get_a_typed_error_and_the_chat_goes_on() -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        for bad in BAD:
            await socket.wire.send_input({"type": "websocket.receive", "text": bad})
            error = await socket.until(lambda frame: True)
            assert error["type"] == "error"
            assert error["code"] == "VALIDATION_FAILED"
            assert error["message"].endswith(".")
            for leak in ("Traceback", 'File "', "KeyError"):
                assert leak not in json.dumps(error)
        await socket.wire.send_to(bytes_data=bytes.fromhex("ff00fe"))
        assert (await socket.until(lambda frame: True))["code"] == "VALIDATION_FAILED"
        assert (await socket.ask({"type": "message", "text": "Hello"}))["type"] == "ack"
        await socket.settled()
        assert "Hello to you." in socket.shown
        await socket.close()


async def test_frames_and_messages_have_a_size(settings: Any) -> None:
    settings.BEACH_FRAME_BYTES = 1000
    settings.BEACH_MESSAGE_CHARACTERS = 100
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        assert (await socket.ask({"type": "message", "text": "x" * 101}))["code"] == "too_large"
        await socket.send({"type": "message", "id": "big", "text": "x" * 2000})
        assert (await socket.until(lambda frame: True))["code"] == "too_large"
        assert (await socket.ask({"type": "message", "text": "  \n "}))["code"] == "VALIDATION_FAILED"
        await socket.close()


async def test_a_flood_is_slowed_and_the_socket_stays(settings: Any) -> None:
    settings.BEACH_FRAMES_PER_SECOND = 5
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        for _ in range(30):
            await socket.send({"type": "ping"})
        error = await socket.until(lambda frame: frame.get("type") == "error")
        assert error["code"] == "too_fast"
        await asyncio.sleep(0.5)
        assert (await socket.ask({"type": "message", "text": "Hello"}))["type"] == "ack"
        await socket.close()


async def test_frames_that_name_other_peoples_things_find_nothing() -> None:
    def script(request: ModelRequest) -> Reply:
        if len(request.messages) > 1:
            return Reply([Say([text("response", "Right.")])])
        return Reply([Say([FORM], "awaiting"), Call("refund", {"order": "A17", "amount": 40.0})])

    async with panel(script, factories.make_tool()) as (session, browser, _):
        owner = await Socket(browser, session.public_id).open()
        await owner.ask({"type": "message", "text": "Go"})
        await owner.until(lambda frame: "data-decide" in str(frame.get("ops")))
        approval = await sync_to_async(session.approvals.get)()
        stranger, who = anonymous()
        theirs = await sync_to_async(create_session)(who, "tester")
        socket = await Socket(stranger, theirs.public_id).open()
        for frame in (
            {"type": "decide", "approval": approval.approval_id, "decision": "granted"},
            {"type": "action", "target": "a1-1"},
            {"type": "edit", "target": "a1-2", "value": "x"},
        ):
            assert (await socket.ask(frame))["code"] == "not_found"
        # They are there for whoever owns them.
        assert (await owner.ask({"type": "edit", "target": "a1-2", "value": "x"}))["type"] == "ack"
        assert (await owner.ask({"type": "action", "target": "a1-1"}))["type"] == "ack"
        assert (await sync_to_async(session.approvals.get)()).state == "pending"
        await owner.close()
        await socket.close()


async def test_a_click_names_an_element_and_nothing_else() -> None:
    async with panel(replies([Say([FORM])])) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Go"})
        await socket.settled()
        for more in (
            {"name": "pay"},
            {"context": {"amount": 1}},
            {"surfaceId": "s"},
            {"action": {"name": "pay"}},
            {"path": "/v"},
        ):
            frame = {"type": "action", "target": "a1-1", **more}
            assert (await socket.ask(frame))["code"] == "VALIDATION_FAILED"
            frame = {"type": "edit", "target": "a1-2", "value": "x", **more}
            assert (await socket.ask(frame))["code"] == "VALIDATION_FAILED"
        assert (await socket.ask({"type": "action", "target": "a1-1"}))["type"] == "ack"
        rows = await sync_to_async(lambda: list(session.events.filter(kind__in=["action", "edit"])))()
        assert [row.data["action"]["name"] for row in rows] == ["book"]
        assert rows[0].data["action"]["context"] == {"amount": 40}
        await socket.close()


async def test_an_element_can_be_named_by_the_ids_that_its_agent_gave() -> None:
    async with panel(replies([Say([FORM])])) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Go"})
        await socket.settled()
        button = {"owner": "tester", "surfaceId": "s", "componentId": "b"}
        field = {**button, "componentId": "f", "itemPath": ""}
        for wrong in ({}, {**button, "itemPath": 1}, {**button, "name": "pay"}, {"componentId": "b"}, 5, ""):
            error = await socket.ask({"type": "action", "target": wrong})
            assert (error["code"], error["path"]) == ("VALIDATION_FAILED", "/target")
        assert (await socket.ask({"type": "edit", "target": field, "value": "x"}))["type"] == "ack"
        assert (await socket.ask({"type": "action", "target": button}))["type"] == "ack"
        rows = await sync_to_async(lambda: list(session.events.filter(kind__in=["action", "edit"])))()
        assert [(row.kind, row.data["target"]) for row in rows] == [("edit", "a1-2"), ("action", "a1-1")]
        await socket.close()


# -- nothing lost, nothing doubled ------------------------------------------------------------------------------


async def test_a_repeated_message_is_answered_but_not_run_again() -> None:
    async with panel(ANSWER) as (session, browser, _):
        first = await Socket(browser, session.public_id).open()
        one = await first.ask({"type": "message", "text": "Hello"}, message_id="tab1-7")
        again = await first.ask({"type": "message", "text": "Hello"}, message_id="tab1-7")
        await first.close()
        second = await Socket(browser, session.public_id).open()
        third = await second.ask({"type": "message", "text": "Hello"}, message_id="tab1-7")
        assert again["seq"] == third["seq"] == one["seq"]
        await second.ask({"type": "message", "text": "Hello"}, message_id="tab1-8")
        assert await sync_to_async(Turn.objects.filter(session=session).count)() == 2
        await second.close()


async def test_two_tabs_see_the_same_frames_and_a_late_one_catches_up() -> None:
    async with panel(ANSWER) as (session, browser, _):
        one, two = (
            await Socket(browser, session.public_id).open(),
            await Socket(browser, session.public_id).open(),
        )
        await one.ask({"type": "message", "text": "Hello"})
        await one.settled()
        await two.settled()
        three = await Socket(browser, session.public_id).open()
        frames = [[frame for frame in socket.frames if "ops" in frame] for socket in (one, two, three)]
        assert frames[0] == frames[1] == frames[2]
        for socket in (one, two, three):
            await socket.close()


async def test_each_frame_names_the_one_before_it() -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Hello"})
        await socket.settled()
        last = 0
        for frame in socket.frames:
            if "ops" in frame:
                assert frame["prev"] == last
                last = frame["seq"]
        await socket.close()


async def test_a_socket_that_was_away_gets_exactly_what_it_missed_even_when_frames_are_gone() -> None:
    async with panel(ANSWER) as (session, browser, _):
        first = await Socket(browser, session.public_id).open()
        await first.ask({"type": "message", "text": "Hello"})
        await first.settled()
        seen = first.seq
        await first.ask({"type": "message", "text": "Again"})
        await first.settled()
        missed = [frame for frame in first.frames if "ops" in frame and frame["seq"] > seen]
        await first.close()
        kept = await Socket(browser, session.public_id).open(after=seen)
        live_sessions.clear()
        replayed = await Socket(browser, session.public_id).open(after=seen)
        for socket in (kept, replayed):
            assert [frame for frame in socket.frames if "ops" in frame] == missed
            await socket.close()


async def test_leaving_in_the_middle_of_an_answer_loses_nothing() -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Hello"})
        # As a network does: without a close frame that anybody waits for.
        await socket.wire.send_input({"type": "websocket.disconnect", "code": 1006})
        for _ in range(300):
            if await sync_to_async(Event.objects.filter(session=session, kind="settled").exists)():
                break
            await asyncio.sleep(0.01)
        again = await Socket(browser, session.public_id).open()
        assert "Hello to you." in again.shown
        await again.close()


async def test_streamed_text_arrives_before_the_call_is_complete_and_equals_it() -> None:
    words = "A long answer that is written in many small pieces, with “quotes” and \\ and 😀 in it. " * 5
    async with panel(replies([Say([text("response", words)])])) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Hello"})
        await socket.settled()
        pieces = [frame for frame in socket.frames if frame.get("type") == "delta"]
        assert pieces
        assert "".join(piece["text"] for piece in pieces) == words
        assert pieces[0]["offset"] == 0
        part = next(
            n for n, frame in enumerate(socket.frames) if "ops" in frame and "A long answer" in str(frame)
        )
        assert socket.frames.index(pieces[-1]) < part
        await socket.close()


async def test_a_socket_that_only_listens_ends_with_its_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer, "RECHECK_SECONDS", 0.0)
    user = await sync_to_async(get_user_model().objects.create_user)("ada", password="x")
    client = Client()
    await sync_to_async(client.force_login)(user)
    async with panel(ANSWER):
        session = await sync_to_async(create_session)(Principal(user=user, name="ada"), "tester")
        listening = Browser({"sessionid": client.cookies["sessionid"].value})
        socket = await Socket(listening, session.public_id).open()
        await sync_to_async(client.logout)()
        await sync_to_async(intake.post_message)(session, Principal(user=user), "other-tab", "PRIVATE")
        assert await _close_code(socket) == 4411
        assert "PRIVATE" not in socket.shown


async def test_a_page_that_is_too_far_behind_is_told_to_load_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resumed, "REPLAYED_ROWS", 3)
    monkeypatch.setattr(presented, "KEPT_FRAMES", 2)
    async with panel(ANSWER) as (session, browser, _):
        first = await Socket(browser, session.public_id).open()
        await first.ask({"type": "message", "text": "Hello"})
        await first.settled()
        await first.close()
        live_sessions.clear()
        behind = Socket(browser, session.public_id)
        await behind.wire.connect(timeout=30)
        await behind.send({"type": "hello", "after": 0})
        assert (await behind.until(lambda frame: True))["code"] == "too_far_back"
        assert (await behind.wire.receive_output(timeout=30))["code"] == 4410
        # Where a page that was just loaded stands, nothing is far.
        await (await Socket(browser, session.public_id).open(after=first.seq)).close()


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("files")
async def test_a_message_names_files_of_its_conversation_and_everything_about_them_is_looked_up() -> None:
    async with panel(ANSWER) as (session, browser, who):
        socket = await Socket(browser, session.public_id).open()
        mine, other = await sync_to_async(_two_files)(session, who)
        answer = await socket.ask({"type": "message", "text": "", "files": [mine]}, message_id="m1")
        assert answer["type"] == "ack"
        await socket.settled()
        row = await Event.objects.aget(kind="message")
        (part,) = row.data["parts"]
        assert part["metadata"] == {"partType": "artifact"}
        assert (part["data"]["name"], part["data"]["sizeBytes"]) == ("a.txt", 5)
        assert "a.txt" in socket.shown
        # One of another conversation is not there, as one that was never kept; what else a frame says is refused.
        for files in ([other], ["nothing"], [{"artifactId": mine, "name": "b.exe"}], [mine] * 11):
            answer = await socket.ask({"type": "message", "text": "Look", "files": files})
            assert (answer["type"], answer["code"]) == ("error", "VALIDATION_FAILED"), files
        assert await Event.objects.filter(kind="message").acount() == 1
        await socket.close()


def _two_files(session: Session, who: Principal) -> tuple[str, str]:
    """One of ``session``, and one of another of the same owner."""
    found = []
    for conversation in (session, create_session(who, session.actor)):
        with stored(conversation.public_id, b"bytes") as there, writing(conversation.pk) as log:
            chunk = Chunk(name="a.txt", mime_type="text/plain", last_chunk=True)
            found.append(str(begin(log.session, who.key, chunk, there)["data"]["artifactId"]))
    return found[0], found[1]
