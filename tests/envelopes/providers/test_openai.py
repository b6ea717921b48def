"""The real SDK against a fake of chat completions on a loopback port."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from envelopes.errors import ProviderError
from envelopes.fakes import FakeChatApi, Refusal, Reply, Text, Thinking, Tool, call, respond, said
from envelopes.protocol.respond_tool import respond_tool
from envelopes.providers.chat_reading import ChatReading
from envelopes.providers.clients import close_clients
from envelopes.providers.openai import OpenAIProvider, chat_messages, from_settings
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
)
from envelopes.providers.transcript import (
    assistant_text,
    correction_block,
    extended,
    tool_result,
    tool_use,
    user_text,
)
from envelopes.runtime import fitting

WEATHER = {
    "name": "weather",
    "description": "The weather.",
    "input_schema": {"type": "object", "properties": {}},
}


@pytest.fixture
async def api() -> AsyncIterator[FakeChatApi]:
    async with FakeChatApi() as fake:
        yield fake
        await close_clients()


def provider(api: FakeChatApi, **options: Any) -> OpenAIProvider:
    return OpenAIProvider("key", "gpt-test", base_url=api.address, **options)


def request(*messages: dict[str, Any], system: str = "Be brief.") -> ModelRequest:
    asked = list(messages) or extended([], "user", [user_text("Hi")])
    return ModelRequest(system, asked, [respond_tool(), WEATHER], turn_id="t1")


async def reply(api: FakeChatApi, *messages: dict[str, Any], **options: Any) -> list[ModelEvent]:
    return [event async for event in provider(api, **options).stream(request(*messages))]


async def failure(api: FakeChatApi, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await reply(api, **options)
    return caught.value


def ended(events: list[ModelEvent]) -> dict[int, str]:
    return {event.index: event.raw_input for event in events if isinstance(event, BlockEnded)}


# -- a reply ----------------------------------------------------------------------------------------------------------


async def test_a_call_comes_as_it_is_written(api: FakeChatApi) -> None:
    tool = respond(said('Grüße, "you" \U0001f600\n'))
    api.replies.append(Reply((tool,)))

    events = await reply(api)

    assert isinstance(events[0], BlockStarted)
    assert (events[0].kind, events[0].name) == ("tool_use", "respond")
    assert events[0].id.startswith("call_")
    fragments = [event.fragment for event in events if isinstance(event, InputFragment)]
    assert len(fragments) > 5 and all(fragments)
    assert "".join(fragments) == tool.raw
    assert events[-2] == BlockEnded(0, "tool_use", raw_input=tool.raw)
    written = api.requests[0].fragments
    usage = {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": written}
    assert events[-1] == ReplyEnded("tool_use", usage)
    assert api.problems == []


async def test_the_first_fragment_arrives_long_before_the_last_is_sent(api: FakeChatApi) -> None:
    api.replies.append(Reply((respond(said("word " * 40)),), pace=0.01))

    seen_at = [
        api.requests[0].fragments
        async for event in provider(api).stream(request())
        if isinstance(event, InputFragment)
    ]

    assert seen_at[0] < 5 < seen_at[-1]


async def test_a_call_is_over_when_the_next_one_begins(api: FakeChatApi) -> None:
    """Text of the first is stored while the second is still being written."""
    api.replies.append(
        Reply((respond(said("On it.", "ack"), state="awaiting"), call("weather", place="Rome")))
    )

    events = [event for event in await reply(api) if not isinstance(event, InputFragment)]

    assert [type(event) for event in events] == [
        BlockStarted,
        BlockEnded,
        BlockStarted,
        BlockEnded,
        ReplyEnded,
    ]
    assert [event.index for event in events if isinstance(event, BlockStarted)] == [0, 1]


@pytest.mark.parametrize("indexed", [True, False], ids=["numbered", "not numbered"])
async def test_calls_of_servers_that_number_none_are_told_apart(indexed: bool) -> None:
    one, two = call("weather", place="Rome"), call("weather", place="Corfu")
    async with FakeChatApi(indexed=indexed) as api:
        api.replies.append(Reply((one, two)))
        assert ended(await reply(api)) == {0: one.raw, 1: two.raw}
        await close_clients()


def piece(arguments: str, name: str | None = None, **about: Any) -> SimpleNamespace:
    """A chunk with a piece of a call."""
    call = SimpleNamespace(
        id=about.get("id"), index=about.get("index"), function=SimpleNamespace(name=name, arguments=arguments)
    )
    delta = SimpleNamespace(content=None, tool_calls=[call])
    return SimpleNamespace(usage=None, choices=[SimpleNamespace(delta=delta, finish_reason=None)])


END = SimpleNamespace(
    usage=None,
    choices=[SimpleNamespace(delta=SimpleNamespace(content=None, tool_calls=[]), finish_reason="tool_calls")],
)


@pytest.mark.parametrize(
    "about", [{}, {"index": 0}, {"index": 0, "id": ""}], ids=["nothing", "one number", "empty ids"]
)
@pytest.mark.parametrize("second", ["weather", "hotels"])
def test_calls_without_an_id_begin_with_their_name(about: dict[str, Any], second: str) -> None:
    reading = ChatReading("Acme")
    pieces = [
        piece('{"place":', "weather", **about),
        piece('"Rome"}', **about),
        piece('{"place":"Corfu"}', second, **about),
        # Some end a call with a piece that says nothing but its name.
        piece("", second, **about),
        END,
    ]

    events = [event for chunk in pieces for event in reading.read(chunk)]
    events += reading.end()

    assert [event.name for event in events if isinstance(event, BlockStarted)] == ["weather", second]
    assert ended(events) == {0: '{"place":"Rome"}', 1: '{"place":"Corfu"}'}
    assert len({event.id for event in events if isinstance(event, BlockStarted)}) == 2


@pytest.mark.parametrize("about", [{}, {"index": 0}], ids=["nothing", "one number"])
def test_a_name_in_each_piece_of_a_call_makes_one_call(about: dict[str, Any]) -> None:
    reading = ChatReading("Acme")
    pieces = [piece(text, "weather", **about) for text in ('{"place":', '{"city":"Rome"', "}}", "")]

    events = [event for chunk in (*pieces, END) for event in reading.read(chunk)]
    events += reading.end()

    assert ended(events) == {0: '{"place":{"city":"Rome"}}'}


@pytest.mark.parametrize("identity", ["text", "thinking"])
def test_an_id_is_no_kind_of_block(identity: str) -> None:
    words = SimpleNamespace(
        usage=None,
        choices=[SimpleNamespace(delta=SimpleNamespace(content="Hm.", tool_calls=[]), finish_reason=None)],
    )
    reading = ChatReading("Acme")

    events = [
        event
        for chunk in (words, piece('{"place":"Rome"}', "weather", id=identity), END)
        for event in reading.read(chunk)
    ]
    events += reading.end()

    assert [event.kind for event in events if isinstance(event, BlockStarted)] == ["text", "tool_use"]


async def test_fragments_of_two_calls_in_turn_are_two_calls(api: FakeChatApi) -> None:
    one, two = respond(said("One, and more of it")), call("weather", place="Rome")
    api.replies.append(Reply((one, two), interleave=True, noise=True, fragment=3))

    assert ended(await reply(api)) == {0: one.raw, 1: two.raw}


@pytest.mark.parametrize("raw", ["", "  "])
async def test_a_call_without_arguments_has_none(api: FakeChatApi, raw: str) -> None:
    api.replies.append(Reply((Tool("weather", raw), call("weather", place="Rome"))))

    assert ended(await reply(api))[0] == "{}"


async def test_text_is_prose_and_reasoning_is_thinking(api: FakeChatApi) -> None:
    api.replies.append(Reply((Thinking("Let me see."), Text("Hello."))))

    events = await reply(api)

    assert [event.content for event in events if isinstance(event, BlockEnded)] == [
        {"type": "thinking", "thinking": "Let me see.", "field": "reasoning_content"},
        {"type": "text", "text": "Hello."},
    ]
    assert isinstance(events[-1], ReplyEnded) and events[-1].stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("reason", "told"), [("stop", "tool_use"), ("content_filter", "refusal"), ("novel", "novel")]
)
async def test_their_reasons_in_our_words(api: FakeChatApi, reason: str, told: str) -> None:
    """Some say "stop" after calls, too."""
    api.replies.append(Reply((respond(said("Hi")),), stop_reason=reason))

    last = (await reply(api))[-1]

    assert isinstance(last, ReplyEnded) and last.stop_reason == told


# -- what is sent -----------------------------------------------------------------------------------------------------


async def test_what_is_sent(api: FakeChatApi) -> None:
    await reply(api)

    sent = api.requests[0]
    assert (sent.path, sent.headers["authorization"]) == ("/v1/chat/completions", "Bearer key")
    assert sent.body["stream_options"] == {"include_usage": True}
    assert sent.body["max_tokens"] == 16_000
    assert sent.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
    ]
    first, second = sent.body["tools"]
    assert first["function"]["name"] == "respond"
    assert second == {
        "type": "function",
        "function": {"name": "weather", "description": "The weather.", "parameters": WEATHER["input_schema"]},
    }
    assert not {"temperature", "reasoning_effort", "tool_choice"} & sent.body.keys()


async def test_effort_and_temperature_are_sent_where_they_are_set(api: FakeChatApi) -> None:
    await reply(api, effort="low", temperature=0.0)

    body = api.requests[0].body
    assert (body["reasoning_effort"], body["temperature"]) == ("low", 0.0)
    assert api.problems == []


async def test_a_server_of_ones_own_needs_no_key(api: FakeChatApi) -> None:
    local = OpenAIProvider("", "llama", base_url=api.address)

    events = [event async for event in local.stream(request())]

    assert isinstance(events[-1], ReplyEnded) and api.problems == []


def test_the_openai_api_gets_its_own_name_of_the_limit() -> None:
    body = OpenAIProvider("key", "gpt-test").body(request())

    assert "max_tokens" not in body and body["max_completion_tokens"] == 16_000


async def test_the_key_goes_to_openai_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.example/v1")

    client = OpenAIProvider("key", "gpt-test").make_client()

    assert str(client.base_url) == "https://api.openai.com/v1/"
    await client.close()


async def test_a_history_with_calls_results_and_thinking(api: FakeChatApi) -> None:
    history = extended([], "user", [user_text("Weather?")])
    thought = {"type": "thinking", "thinking": "Hm.", "field": "reasoning_content"}
    calls = [tool_use("c1", "weather", {"place": "Rome"}), tool_use("c2", "weather", {"place": "Oslo"})]
    history = extended(history, "assistant", [thought, assistant_text("Aside."), *calls])
    failed = tool_result("c2", {"code": "x", "message": "Gone."}, is_error=True)
    results = [tool_result("c1", {"sky": "blue"}), failed, correction_block("Go on.")]
    history = extended(history, "user", results)

    await reply(api, *history)

    assert api.problems == []
    assert api.requests[0].body["messages"][2:] == [
        {
            "role": "assistant",
            "content": "Aside.",
            "reasoning_content": "Hm.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"place":"Rome"}'},
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"place":"Oslo"}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"sky":"blue"}'},
        {"role": "tool", "tool_call_id": "c2", "content": '{"error":{"code":"x","message":"Gone."}}'},
        {"role": "user", "content": "<correction>Go on.</correction>"},
    ]


def test_thinking_of_another_provider_stays_here() -> None:
    signed = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
    history = extended([], "assistant", [signed, assistant_text("Hi.")])

    assert list(chat_messages("", history)) == [{"role": "assistant", "content": "Hi."}]


# -- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("raw", ['{"parts": [', '{"parts": [}', "not JSON", '{"a": "\ud83d'])
async def test_malformed_input_comes_through_as_text(api: FakeChatApi, raw: str) -> None:
    api.replies.append(Reply((Tool("respond", raw),)))

    assert ended(await reply(api)) == {0: raw}


async def test_a_cut_call_says_max_tokens(api: FakeChatApi) -> None:
    tool = respond(said("A long answer"))
    api.replies.append(Reply((tool,), fail="max_tokens"))

    events = await reply(api)

    raw = ended(events)[0]
    assert tool.raw.startswith(raw) and len(raw) < len(tool.raw)
    assert isinstance(events[-1], ReplyEnded) and events[-1].stop_reason == "max_tokens"


async def test_a_call_cut_before_its_first_character_is_no_call(api: FakeChatApi) -> None:
    api.replies.append(Reply((call("weather", place="Rome"), call("pay", sum=7)), fail="max_tokens", when=0))

    assert list(ended(await reply(api))) == [0]


async def test_a_silent_end_has_no_stop_reason_and_ends_no_block(api: FakeChatApi) -> None:
    api.replies.append(Reply((respond(said("Half")),), fail="silent"))

    events = await reply(api)

    assert events[-1] == ReplyEnded(None, {})
    assert ended(events) == {}


@pytest.mark.parametrize(
    ("fail", "kind"), [("drop", "connection"), ("garbage", "unreadable"), ("error", "overloaded_error")]
)
async def test_a_stream_that_breaks_is_retryable(api: FakeChatApi, fail: Any, kind: str) -> None:
    api.replies.append(Reply((respond(said("Half")),), fail=fail))

    error = await failure(api)

    assert error.retryable
    assert error.facts["kind"] == kind
    assert error.facts["who"] == "gpt-test"


async def test_stalled_stream(api: FakeChatApi) -> None:
    api.replies.append(Reply((respond(said("Half")),), fail="stall"))

    error = await failure(api, timeout=httpx2.Timeout(5, read=0.2))

    assert error.retryable
    assert error.facts["kind"] == "timeout"


async def test_a_page_in_place_of_a_stream_is_no_answer(api: FakeChatApi) -> None:
    api.replies.append(Reply((), fail="page"))

    assert await reply(api) == [ReplyEnded(None, {})]


async def test_a_piece_of_a_call_that_has_not_begun_is_a_failure(api: FakeChatApi) -> None:
    class Jumbled(FakeChatApi):
        async def written(self, recorded: Any, reply: Reply) -> AsyncIterator[str | None]:
            pieces = [piece async for piece in super().written(recorded, reply)]
            # The last piece of the call before the one that begins it.
            yield pieces[3]
            for piece in pieces:
                yield piece

    async with Jumbled() as jumbled:
        jumbled.replies.append(Reply((respond(said("Half")),)))
        error = await failure(jumbled)
        await close_clients()

    assert error.retryable
    assert error.facts["kind"] == "malformed"


async def test_nobody_listens() -> None:
    async with FakeChatApi() as gone:
        pass

    error = await failure(gone)
    await close_clients()

    assert error.retryable
    assert error.facts["kind"] == "connection"


@pytest.mark.parametrize(
    ("status", "code", "retryable", "why"),
    [
        (400, "invalid_value", False, "refused"),
        (400, "context_length_exceeded", False, "too_long"),
        (401, "invalid_api_key", False, "key"),
        (402, "", False, "money"),
        (403, "", False, "rights"),
        (404, "model_not_found", False, "model"),
        (413, "", False, "too_long"),
        (429, "rate_limit_exceeded", True, "busy"),
        (429, "insufficient_quota", False, "money"),
        (500, "server_error", True, "trouble"),
        (502, "", True, "trouble"),
        (503, "", True, "busy"),
        (504, "", True, "silent"),
    ],
)
async def test_refusals(api: FakeChatApi, status: int, code: str, retryable: bool, why: str) -> None:
    api.replies.append(Refusal(status, code, "their words"))

    error = await failure(api)

    assert (error.retryable, error.facts["why"], error.facts["status"]) == (retryable, why, status)
    assert "their words" in error.facts["detail"] and "their words" not in error.message
    assert error.facts["request_id"] == "req_fake"
    assert len(api.requests) == 1, "nothing is tried again by the SDK"


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000.",
        "request (65646 tokens) exceeds the available context size (65536 tokens)",
    ],
)
async def test_servers_without_codes_are_understood_when_it_is_too_long(api: FakeChatApi, words: str) -> None:
    api.replies.append(Refusal(400, "", words))

    assert (await failure(api)).facts["why"] == "too_long"


async def test_when_to_come_again_is_told(api: FakeChatApi) -> None:
    api.replies.append(Refusal(429, "rate_limit_exceeded", headers=(("retry-after", "7"),)))

    assert (await failure(api)).facts["retry_after"] == 7.0


async def test_a_wrong_key_is_not_repeated_anywhere(api: FakeChatApi) -> None:
    wrong = OpenAIProvider("wrong", "m", base_url=api.address)

    with pytest.raises(ProviderError) as caught:
        _ = [event async for event in wrong.stream(request())]

    assert "wrong" not in json.dumps(caught.value.as_dict())


@pytest.mark.parametrize(
    ("made", "setting"),
    [(OpenAIProvider("", "m"), "OPENAI_API_KEY"), (OpenAIProvider("k", ""), "BEACH_OPENAI_MODEL")],
)
async def test_what_is_not_set_up_is_named(made: OpenAIProvider, setting: str) -> None:
    with pytest.raises(ProviderError) as caught:
        _ = [event async for event in made.stream(request())]

    assert caught.value.facts["setting"] == setting


# -- connections ------------------------------------------------------------------------------------------------------


async def test_cancelling_closes_the_connection(api: FakeChatApi) -> None:
    api.replies.append(Reply((respond(said("Half")),), fail="stall"))
    begun = asyncio.Event()

    async def listen() -> None:
        async for event in provider(api).stream(request()):
            if isinstance(event, InputFragment):
                begun.set()

    task = asyncio.create_task(listen())
    await asyncio.wait_for(begun.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await api.disconnected()


async def test_closing_the_generator_closes_the_connection(api: FakeChatApi) -> None:
    api.replies.append(Reply((respond(said("word " * 100)),), pace=0.02))

    async with aclosing(provider(api).stream(request())) as events:
        async for event in events:
            if isinstance(event, InputFragment):
                break

    assert await api.disconnected()


async def test_providers_of_one_loop_share_their_connections(api: FakeChatApi) -> None:
    one, two = provider(api), provider(api)
    await one.warm()
    assert one.client() is two.client()

    await one.aclose()
    events = [event async for event in two.stream(request())]

    assert isinstance(events[-1], ReplyEnded)


def test_from_settings(settings: Any) -> None:
    settings.OPENAI_BASE_URL = "http://localhost:8000/v1"
    settings.BEACH_OPENAI_MODEL = "llama-4"
    settings.BEACH_EFFORT = "low"

    made = from_settings()

    assert (made.name, made.model, made.label) == ("openai", "llama-4", "llama-4")
    assert made.body(request())["reasoning_effort"] == "low"


def test_the_room_of_a_model_goes_before_the_setting(settings: Any) -> None:
    small = OpenAIProvider("", "qwen", base_url="http://localhost/v1", room=28_000)

    assert fitting.room_of(small) == 28_000
    assert fitting.room_of(OpenAIProvider("k", "gpt-test")) == 180_000
