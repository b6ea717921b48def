"""The real SDK against a fake of the Messages API on a loopback port."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import anthropic
import pytest

from envelopes.errors import ProviderError
from envelopes.fakes import (
    FakeMessagesApi,
    Redacted,
    Refusal,
    Reply,
    Text,
    Thinking,
    Tool,
    call,
    overloaded,
    respond,
    said,
    serving,
)
from envelopes.fakes.messages_rules import SAMPLED
from envelopes.protocol.respond_tool import respond_tool
from envelopes.providers.anthropic import AnthropicProvider, from_settings
from envelopes.providers.clients import close_clients
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
    TextFragment,
    UsageTold,
)
from envelopes.providers.transcript import extended, tool_result, tool_use, user_text

WEATHER = {
    "name": "weather",
    "description": "The weather.",
    "input_schema": {"type": "object", "properties": {}},
}


@pytest.fixture
async def api() -> AsyncIterator[FakeMessagesApi]:
    async with FakeMessagesApi() as fake:
        yield fake
        await close_clients()


def provider(api: FakeMessagesApi, **options: Any) -> AnthropicProvider:
    options.setdefault("model", "claude-sonnet-5-5")
    return AnthropicProvider("key", base_url=api.base_url, **options)


def request(*messages: dict[str, Any], system: str = "Be brief.") -> ModelRequest:
    return ModelRequest(
        system,
        list(messages) or extended([], "user", [user_text("Hi")]),
        [respond_tool(), WEATHER],
        turn_id="t1",
    )


async def reply(api: FakeMessagesApi, *messages: dict[str, Any], **options: Any) -> list[ModelEvent]:
    return [event async for event in provider(api, **options).stream(request(*messages))]


async def failure(api: FakeMessagesApi, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await reply(api, **options)
    return caught.value


async def test_a_call_comes_as_it_is_written(api: FakeMessagesApi) -> None:
    tool = respond(said('Grüße, "you" \U0001f600\n'))
    api.replies.append(Reply((tool,)))

    told, *events = await reply(api)

    assert isinstance(told, UsageTold) and isinstance(events[0], BlockStarted)
    assert (events[0].kind, events[0].name) == ("tool_use", "respond")
    assert events[0].id.startswith("toolu_")
    fragments = [event.fragment for event in events if isinstance(event, InputFragment)]
    assert len(fragments) > 5
    assert all(fragments), "the empty first fragment is left out"
    assert "".join(fragments) == tool.raw
    assert events[-2] == BlockEnded(0, "tool_use", raw_input=tool.raw)
    assert events[-1] == ReplyEnded(
        "tool_use",
        {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": api.requests[0].fragments},
    )
    assert api.problems == []


async def test_the_first_fragment_arrives_long_before_the_last_is_sent(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((respond(said("word " * 40)),), pace=0.01))

    seen_at = [
        api.requests[0].fragments
        async for event in provider(api).stream(request())
        if isinstance(event, InputFragment)
    ]

    assert seen_at[0] < 5 < seen_at[-1]


async def test_what_is_sent(api: FakeMessagesApi) -> None:
    await reply(api)

    sent = api.requests[0]
    assert sent.path == "/v1/messages"
    assert sent.headers["authorization"] == "Bearer key"
    assert sent.headers["anthropic-version"]
    assert sent.body["model"] == "claude-sonnet-5-5"
    assert sent.body["max_tokens"] == 16_000
    assert sent.body["tool_choice"] == {"type": "auto"}
    assert sent.body["system"] == [
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    ]
    assert [tool.get("eager_input_streaming") for tool in sent.body["tools"]] == [True, None]
    assert sent.body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    assert "thinking" not in sent.body


async def test_no_system_prompt_and_no_tools_are_left_out(api: FakeMessagesApi) -> None:
    bare = ModelRequest(" ", extended([], "user", [user_text("Hi")]), [])

    _ = [event async for event in provider(api).stream(bare)]

    assert not {"system", "tools", "tool_choice"} & api.requests[0].body.keys()


async def test_the_request_is_not_changed(api: FakeMessagesApi) -> None:
    asked = request()
    before = json.dumps([asked.messages, asked.tools])

    _ = [event async for event in provider(api).stream(asked)]

    assert json.dumps([asked.messages, asked.tools]) == before


async def test_thinking_goes_back_unchanged(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((Thinking("Let me see."), Redacted("xyz"), call("weather", place="Rome"))))
    first = await reply(api)
    ended = [event for event in first if isinstance(event, BlockEnded)]
    assert [event.kind for event in ended] == ["thinking", "thinking", "tool_use"]
    assert ended[0].content["thinking"] == "Let me see."
    assert ended[1].content == {"type": "redacted_thinking", "data": "xyz"}
    started = next(event for event in first if isinstance(event, BlockStarted) and event.kind == "tool_use")

    history = extended([], "user", [user_text("Weather?")])
    history = extended(
        history,
        "assistant",
        [ended[0].content, ended[1].content, tool_use(started.id, started.name, {"place": "Rome"})],
    )
    history = extended(history, "user", [tool_result(started.id, {"sky": "blue"})])
    events = await reply(api, *history)

    assert api.problems == []
    assert isinstance(events[-1], ReplyEnded)
    assert api.requests[1].body["messages"] == history


async def test_two_calls_in_one_reply(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((respond(said("On it.", "ack"), state="awaiting"), call("weather"))))

    events = await reply(api)

    started = [event for event in events if isinstance(event, BlockStarted)]
    assert [(event.index, event.name) for event in started] == [(0, "respond"), (1, "weather")]
    assert len({event.id for event in started}) == 2
    assert [event.raw_input for event in events if isinstance(event, BlockEnded)][1] == "{}"


async def test_a_call_without_a_single_fragment_has_no_arguments(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((Tool("weather", ""),)))

    events = await reply(api)

    assert events[-2] == BlockEnded(0, "tool_use", raw_input="{}")


async def test_a_call_without_arguments_may_be_followed_by_another(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((Tool("weather", ""), Tool("weather", ""), call("weather", place="Rome"))))

    events = await reply(api)

    assert [type(event) for event in events if not isinstance(event, InputFragment)] == [
        UsageTold,
        BlockStarted,
        BlockEnded,
        BlockStarted,
        BlockEnded,
        BlockStarted,
        BlockEnded,
        ReplyEnded,
    ]


async def test_a_call_cut_before_its_first_character_is_no_call(api: FakeMessagesApi) -> None:
    """It must not run with default arguments."""
    api.replies.append(Reply((call("weather", place="Rome"), call("pay", sum=7)), fail="max_tokens", when=0))

    events = await reply(api)

    assert [event.index for event in events if isinstance(event, BlockEnded)] == [0]
    assert isinstance(events[-1], ReplyEnded)
    assert events[-1].stop_reason == "max_tokens"


async def test_thinking_that_was_cut_is_not_kept(api: FakeMessagesApi) -> None:
    """Without its signature the API would refuse it."""
    api.replies.append(Reply((Thinking("A long thought"),), fail="max_tokens"))

    events = await reply(api)

    assert not any(isinstance(event, BlockEnded) for event in events)


async def test_plain_text_is_a_text_block(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((Text("Hello there, I am free text."),)))

    told = [event for event in await reply(api) if not isinstance(event, TextFragment)]
    assert told == [
        UsageTold({"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 1}),
        BlockStarted(0, "text"),
        BlockEnded(0, "text", content={"type": "text", "text": "Hello there, I am free text."}),
        ReplyEnded("end_turn", {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 4}),
    ]


@pytest.mark.parametrize("raw", ['{"parts": [', '{"parts": [}', "not JSON", '{"a": "\ud83d'])
async def test_malformed_input_comes_through_as_text(api: FakeMessagesApi, raw: str) -> None:
    api.replies.append(Reply((Tool("respond", raw),)))

    events = await reply(api)

    assert events[-2] == BlockEnded(0, "tool_use", raw_input=raw)
    assert isinstance(events[-1], ReplyEnded)


async def test_a_character_cut_in_two_is_whole_again(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((Tool("respond", '{"a": "\ud83d\ude00"}'),), fragment=1))

    assert (await reply(api))[-2] == BlockEnded(0, "tool_use", raw_input='{"a": "\U0001f600"}')


async def test_a_cut_call_says_max_tokens(api: FakeMessagesApi) -> None:
    tool = respond(said("A long answer"))
    api.replies.append(Reply((tool,), fail="max_tokens"))

    events = await reply(api)

    ended = events[-2]
    assert isinstance(ended, BlockEnded)
    assert tool.raw.startswith(ended.raw_input)
    assert len(ended.raw_input) < len(tool.raw)
    assert isinstance(events[-1], ReplyEnded)
    assert events[-1].stop_reason == "max_tokens"


async def test_a_silent_end_has_no_stop_reason_and_ends_no_block(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((respond(said("Half")),), fail="silent"))

    events = await reply(api)

    assert isinstance(events[-1], ReplyEnded)
    assert events[-1].stop_reason is None
    assert not any(isinstance(event, BlockEnded) for event in events)


async def test_refusal_is_told_as_it_is(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((Text("No."),), stop_reason="refusal"))

    assert (await reply(api))[-1] == ReplyEnded(
        "refusal", {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 1}
    )


@pytest.mark.parametrize(
    ("kind", "retryable"),
    [
        ("overloaded_error", True),
        ("api_error", True),
        ("rate_limit_error", True),
        ("something_new", True),
        ("invalid_request_error", False),
    ],
)
async def test_error_event_in_the_stream(api: FakeMessagesApi, kind: str, retryable: bool) -> None:
    api.replies.append(Reply((respond(said("Half")),), fail="error", error_type=kind))
    told: list[ModelEvent] = []

    async def listen() -> None:
        async for event in provider(api).stream(request()):
            told.append(event)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(ProviderError) as caught:
        await listen()

    assert any(isinstance(event, InputFragment) for event in told)
    assert caught.value.retryable is retryable
    assert caught.value.facts["kind"] == kind
    assert caught.value.facts["detail"] == "It broke."
    assert isinstance(caught.value.__cause__, anthropic.APIStatusError)


async def test_broken_connection(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((respond(said("Half")),), fail="drop"))

    error = await failure(api)

    assert error.retryable
    assert error.facts["kind"] == "connection"


async def test_stalled_stream(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((respond(said("Half")),), fail="stall"))

    error = await failure(api, timeout=anthropic.Timeout(5, read=0.2))

    assert error.retryable
    assert error.facts["kind"] == "timeout"
    assert "ReadTimeout" in error.facts["detail"]


async def test_event_that_is_no_json(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((respond(said("Half")),), fail="garbage"))

    error = await failure(api)

    assert error.retryable
    assert error.facts["kind"] == "unreadable"


async def test_nobody_listens() -> None:
    async with FakeMessagesApi() as gone:
        pass

    error = await failure(gone)
    await close_clients()

    assert error.retryable
    assert error.facts["kind"] == "connection"


@pytest.mark.parametrize("status", [429, 500, 529])
async def test_the_sdk_tries_nothing_again(api: FakeMessagesApi, status: int) -> None:
    """Whoever waits for it is told by the runtime, which has a bound of its own."""
    api.replies.extend([Refusal(status, "api_error"), Refusal(status, "api_error")])

    assert (await failure(api)).retryable
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ((("retry-after", "120"),), 120.0),
        ((("retry-after", "1"), ("retry-after-ms", "1500")), 1.5),
        ((("retry-after", "soon"),), None),
        ((), None),
    ],
)
async def test_when_to_come_again_is_told(api: FakeMessagesApi, headers: Any, seconds: float | None) -> None:
    api.replies.append(Refusal(529, "overloaded_error", headers=headers))

    assert (await failure(api)).facts.get("retry_after") == seconds


async def test_what_the_api_says_not_to_repeat_is_not(api: FakeMessagesApi) -> None:
    api.replies.append(Refusal(500, "api_error", headers=(("x-should-retry", "false"),)))

    assert not (await failure(api)).retryable


@pytest.mark.parametrize(
    "words",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000",
    ],
)
async def test_what_is_too_long_is_called_so(api: FakeMessagesApi, words: str) -> None:
    api.replies.append(Refusal(400, "invalid_request_error", words))

    error = await failure(api)

    assert (error.facts["why"], error.retryable) == ("too_long", False)


async def test_effort_and_temperature_are_sent_where_they_are_set(api: FakeMessagesApi) -> None:
    await reply(api)
    await reply(api, effort="low", temperature=0.2, model=SAMPLED)

    plain, asked = (recorded.body for recorded in api.requests)
    assert not {"temperature", "output_config"} & plain.keys()
    assert (asked["output_config"], asked["temperature"]) == ({"effort": "low"}, 0.2)
    assert api.problems == []


async def test_fragments_of_two_calls_in_turn_are_two_calls(api: FakeMessagesApi) -> None:
    one, two = respond(said("One")), call("weather", place="Rome")
    api.replies.append(Reply((one, two), interleave=True, noise=True, fragment=3))

    events = await reply(api)

    ended = {event.index: event.raw_input for event in events if isinstance(event, BlockEnded)}
    assert ended == {0: one.raw, 1: two.raw}


async def test_a_page_in_place_of_a_stream_is_a_failure(api: FakeMessagesApi) -> None:
    """What a hotel's network answers."""
    api.replies.append(Reply((), fail="page"))

    events = await reply(api)

    assert events == [ReplyEnded(None, {})]


async def test_lasting_overload_is_retryable(api: FakeMessagesApi) -> None:
    api.replies.append(overloaded())

    error = await failure(api)

    assert error.retryable
    assert error.facts["status"] == 529
    assert error.facts["request_id"] == "req_fake"
    assert "busy" in error.message


@pytest.mark.parametrize(
    ("status", "kind", "retryable", "says"),
    [
        (400, "invalid_request_error", False, "did not accept"),
        (401, "authentication_error", False, "key"),
        (402, "billing_error", False, "account"),
        (403, "permission_error", False, "may not use"),
        (404, "not_found_error", False, "does not exist"),
        (413, "request_too_large", False, "too long"),
        (413, "invalid_request_error", False, "too long"),
        (418, "teapot", False, "did not accept"),
        (429, "rate_limit_error", True, "busy"),
        (500, "api_error", True, "problem of its own"),
        (502, "proxy", True, "problem of its own"),
        (504, "timeout_error", True, "in time"),
    ],
)
async def test_refusals(api: FakeMessagesApi, status: int, kind: str, retryable: bool, says: str) -> None:
    api.replies.append(Refusal(status, kind, "their words"))

    error = await failure(api)

    assert error.retryable is retryable
    assert says in error.message
    assert "their words" not in error.message
    assert error.facts["detail"] == "their words"
    assert len(api.requests) == 1


async def test_a_wrong_key_is_not_repeated_anywhere(api: FakeMessagesApi) -> None:
    wrong = AnthropicProvider("wrong", "claude-sonnet-5-5", base_url=api.base_url)

    with pytest.raises(ProviderError) as caught:
        _ = [event async for event in wrong.stream(request())]

    assert "wrong" not in json.dumps(caught.value.as_dict())


async def test_without_a_key_nothing_is_sent(api: FakeMessagesApi) -> None:
    with pytest.raises(ProviderError) as caught:
        _ = [event async for event in AnthropicProvider("", "m", base_url=api.base_url).stream(request())]

    assert caught.value.facts["setting"] == "ANTHROPIC_API_KEY"
    assert api.requests == []


async def test_cancelling_closes_the_connection(api: FakeMessagesApi) -> None:
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


async def test_closing_the_generator_closes_the_connection(api: FakeMessagesApi) -> None:
    api.replies.append(Reply((respond(said("word " * 100)),), pace=0.02))

    async with aclosing(provider(api).stream(request())) as events:
        async for event in events:
            if isinstance(event, InputFragment):
                break

    assert await api.disconnected()


async def test_what_the_consumer_raises_is_not_the_providers_failure(api: FakeMessagesApi) -> None:
    async def listen() -> None:
        async for _ in provider(api).stream(request()):
            json.loads("{")

    with pytest.raises(json.JSONDecodeError):
        await listen()


async def test_providers_of_one_loop_share_their_connections(api: FakeMessagesApi) -> None:
    one, two = provider(api), provider(api)
    assert one.client() is two.client()

    await one.aclose()
    events = [event async for event in two.stream(request())]

    assert isinstance(events[-1], ReplyEnded)


def test_every_loop_has_its_own_client() -> None:
    with serving(FakeMessagesApi()) as api:

        async def once() -> ModelEvent:
            used = provider(api)
            try:
                return [event async for event in used.stream(request())][-1]
            finally:
                await used.aclose()

        for _ in range(2):
            assert isinstance(asyncio.run(once()), ReplyEnded)
        assert len(api.requests) == 2


@pytest.mark.parametrize(
    ("model", "label"),
    [
        ("claude-sonnet-5-5", "Claude Sonnet 5.5"),
        ("claude-haiku-4-5-20251001", "Claude Haiku 4.5"),
        ("other", "Other"),
    ],
)
def test_label(model: str, label: str) -> None:
    assert AnthropicProvider("k", model).label == label


def test_from_settings(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "k"
    settings.BEACH_MODEL = "claude-opus-5-5"
    settings.BEACH_MAX_TOKENS = 1000

    made = from_settings()

    assert (made.name, made.model, made.label) == ("anthropic", "claude-opus-5-5", "Claude Opus 5.5")


async def test_the_fake_refuses_forced_tool_use(api: FakeMessagesApi) -> None:
    """Not ours, but what our way of asking rests on: the fake must say no as the API does."""
    forced: dict[str, Any] = {"model": "claude-sonnet-5-5", "max_tokens": 10, "messages": request().messages}
    forced |= {"tools": [WEATHER], "tool_choice": {"type": "any"}}

    async with anthropic.AsyncAnthropic(api_key="k", base_url=api.base_url, max_retries=0) as client:
        with pytest.raises(anthropic.BadRequestError):
            await client.messages.create(**forced, stream=True)

    assert api.problems == ["tool_choice: this model does not support forced tool use"]
