"""Bad input: each kind has a typed error with a code and a sentence, is logged, and changes nothing.

Of what a model does wrong, tests/envelopes/turns/test_turns.py has how it is answered and corrected; here stands what
it leaves behind.
"""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db.models import Model
from django.test import Client
from pydantic import BaseModel

from envelopes.errors import ToolFailed
from envelopes.models import Approval, ClientMessage, Event, Session, Snapshot, ToolCall, Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Prose, Raw, Reply, Say, Think, data, text
from envelopes.providers.transcript import Correction, entries
from envelopes.registries.tools import Tool
from envelopes.session_state import live_sessions
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.types import Json, JsonObject
from tests import factories
from tests.desk import Desk, desk, replies
from tests.sockets import Browser, Socket, anonymous, panel

pytestmark = pytest.mark.django_db(transaction=True)

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
CREATE = {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC}}
ROOT = {"id": "root", "component": "Text", "text": "Here"}
MODELS: list[type[Model]] = [Session, Turn, Event, ToolCall, Approval, ClientMessage, Snapshot]
OK = [Say([text("response", "Right.")])]


def _state() -> list[list[tuple[Any, ...]]]:
    """Every row of every table."""
    return [list(model.objects.order_by("pk").values_list()) for model in MODELS]  # type: ignore[attr-defined]


def _surface(*messages: JsonObject) -> JsonObject:
    return data("a2ui-surface", {"messages": list(messages)})


def _components(*rows: Any) -> JsonObject:
    return {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": list(rows)}}


# -- from a model ---------------------------------------------------------------------------------------------------

WRONG = {
    "unknown part type": Say([text("response", "SEEN"), text("no-such-part", "x")], "awaiting"),
    "part type of the runtime": Say(
        [text("response", "SEEN"), data("approval-request", {"approvalId": "mine"})], "awaiting"
    ),
    "part type that only comes in": Say(
        [data("approval-response", {"approvalId": "mine", "decision": "granted"})], "awaiting"
    ),
    "unknown turn state": Say([text("response", "SEEN")], "finished"),
    "state of the runtime": Say([text("response", "SEEN")], "suspended"),
    "surface without a verb": Say([text("response", "SEEN"), _surface({"version": "v0.9"})], "awaiting"),
    "surface of another version": Say([_surface({**CREATE, "version": "0.9"})], "awaiting"),
    "data that is no object": Raw(
        '{"parts": [{"metadata": {"partType": "a2ui-surface"}, "data": "createSurface"}], "turnState": "awaiting"}'
    ),
    "second message of two": Say(
        [_surface(_components({**ROOT, "text": "Gone"}), {"version": "v0.9"})], "awaiting"
    ),
    "reserved surface id": Say(
        [_surface({"version": "v0.9", "createSurface": {"surfaceId": "beach:x", "catalogId": BASIC}})],
        "awaiting",
    ),
    "reserved action name": Say(
        [
            _surface(
                _components(
                    {
                        "id": "root",
                        "component": "Button",
                        "child": "l",
                        "action": {"event": {"name": "beach:grant"}},
                    },
                    {"id": "l", "component": "Text", "text": "Go"},
                )
            )
        ],
        "awaiting",
    ),
    "no parts": Raw('{"parts": [], "turnState": "complete"}'),
    "JSON that never ends": Raw('{"parts": [{"metadata": {"partType": "response"}, "text": "SEEN'),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
async def test_a_refused_call_shows_nothing_and_moves_no_surface(call: Say | Raw) -> None:
    shown = [Say([_surface(CREATE, _components(ROOT))])]
    async with desk(replies(shown, [call], OK)) as d:
        await d.say("Show")
        before = await _surfaces(d)
        parts = len(await d.parts())
        await d.say("Go")
        assert len(await d.parts()) == parts + 1
        assert await d.texts() == ["Right."]
        assert await _surfaces(d) == before
        assert "SEEN" not in await d.html()
        (refused,) = await d.rows("refused")
        error = refused.data["error"]
        assert refused.audience == "audit"
        assert error["code"] == "VALIDATION_FAILED"
        assert error["message"].endswith(".")
        assert await d.approvals() == []


async def _surfaces(d: Desk) -> Json:
    def read() -> Json:
        with live_sessions.open(d.session) as view:
            return view.surfaces.snapshot()

    return await sync_to_async(read)()


async def test_a_model_that_answers_nothing_is_told_so_before_it_is_asked_again() -> None:
    async with desk(replies(Reply([]), OK)) as d:
        await d.say("Go")
        assert await d.texts() == ["Right."]
        told = [entry for message in d.requests[1].messages for entry in entries(message)]
        assert [entry for entry in told if isinstance(entry, Correction)]


async def test_a_model_that_goes_on_answering_nothing_ends_in_an_error_part() -> None:
    async with desk(replies(Reply([]))) as d:
        await d.say("Go")
        (error,) = await d.parts("error")
        assert error["data"]["code"] == "model_misbehaved"
        assert error["text"].endswith(".")
        assert [row.data["finalizedBy"] for row in await d.rows("settled")] == ["error"]
        assert len(await d.rows("provider")) == len(d.requests)
        # And the next message is a new beginning.
        await d.say("Again")
        assert len(await d.turns()) == 2


class Nothing(BaseModel):
    pass


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ToolFailed("The station does not answer."), "tool_failed", "The station does not answer."),
        (KeyError("password=secret"), "tool_failed", "It has been logged."),
        (TimeoutError("bank"), "tool_failed", "ran into a timeout"),
    ],
)
async def test_a_tool_that_raises(
    error: Exception, code: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def run(context: object, args: Nothing) -> Json:
        raise error

    async with desk(replies([Call("broken")], OK), Tool("broken", "", Nothing, run)) as d:
        await d.say("Go")
        (call,) = await d.calls()
        assert (call.state, call.result, call.error["code"]) == ("failed", None, code)
        assert said in call.error["message"]
        (row,) = await d.rows("tool-result")
        assert (row.audience, row.data["error"]) == ("audit", call.error)
        everything = str([r.data for r in await d.rows()]) + await d.html()
        assert "secret" not in everything
        assert await d.texts() == ["Right."]
    unexpected = not isinstance(error, (ToolFailed, TimeoutError))
    assert ("The tool broken raised." in caplog.text) is unexpected


async def test_a_surface_that_a_tool_sends_and_that_is_refused_changes_nothing() -> None:
    async def run(context: Any, args: Nothing) -> Json:
        await context.emit(data("a2ui-surface", {"version": "v0.9"}))
        return {}

    async with desk(replies([Call("draws")], OK), Tool("draws", "", Nothing, run)) as d:
        before = await _surfaces(d)
        await d.say("Go")
        (call,) = await d.calls()
        assert (call.state, call.error["code"]) == ("failed", "VALIDATION_FAILED")
        assert await _surfaces(d) == before
        assert await d.parts("a2ui-surface") == []


# -- from a browser -------------------------------------------------------------------------------------------------

FRAMES = ["not json", "[]", "{", '{"type": "none"}', '{"type": "message", "id": "x"}', '{"a": NaN}']


async def test_bad_frames_are_logged_and_change_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "envelopes")
    async with panel(replies(OK)) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        before = await sync_to_async(_state)()
        for bad in FRAMES:
            await socket.wire.send_to(text_data=bad)
            error = await socket.until(lambda frame: True)
            assert (error["type"], error["code"]) == ("error", "VALIDATION_FAILED")
            # Once for a reason: whoever floods the server with bad frames does not flood its log.
            assert caplog.text.count("Refused a frame") == 1
        assert await sync_to_async(_state)() == before
        assert "not json" not in caplog.text
        await socket.close()


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"type": "message", "text": "  "}, "VALIDATION_FAILED"),
        ({"type": "action", "target": "a9-9"}, "not_found"),
        ({"type": "edit", "target": "a9-9", "value": 1}, "not_found"),
        ({"type": "decide", "approval": "none", "decision": "granted"}, "not_found"),
    ],
)
async def test_frames_about_nothing_are_logged_and_change_nothing(
    frame: JsonObject, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "envelopes")
    async with panel(replies(OK)) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        before = await sync_to_async(_state)()
        error = await socket.ask(frame)
        assert (error["type"], error["code"]) == ("error", code)
        assert error["message"].endswith(".")
        assert await sync_to_async(_state)() == before
        assert f"Refused a frame of session {session.pk}: {code}" in caplog.text
        await socket.close()


async def test_an_unknown_session_closes_the_socket_with_a_code_and_a_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "envelopes")
    async with panel(replies(OK)) as (_, _browser, _who):
        stranger, _ = anonymous()
        for browser, code in ((stranger, 4403), (Browser({}), 4401)):
            before = await sync_to_async(_state)()
            socket = Socket(browser, "nosuchsession")
            await socket.wire.connect(timeout=30)
            message = await socket.wire.receive_output(timeout=30)
            assert (message["type"], message["code"]) == ("websocket.close", code)
            assert message["reason"].endswith(".")
            assert f"Refused a socket ({code})" in caplog.text
            assert await sync_to_async(_state)() == before


def test_an_unknown_session_is_not_found_over_http(caplog: pytest.LogCaptureFixture) -> None:
    before = _state()
    assert Client().get("/chat/nosuchsession/").status_code == 404
    assert "nosuchsession" in caplog.text
    assert _state() == before


async def test_a_stale_approval_is_told_and_only_the_attempt_is_added() -> None:
    def script(request: ModelRequest) -> Reply:
        return Reply([Call("refund", {"order": "A17", "amount": 40.0})] if len(request.messages) == 1 else OK)

    async with panel(script, factories.make_tool()) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Refund"})
        await socket.until(lambda frame: "data-decide" in str(frame.get("ops")))
        approval = await sync_to_async(session.approvals.get)()
        frame = {"type": "decide", "approval": approval.approval_id, "decision": "denied"}
        assert (await socket.ask({**frame, "reason": "no"}))["state"] == "denied"
        await socket.until(lambda got: "Right." in str(got.get("ops")))
        await socket.until(lambda got: got.get("busy") is False)
        before = await sync_to_async(_state)()
        late = await socket.ask({**frame, "decision": "granted"})
        assert (late["code"], late["state"], late["reason"]) == ("already_decided", "denied", "no")
        assert late["message"].endswith(".")
        after = await sync_to_async(_state)()
        for model, was, now in zip(MODELS, before, after, strict=True):
            if model not in (Event, Session, ClientMessage):
                assert now == was, model
        assert len(after[MODELS.index(Event)]) == len(before[MODELS.index(Event)]) + 1
        (row,) = await sync_to_async(lambda: list(Event.objects.filter(kind="late-decision")))()
        assert (row.audience, row.data["decision"]) == ("audit", "granted")
        await socket.close()


# -- text that a database or a socket cannot carry --------------------------------------------------------------------

POISON = "a\x00b\x1b[31m\ud83dc"
CLEAN = "a\ufffdb\ufffd[31m\ufffdc"


class Words(BaseModel):
    words: str


async def test_a_model_may_write_anything_anywhere() -> None:
    heard: list[str] = []

    async def run(context: object, args: Words) -> Json:
        heard.append(args.words)
        return {"echo": args.words, POISON: 1}

    asked = Reply(
        [
            Think(POISON),
            Prose(POISON),
            Say([text("ack", POISON)], "awaiting", note=POISON),
            Call("echo", {"words": POISON}),
            Call("echo", {"words": "fine"}),
        ]
    )
    refused = [Call(f"none{POISON}", {POISON: POISON}), Raw(json.dumps({"parts": [{"text": POISON}]}))]
    async with desk(replies(asked, refused, OK), Tool("echo", "", Words, run)) as d:
        await d.say(POISON)
        assert heard == ["fine"]
        assert "/words" in [row.data["error"].get("path") for row in await d.rows("refused")]
        assert await d.texts() == ["Right."]
        assert await d.texts("ack") == [CLEAN]
        assert [row.data["text"] for row in await d.rows("free-text")] == [CLEAN]
        assert [row.data["note"] for row in await d.rows("note")] == [CLEAN]
        assert [turn.finalized_by for turn in await d.turns()] == ["complete"]


async def test_a_browser_may_send_anything_anywhere(caplog: pytest.LogCaptureFixture) -> None:
    rows = [{"id": "root", "component": "TextField", "label": "Q", "value": {"path": "/q"}}]
    shown = Say([_surface(CREATE, _components(*rows))], "awaiting")
    async with panel(
        replies([shown, Call("refund", {"order": "A17", "amount": 40.0})], OK), factories.make_tool()
    ) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        assert (await socket.ask({"type": "message", "text": POISON}))["type"] == "ack"
        await socket.until(lambda frame: "data-decide" in str(frame.get("ops")))
        target = await sync_to_async(_field)(session)
        assert (await socket.ask({"type": "edit", "target": target, "value": POISON}))["type"] == "ack"
        for frame in (
            {"type": "edit", "target": POISON, "value": 1},
            {"type": "action", "target": POISON},
            {"type": "decide", "approval": POISON, "decision": "granted"},
        ):
            assert (await socket.ask(frame))["code"] == "not_found"
        approval = await sync_to_async(session.approvals.get)()
        frame = {"type": "decide", "approval": approval.approval_id, "decision": "denied"}
        assert (await socket.ask({**frame, "reason": POISON}))["state"] == "denied"
        await socket.until(lambda got: "Right." in str(got.get("ops")))
        approval = await sync_to_async(session.approvals.get)()
        assert approval.reason == CLEAN
        edits = await sync_to_async(lambda: [e.data["ops"] for e in session.events.filter(kind="edit")])()
        assert edits[0][-1]["value"] == CLEAN
        await socket.close()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def _field(session: Session) -> str:
    with live_sessions.present(session, "panel") as view:
        found = re.search(r'<[^>]*data-in="text"[^>]*>', html_of(view))
        assert found is not None
        target = re.search(r'\bid="([^"]+)"', found[0])
        assert target is not None
        return target[1]
