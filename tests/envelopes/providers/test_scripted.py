"""The scripted model streams as a real one does, and reads nothing but the request."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from envelopes.errors import ProviderError
from envelopes.protocol.respond import check_respond
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelEvent,
    ModelRequest,
    Provider,
    ReplyEnded,
)
from envelopes.providers.scripted import (
    Call,
    Conversation,
    Fail,
    Outcome,
    Prose,
    Raw,
    Reply,
    Said,
    Say,
    ScriptedProvider,
    Think,
    data,
    text,
)
from envelopes.providers.transcript import (
    ActionTaken,
    Correction,
    Injection,
    action_block,
    assistant_text,
    correction_block,
    extended,
    injection_block,
    tool_result,
    tool_use,
    user_text,
)
from envelopes.runtime.respond_stream import RespondStream


def request(*, turn_id: str = "t1", messages: list[dict[str, Any]] | None = None) -> ModelRequest:
    return ModelRequest("", messages or extended([], "user", [user_text("Hi")]), [], turn_id=turn_id)


async def play(reply: Reply, asked: ModelRequest | None = None, **options: Any) -> list[ModelEvent]:
    provider = ScriptedProvider(lambda _: reply, **({"pace": 0} | options))
    return [event async for event in provider.stream(asked or request())]


def written(events: list[ModelEvent], index: int = 0) -> str:
    return "".join(e.fragment for e in events if isinstance(e, InputFragment) and e.index == index)


async def test_a_call_is_written_in_fragments() -> None:
    events = await play(
        Reply([Say([text("ack", "Grüße \U0001f600"), data("progress", {"id": "p"})], "awaiting", note="n")])
    )

    assert isinstance(events[0], BlockStarted)
    assert (events[0].kind, events[0].name) == ("tool_use", "respond")
    raw = written(events)
    assert len(events) > 10
    assert events[-2] == BlockEnded(0, "tool_use", raw_input=raw)
    assert events[-1] == ReplyEnded("tool_use")
    call = check_respond(json.loads(raw))
    assert (call.state, call.note, [part.part_type for part in call.parts]) == (
        "awaiting",
        "n",
        ["ack", "progress"],
    )


async def test_metadata_is_written_first_so_that_text_streams() -> None:
    events = await play(Reply([Say([{"text": "word " * 20, "metadata": {"partType": "response"}}])]))
    stream = RespondStream()

    growths = [g for e in events if isinstance(e, InputFragment) for g in stream.feed(e.fragment)]

    assert len(growths) > 5
    assert "".join(growth.text for growth in growths) == "word " * 20


async def test_all_kinds_of_blocks() -> None:
    events = await play(
        Reply(
            [
                Think("Hm."),
                Prose("Hello."),
                Say([text("ack", "On it.")], "passed", pass_to="b"),
                Call("find", {"q": 1}),
                Raw("{", "find"),
            ]
        )
    )

    started = [(e.index, e.kind, e.name) for e in events if isinstance(e, BlockStarted)]
    ended = {e.index: e for e in events if isinstance(e, BlockEnded)}
    assert started == [
        (0, "thinking", ""),
        (1, "text", ""),
        (2, "tool_use", "respond"),
        (3, "tool_use", "find"),
        (4, "tool_use", "find"),
    ]
    assert ended[0].content == {"type": "thinking", "thinking": "Hm.", "signature": "scripted"}
    assert ended[1].content == {"type": "text", "text": "Hello."}
    assert json.loads(ended[2].raw_input)["passTo"] == "b"
    assert ended[3].raw_input == '{"q": 1}'
    assert ended[4].raw_input == "{"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply([Prose("x")]), "end_turn"),
        (Reply([Think("x")]), "end_turn"),
        (Reply([]), "end_turn"),
        (Reply([Prose("x"), Call("find")]), "tool_use"),
        (Reply([Raw("")]), "tool_use"),
        (Reply([Prose("x")], "refusal"), "refusal"),
    ],
)
async def test_stop_reasons(reply: Reply, reason: str) -> None:
    assert (await play(reply))[-1] == ReplyEnded(reason)


async def test_call_ids_depend_on_turn_place_and_length_only() -> None:
    async def ids(**options: Any) -> list[str]:
        events = await play(Reply([Call("a"), Call("b")]), request(**options))
        return [event.id for event in events if isinstance(event, BlockStarted)]

    first = await ids()
    longer = extended(extended([], "user", [user_text("Hi")]), "assistant", [assistant_text("x")])

    assert first == await ids(), "a step that is run again after a crash gives the same ids"
    others = [*first, *await ids(turn_id="t2"), *await ids(messages=longer)]
    assert len(set(others)) == 6


async def test_pace() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    events = await play(Reply([Say([text("ack", "On it.")]), Prose("words")]), pace=100, sleep=sleep)

    characters = len(written(events)) + len("words")
    assert sum(slept) == pytest.approx(characters / 100)


async def test_without_pace_others_still_get_their_turn() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(tick())
    await play(Reply([Say([text("ack", "word " * 20)])]))
    other.cancel()

    assert ticks > 5


async def test_pace_comes_from_the_settings(settings: Any) -> None:
    settings.BEACH_SCRIPT_PACE = 1000
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    await play(Reply([Prose("x" * 10)]), pace=None, sleep=sleep)

    assert sum(slept) == pytest.approx(0.01)


# -- failures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("retryable", [True, False])
async def test_error_in_the_stream(retryable: bool) -> None:
    told: list[ModelEvent] = []

    async def listen() -> None:
        script = Reply(
            [Say([text("ack", "Half of this")]), Fail("error", retryable=retryable, message="Broken.")]
        )
        async for event in ScriptedProvider(lambda _: script, pace=0).stream(request()):
            told.append(event)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(ProviderError, match="Broken") as caught:
        await listen()

    assert caught.value.retryable is retryable
    assert any(isinstance(event, InputFragment) for event in told)
    assert not any(isinstance(event, BlockEnded) for event in told)


async def test_silent_end() -> None:
    events = await play(Reply([Call("a"), Say([text("ack", "Half of this")]), Fail("silent")]))

    assert [event.index for event in events if isinstance(event, BlockEnded)] == [0]
    assert events[-1] == ReplyEnded(None)


async def test_cut_at_max_tokens() -> None:
    events = await play(Reply([Say([text("ack", "Half of this")]), Fail("max_tokens")]))

    ended = events[-2]
    assert isinstance(ended, BlockEnded)
    assert ended.raw_input == written(events)
    with pytest.raises(json.JSONDecodeError):
        json.loads(ended.raw_input)
    assert events[-1] == ReplyEnded("max_tokens")


async def test_failure_before_anything() -> None:
    assert await play(Reply([Fail("silent")])) == [ReplyEnded(None)]


async def test_stall_can_be_cancelled() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(play(Reply([Prose("x"), Fail("stall")])), 0.05)


async def test_it_is_a_provider_and_can_be_closed_at_any_point() -> None:
    provider: Provider = ScriptedProvider(lambda _: Reply([Say([text("ack", "word " * 20)])]), pace=0)
    assert provider.label == "Scripted demo model"

    async with aclosing(provider.stream(request())) as events:
        async for event in events:
            if isinstance(event, InputFragment):
                break


# -- reading a request ---------------------------------------------------------------------------------------------


def conversation(messages: list[dict[str, Any]]) -> Conversation:
    return Conversation(request(messages=messages))


def test_a_first_message() -> None:
    read = conversation(
        extended([], "user", [injection_block("context", {"locale": "de"}), user_text("Hi <action>")])
    )

    assert read.text == "Hi <action>"
    assert (read.action, read.click) == (None, None)
    assert read.replies == 0
    assert read.context == {"locale": "de"}
    assert not any([read.calls, read.outcomes, read.corrections, read.earlier])


def test_a_turn_that_a_click_opened() -> None:
    action = {"name": "choose", "surfaceId": "s", "context": {"id": 7}}
    messages = extended([], "user", [user_text("Flights?")])
    messages = extended(messages, "assistant", [assistant_text("Here.")])
    read = conversation(extended(messages, "user", [action_block(action, {"x": 1})]))

    assert read.text == ""
    assert read.action == action
    assert read.click == ActionTaken(action, {"x": 1})
    assert read.data_model == {"x": 1}
    assert read.earlier == [Said("user", "Flights?"), Said("assistant", "Here.")]


def test_a_data_model_beside_words() -> None:
    read = conversation(extended([], "user", [injection_block("data-model", {"a": 1}), user_text("Book it")]))

    assert read.data_model == {"a": 1}
    assert read.context == {}


def test_a_turn_in_the_middle_of_its_work() -> None:
    messages = extended([], "user", [user_text("Earlier")])
    messages = extended(messages, "assistant", [assistant_text("Answer")])
    messages = extended(messages, "user", [user_text("Now")])
    messages = extended(
        messages, "assistant", [tool_use("c1", "respond", {}), tool_use("c2", "find", {"q": 1})]
    )
    messages = extended(
        messages, "user", [tool_result("c1", {"delivered": 1}), tool_result("c2", {"job": 1})]
    )
    messages = extended(
        messages, "user", [injection_block("tool-result", {"result": [1, 2]}, tool="find", call_id="c2")]
    )
    messages = extended(messages, "assistant", [tool_use("c3", "find", {"q": 2})])
    messages = extended(
        messages, "user", [tool_result("c3", {"code": "x"}, is_error=True), correction_block("Do speak.")]
    )
    read = conversation(messages)

    assert read.text == "Now"
    assert read.replies == 2
    assert [call["name"] for call in read.calls] == ["respond", "find", "find"]
    assert read.results("find") == [
        Outcome("find", "c2", {"job": 1}),
        Outcome("find", "c2", [1, 2], late=True),
        Outcome("find", "c3", {"code": "x"}, is_error=True),
    ]
    assert read.result("find") == Outcome("find", "c3", {"code": "x"}, is_error=True)
    assert read.result("other") is None
    assert read.injections == [Injection("tool-result", {"result": [1, 2]}, "find", "c2")]
    assert read.corrections == [Correction("Do speak.").text]
    assert read.earlier == [Said("user", "Earlier"), Said("assistant", "Answer")]


def test_a_turn_that_an_injection_opened() -> None:
    messages = extended([], "user", [user_text("Earlier")])
    messages = extended(messages, "assistant", [assistant_text("Answer")])
    failed = {"error": {"code": "x"}}
    late = [injection_block("context", {}), injection_block("tool-result", failed, tool="find", call_id="c")]
    read = conversation(extended(messages, "user", late))

    assert (read.text, read.action, read.replies) == ("", None, 0)
    assert read.result("find") == Outcome("find", "c", {"code": "x"}, is_error=True, late=True)
    assert read.earlier == [Said("user", "Earlier"), Said("assistant", "Answer")]


def test_an_empty_request() -> None:
    read = Conversation(ModelRequest("", [], []))

    assert (read.text, read.action, read.replies, read.earlier) == ("", None, 0, [])


def test_a_turn_is_read_without_the_conversation_before_it() -> None:
    """However long that is; whoever asks for it has it read then."""
    unreadable: dict[str, Any] = {"role": "user"}
    read = Conversation(request(messages=[unreadable, {"role": "user", "content": [user_text("Corfu")]}]))
    assert (read.text, read.calls, read.outcomes) == ("Corfu", [], [])
    with pytest.raises(KeyError):
        _ = read.earlier


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: Say(text("response", "Hi")), "Say has a list of parts"),
        (lambda: Say("Hi"), "Say has a list of parts"),
        (lambda: Reply(Say([])), "Reply has a list of what is said and called"),
        (lambda: Reply([text("response", "Hi")]), "Reply has a list of what is said and called"),
        (lambda: Reply([[Say([])]]), "Reply has a list of what is said and called"),
    ],
)
def test_a_list_that_was_forgotten_is_told_where_it_was(wrong: Any, told: str) -> None:
    with pytest.raises(TypeError) as found:
        wrong()
    assert told in str(found.value)


@pytest.mark.parametrize("given", [None, [Say([])], "Hi"])
async def test_a_script_gives_a_reply(given: Any) -> None:
    provider = ScriptedProvider(lambda request: given, pace=0)
    with pytest.raises(TypeError, match=r"A script gives a Reply\(\[\.\.\.\]\), not"):
        [event async for event in provider.stream(ModelRequest("", [], []))]
