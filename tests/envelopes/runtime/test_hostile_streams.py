"""Streams that no API should send, in both protocols: a turn ends with an answer or a polite error, and goes on."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from envelopes.errors import ProviderError
from envelopes.fakes import FakeChatApi, FakeMessagesApi, Recorded, Reply, respond, said
from envelopes.protocol.rows import Row
from envelopes.providers import ending
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.clients import close_clients
from envelopes.providers.failures import BUSY, failed, retry_after
from envelopes.providers.openai import OpenAIProvider
from envelopes.registries.tools import Tool, ToolContext
from envelopes.runtime import hearing, model_retries
from envelopes.types import Json
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

OK = respond(said("Fine.")).raw
AWAITING = respond(said("Looking.", "ack"), state="awaiting").raw
DEEP = '{"a":' * 50_000 + "1" + "}" * 50_000

Event = dict[str, Any]


class Note(BaseModel):
    """Takes anything, and nothing."""

    text: str = ""


async def _note(context: ToolContext, args: Note) -> Json:
    return {"noted": args.text}


NOTE = Tool("note", "Notes.", Note, _note)


# -- what streams are made of ---------------------------------------------------------------------------------------


def sse(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def start(usage: Any = None, **more: Any) -> str:
    counts = {"input_tokens": 10, "output_tokens": 1} if usage is None else usage
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": counts}
    return sse("message_start", message=message | more)


def begin(index: Any = 0, name: Any = "respond", call_id: Any = "toolu_1", **more: Any) -> str:
    content = {"type": "tool_use", "id": call_id, "name": name, "input": {}} | more
    return sse("content_block_start", index=index, content_block=content)


def grow(piece: Any, index: Any = 0) -> str:
    return sse("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": piece})


def stop(index: Any = 0) -> str:
    return sse("content_block_stop", index=index)


def block(raw: str, index: int = 0, name: Any = "respond", call_id: Any = "toolu_1") -> str:
    return begin(index, name, call_id) + grow(raw, index) + stop(index)


def words(text: str, index: int) -> str:
    opened = sse("content_block_start", index=index, content_block={"type": "text", "text": ""})
    return (
        opened
        + sse("content_block_delta", index=index, delta={"type": "text_delta", "text": text})
        + stop(index)
    )


def end(reason: Any = "tool_use", usage: Any = None) -> str:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return sse("message_delta", delta=delta, usage={"output_tokens": 5} if usage is None else usage) + sse(
        "message_stop"
    )


def chunk(delta: Any = None, reason: Any = None, **more: Any) -> str:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": reason}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(head | more)}\n\n"


def asked(raw: Any, index: Any = 0, name: Any = "respond", call_id: Any = "call_1") -> str:
    function = {"name": name, "arguments": raw}
    return chunk({"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]})


def finish(reason: Any = "tool_calls", usage: Any = None) -> str:
    counts = {"prompt_tokens": 10, "completion_tokens": 5} if usage is None else usage
    return chunk(reason=reason) + chunk(usage=counts, choices=[]) + "data: [DONE]\n\n"


GOOD_MESSAGES = start() + block(OK, call_id="toolu_good") + end()
GOOD_CHAT = asked(OK, call_id="call_good") + finish()


@dataclass
class RawMessages(FakeMessagesApi):
    """Sends ``raw`` streams, one a request, and then a good one."""

    raw: list[str] = field(default_factory=list)
    awake: asyncio.Event = field(default_factory=asyncio.Event)
    good = GOOD_MESSAGES

    async def written(self, recorded: Recorded, reply: Reply) -> AsyncIterator[str | None]:
        async for piece in _sent(self.raw.pop(0) if self.raw else self.good, self.awake):
            yield piece


@dataclass
class RawChat(FakeChatApi):
    raw: list[str] = field(default_factory=list)
    awake: asyncio.Event = field(default_factory=asyncio.Event)
    good = GOOD_CHAT

    async def written(self, recorded: Recorded, reply: Reply) -> AsyncIterator[str | None]:
        async for piece in _sent(self.raw.pop(0) if self.raw else self.good, self.awake):
            yield piece


FOR_EVER = "(for ever)"
"""At the end of a stream: it is kept open, and awake."""


async def _sent(raw: str, awake: asyncio.Event) -> AsyncIterator[str]:
    """``awake`` is set once the stream is kept so."""
    yield raw.removesuffix(FOR_EVER)
    while raw.endswith(FOR_EVER):
        await asyncio.sleep(0.02)
        awake.set()
        yield (
            ': keepalive\n\nevent: ping\ndata: {"type": "ping"}\n\n'
            if "message_" in raw
            else ": keepalive\n\n"
        )


RawApi = RawMessages | RawChat


@asynccontextmanager
async def model(speaks: type[RawApi], *raw: str) -> AsyncIterator[tuple[Desk, RawApi]]:
    async with speaks(raw=list(raw)) as api:

        def provider(_: Any) -> Any:
            if isinstance(api, RawChat):
                return OpenAIProvider("key", "gpt-test", base_url=api.address)
            return AnthropicProvider("key", "claude-test", base_url=api.base_url)

        async with desk(replies([]), NOTE, provider=provider) as d:
            yield d, api
        await close_clients()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_retries, "FIRST_SECONDS", 0.002)


MANY = "".join(block("{}", n, "note", f"toolu_{n}") for n in range(1_000))
HALVES = (
    '{"parts":[{"metadata":{"partType":"response"},"text":"\\ud83d',
    '\\ude00 fine"}],"turnState":"complete"}',
)

MESSAGES = {
    "a call without a name": start() + begin(name=None) + grow(OK) + stop() + end(),
    "a call whose name is missing": start()
    + sse("content_block_start", index=0, content_block={"type": "tool_use", "id": "t", "input": {}})
    + grow(OK)
    + stop()
    + end(),
    "a call with an empty name": start() + block("{}", name="") + end(),
    "a call with a name of spaces and signs": start() + block("{}", name="no such/tool! ☃") + end(),
    "a call with a name of 10,000 characters": start() + block("{}", name="n" * 10_000) + end(),
    "a name that is a number": start() + block("{}", name=7) + end(),
    "a call without an id": start() + block(OK, call_id=None) + end(),
    "a call with an empty id": start() + block("{}", name="note", call_id="") + end(),
    "an id of 10,000 characters": start() + block("{}", name="note", call_id="i" * 10_000) + end(),
    "an id of other signs": start() + block("{}", name="note", call_id="a b/☃\u0000") + end(),
    "an id that is a list": start() + block("{}", name="note", call_id=["a"]) + end(),
    "two calls of respond with one id": start() + block(AWAITING) + block(AWAITING, 1) + end(),
    "an id that an earlier reply had": start()
    + block(AWAITING, call_id="toolu_1")
    + block("{}", 1, "note", "toolu_2")
    + end(),
    "two calls of a tool with one id": start() + block("{}", 0, "note") + block("{}", 1, "note") + end(),
    "a call and respond with one id": start() + block("{}", 0, "note") + block(AWAITING, 1) + end(),
    "a block that begins twice": start() + begin() + grow(OK[:20]) + begin() + grow(OK) + stop() + end(),
    "a block that ends twice": start() + block(OK) + stop() + end(),
    "pieces of a block that never began": start() + grow(OK, 5) + stop(5) + block(OK) + end(),
    "a piece that is null": start() + begin() + grow(None) + grow(OK) + stop() + end(),
    "a piece that is an object": start() + begin() + grow({"parts": []}) + stop() + end(),
    "a delta that is null": start()
    + begin()
    + sse("content_block_delta", index=0, delta=None)
    + grow(OK)
    + stop()
    + end(),
    "a block that is null": start()
    + sse("content_block_start", index=0, content_block=None)
    + block(OK, 1)
    + end(),
    "an index that is null": start() + begin(None) + grow(OK, None) + stop(None) + end(),
    "an index that is a list": start() + begin([0]) + grow(OK, [0]) + stop([0]) + end(),
    "an event that is a list": start() + "event: content_block_start\ndata: []\n\n" + block(OK) + end(),
    "an event that is null": start() + "event: content_block_delta\ndata: null\n\n" + block(OK) + end(),
    "an event without a type": start() + "event: content_block_delta\ndata: {}\n\n" + block(OK) + end(),
    "a message that is null": sse("message_start", message=None) + block(OK) + end(),
    "usage that is null": start(usage=0) + block(OK) + end(),
    "counts that no database has": start({"input_tokens": 10**30, "output_tokens": 1})
    + block(OK)
    + end(usage={"output_tokens": 10**30}),
    "counts below zero": start({"input_tokens": -5, "output_tokens": -(10**30)}) + block(OK) + end(),
    "a stop reason that is a list": start() + block(OK) + end(["tool_use"]),
    "a stop reason that nobody knows": start() + block(OK) + end("because"),
    "a stop reason that is null": start() + block(OK) + end(None),
    "an ending whose delta is null": start()
    + block(OK)
    + sse("message_delta", delta=None, usage={})
    + sse("message_stop"),
    "input that is an array": start() + block("[1, 2]", name="note") + end(),
    "input that comes whole, as an array": start() + begin(name="note", input=[1]) + stop() + end(),
    "input that is a number that no float is": start() + block('{"text": 1e999}', name="note") + end(),
    "input that is NaN": start() + block('{"text": NaN}', name="note") + end(),
    "input that is 50,000 deep": start() + block(DEEP, name="note") + end(),
    "respond that is 50,000 deep": start() + block(DEEP) + end(),
    "an emoji in two escapes": start() + begin() + grow(HALVES[0]) + grow(HALVES[1]) + stop() + end(),
    "half of an emoji": start() + block(HALVES[0] + ' fine"}],"turnState":"complete"}') + end(),
    "text before and after": start() + words("Let me see.", 0) + block(OK, 1) + words("There.", 2) + end(),
    "two calls of respond": start() + block(AWAITING, 0, call_id="a") + block(OK, 1, call_id="b") + end(),
    "1,000 calls": start() + MANY + end(),
    "nothing at all": "",
    "only a beginning": start(),
    "no block": start() + end("end_turn"),
    "an error after the end": start()
    + block(OK)
    + end()
    + sse("error", error={"type": "overloaded_error", "message": "Late."}),
    "garbage after the end": start() + block(OK) + end() + "event: ping\ndata: {nonsense\n\n",
    "an error without words": start() + sse("error", error=None),
    "an error that is a text": start() + 'event: error\ndata: "no"\n\n',
    "refused in the middle": start() + begin() + grow(OK[:60]) + end("refusal"),
    "a second beginning": start() + start() + block(OK) + end(),
}

CHAT = {
    "a call without a name": asked(OK, name=None) + finish(),
    "a call with an empty name": asked("{}", name="") + finish(),
    "a call with a name of spaces and signs": asked("{}", name="no such/tool! ☃") + finish(),
    "a call with a name of 10,000 characters": asked("{}", name="n" * 10_000) + finish(),
    "a name that is a number": asked("{}", name=7) + finish(),
    "a call without an id": asked(OK, call_id=None) + finish(),
    "an id of 10,000 characters": asked("{}", name="note", call_id="i" * 10_000) + finish(),
    "an id of other signs": asked("{}", name="note", call_id="a b/☃\u0000") + finish(),
    "an id that is a list": asked("{}", name="note", call_id=["a"]) + finish(),
    "two calls of respond with one id": asked(AWAITING) + asked(AWAITING, 1) + finish(),
    "two calls of a tool with one id": asked("{}", 0, "note") + asked("{}", 1, "note") + finish(),
    "input that is an object": asked({"parts": []}) + finish(),
    "input that is a list": asked([1], name="note") + finish(),
    "input that is 50,000 deep": asked(DEEP, name="note") + asked(AWAITING, 1, call_id="b") + finish(),
    "an index that is a list": asked(OK, [0]) + finish(),
    "an index of 10**30": asked(OK, 10**30) + finish(),
    "content that is a list": chunk({"content": [{"type": "text", "text": "Hi"}]}) + asked(OK) + finish(),
    "content that is a number": chunk({"content": 5}) + asked(OK) + finish(),
    "tool_calls that are an object": chunk({"tool_calls": {"0": {}}}) + asked(OK) + finish(),
    "a call that is null": chunk({"tool_calls": [None]}) + asked(OK) + finish(),
    "a function that is null": chunk({"tool_calls": [{"index": 0, "id": "a", "function": None}]})
    + asked(OK, call_id="b")
    + finish(),
    "a delta that is null": chunk().replace('"delta": {}', '"delta": null') + asked(OK) + finish(),
    "choices that are null": chunk(choices=None) + asked(OK) + finish(),
    "choices that are an object": chunk(choices={"a": 1}) + asked(OK) + finish(),
    "a chunk that is null": "data: null\n\n" + asked(OK) + finish(),
    "a chunk that is a list": "data: []\n\n" + asked(OK) + finish(),
    "a finish reason that is a list": asked(OK) + finish(["tool_calls"]),
    "a finish reason that nobody knows": asked(OK) + finish("because"),
    "usage that is a text": asked(OK) + finish(usage="much"),
    "counts that no database has": asked(OK)
    + finish(usage={"prompt_tokens": 10**30, "completion_tokens": 10**30}),
    "counts that are texts": asked(OK) + finish(usage={"prompt_tokens": "5", "completion_tokens": None}),
    "counts that are NaN": asked(OK) + finish(usage={"prompt_tokens": float("nan"), "completion_tokens": 1}),
    "1,000 calls": "".join(asked("{}", n, "note", f"call_{n}") for n in range(1_000)) + finish(),
    "1,000 calls that never end": "".join(asked("{", n, "note", f"call_{n}") for n in range(1_000))
    + finish(),
    "an emoji in two escapes": asked(HALVES[0])
    + chunk({"tool_calls": [{"index": 0, "function": {"arguments": HALVES[1]}}]})
    + finish(),
    "nothing at all": "",
    "only the end": "data: [DONE]\n\n",
    "no call": chunk({"content": ""}) + finish("stop"),
    "an error after the end": asked(OK) + finish() + 'data: {"error": {"message": "Late."}}\n\n',
    "an error after the last chunk": asked(OK)
    + chunk(reason="tool_calls")
    + 'data: {"error": {"message": "Late."}}\n\n',
    "an error that is a text": 'data: {"error": "no"}\n\n',
    "refused in the middle": asked(OK[:60]) + finish("content_filter"),
    "text before and after": chunk({"content": "Let me see."})
    + asked(OK)
    + chunk({"content": "There."})
    + finish(),
    "two calls of respond": asked(AWAITING, 0, call_id="a") + asked(OK, 1, call_id="b") + finish(),
}


@pytest.mark.parametrize(("speaks", "streams"), [(RawMessages, MESSAGES), (RawChat, CHAT)])
async def test_each_turn_ends_and_the_conversation_goes_on(
    speaks: type[RawApi], streams: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    wrong: dict[str, object] = {}
    async with model(speaks) as (d, api):
        for name, raw in streams.items():
            caplog.clear()
            api.problems.clear()
            api.raw[:] = [raw]
            await d.say(name)
            turn = (await d.turns())[-1]
            codes = [
                row.data["part"]["data"]["code"]
                for row in await d.rows("part")
                if _is_error(row, turn.number)
            ]
            faults = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
            # The other side would refuse a history with calls that it does not take back.
            told = (turn.status, faults, list(api.problems), "internal" in codes)
            if told != ("settled", [], [], False):
                wrong[name] = told
        api.raw.clear()
        await d.say("And again?")
        assert (await d.texts())[-1] == "Fine."

    assert wrong == {}


def _is_error(row: Row, turn: int) -> bool:
    return row.turn == turn and row.part_type == "error"


WHOLE = {
    "an error": MESSAGES["an error after the end"],
    "garbage": MESSAGES["garbage after the end"],
    "no end": start() + block(OK) + end() + FOR_EVER,
    "a second reply": start() + block(OK) + end() + start() + block(OK, 1, call_id="b") + end(),
}
WHOLE_CHAT = {
    "an error": CHAT["an error after the last chunk"],
    "garbage": asked(OK) + chunk(reason="tool_calls") + "data: {nonsense\n\n",
    "no end": asked(OK) + chunk(reason="tool_calls") + FOR_EVER,
    "an end": CHAT["an error after the end"],
}


@pytest.mark.parametrize(
    ("speaks", "raw"),
    [
        pytest.param(speaks, raw, id=f"{speaks.__name__}: {name}")
        for speaks, streams in ((RawMessages, WHOLE), (RawChat, WHOLE_CHAT))
        for name, raw in streams.items()
    ],
)
async def test_what_stands_behind_the_end_of_an_answer_takes_nothing_from_it(
    speaks: type[RawApi], raw: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SECONDS", 0.1)
    async with model(speaks, raw) as (d, api):
        await d.say("Hello")
        (reply,) = await d.rows("provider")
        assert await d.texts() == ["Fine."] and await d.rows("withdrawn") == []

    assert reply.data["stopReason"] == "tool_use" and len(api.requests) == 1


@pytest.mark.parametrize("speaks", [RawMessages, RawChat])
async def test_a_model_that_only_keeps_the_connection_awake_is_asked_again(
    speaks: type[RawApi], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given up once it has kept awake for a while, and whoever is asked next has all the time there is."""
    monkeypatch.setattr(hearing, "LOOK_SECONDS", 0.01)

    def again(error: ProviderError, failures: int) -> Any:
        monkeypatch.setattr(hearing, "QUIET_SECONDS", 300.0)
        return asked_again(error, failures)

    asked_again = model_retries.again
    monkeypatch.setattr(model_retries, "again", again)
    begun = start() if speaks is RawMessages else chunk({"role": "assistant"})
    async with model(speaks, begun + FOR_EVER) as (d, api):
        await d.say("Hello", wait=False)
        async with asyncio.timeout(60):
            await api.awake.wait()
        monkeypatch.setattr(hearing, "QUIET_SECONDS", 0.0)
        await d.quiet()
        failed, _ = await d.rows("provider")
        assert await d.texts() == ["Fine."]

    assert (failed.data["error"]["kind"], failed.data["error"]["why"]) == ("quiet", "silent")
    assert api.requests[0].disconnected


async def test_ids_that_a_server_gives_again_in_each_reply_are_told_apart() -> None:
    notes = [
        asked('{"text": "one"}', 0, "note", None) + finish(),
        asked('{"text": "two"}', 0, "note", None) + finish(),
    ]
    async with model(RawChat, *notes) as (d, api):
        await d.say("Hello")
        calls = await d.calls()
        assert await d.texts() == ["Fine."]

    assert [(call.args["text"], call.state) for call in calls] == [("one", "succeeded"), ("two", "succeeded")]
    assert len({call.call_id for call in calls}) == 2 and api.problems == []


async def test_both_of_two_calls_of_respond_are_shown_and_text_around_them_is_not() -> None:
    raw = (
        start()
        + words("Let me see.", 0)
        + block(AWAITING, 1, call_id="a")
        + block(OK, 2, call_id="a")
        + words("There.", 3)
        + end()
    )
    async with model(RawMessages, raw) as (d, _):
        await d.say("Hello")
        parts = [row.data["part"]["text"] for row in await d.rows("part")]
        prose = [row.data["text"] for row in await d.rows("free-text")]

    assert parts == ["Looking.", "Fine."] and prose == ["Let me see.", "There."]


async def test_an_emoji_in_two_pieces_is_one_and_half_of_one_is_marked() -> None:
    async with model(RawMessages, MESSAGES["an emoji in two escapes"], MESSAGES["half of an emoji"]) as (
        d,
        _,
    ):
        await d.say("Hello")
        await d.say("Hello")
        assert await d.texts() == ["\U0001f600 fine", "\ufffd fine"]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "1e9"}, 1e9),
        ({"retry-after": "NaN"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "\u00b2"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, 0.0),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 -1200"}, 1e9),
        ({"retry-after": "Fri, 99 Dec 2027 23:59:59 GMT"}, None),
        ({"retry-after-ms": "nan", "retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250"}, 0.25),
    ],
)
def test_when_to_come_again_is_a_number_or_nothing(headers: dict[str, str], seconds: float | None) -> None:
    found = retry_after(headers)

    assert found == seconds or (seconds == 1e9 and found is not None and found >= 1e9)


@pytest.mark.parametrize(
    ("after", "says"),
    [
        ("3600", "before 13:00."),
        (str(24 * 3600), "before 12:00 on Saturday."),
        ("1e9", "for the next six days."),
        ("9" * 30, "for the next six days."),
        ("Fri, 31 Dec 9999 23:59:59 GMT", "for the next six days."),
    ],
)
def test_whoever_has_to_wait_is_told_until_when(after: str, says: str) -> None:
    friday = datetime(2027, 8, 13, 12, 0, tzinfo=UTC).timestamp()
    error = failed(BUSY, "Claude", kind="overloaded_error", headers={"retry-after": after})

    assert model_retries.given_up(error, "UTC", friday).endswith(says)
