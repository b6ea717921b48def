"""What a model's side says without end: replies, words for an error, keys that it repeats. Nobody keeps it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envelopes import metrics
from envelopes.costs import taken
from envelopes.errors import ProviderError
from envelopes.fakes import FakeChatApi, FakeMessagesApi, Refusal
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.clients import close_clients
from envelopes.providers.failures import BUSY, KIND, LEFT_OUT, WORDS, failed
from envelopes.providers.openai import OpenAIProvider
from envelopes.providers.port import ModelRequest
from envelopes.runtime import model_retries, under_way
from envelopes.turns.reply import KEPT_ASIDE
from tests.desk import desk, replies
from tests.envelopes.runtime.test_hostile_streams import (
    FOR_EVER,
    OK,
    RawApi,
    RawChat,
    RawMessages,
    asked,
    begin,
    block,
    chunk,
    end,
    grow,
    model,
    sse,
    start,
    stop,
    words,
)

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "sk-ant-api03-0123456789abcdef"


HELLO: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]


def provider_of(api: FakeMessagesApi | FakeChatApi) -> AnthropicProvider | OpenAIProvider:
    if isinstance(api, FakeChatApi):
        return OpenAIProvider(SECRET, "gpt-test", base_url=api.address)
    return AnthropicProvider(SECRET, "claude-test", base_url=api.base_url)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_retries, "FIRST_SECONDS", 0.002)


@pytest.mark.parametrize("speaks", [FakeMessagesApi, FakeChatApi])
@pytest.mark.parametrize(
    ("status", "kind"), [(400, "k" * 100_000), (401, f"{SECRET} is wrong"), (529, "overloaded_error")]
)
async def test_what_an_error_says_is_kept_short_and_without_the_key(
    speaks: type[FakeMessagesApi | FakeChatApi], status: int, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with speaks() as api:
        # Cut in the middle of its second key.
        said = f"Bad key {SECRET}. ".ljust(WORDS - 15) + f"{SECRET} in {'x' * 1_000_000}"
        api.handler = lambda _: Refusal(status, kind, said)

        async with desk(replies([]), provider=lambda _: provider_of(api)) as d:
            await d.say("Hello")
            rows = [json.dumps(row.data) for row in await d.rows()]
            failed = (await d.rows("provider"))[-1].data["error"]
            html = await d.html()
        await close_clients()

    assert not any(SECRET[:8] in told for told in (*rows, caplog.text, html))
    assert max(map(len, rows)) < 3_000 and len(caplog.text) < 3_000
    assert LEFT_OUT in failed["detail"] and len(failed["kind"]) <= KIND


@pytest.mark.parametrize("speaks", [FakeMessagesApi, FakeChatApi])
@pytest.mark.parametrize(
    ("kind", "said"),
    [(["a"], "m"), ({"a": 1}, "m"), (7, "m"), ("x", ["m"]), ("x", {"a": 1}), ("x", 5), (None, None)],
)
async def test_an_error_whose_words_are_no_text_is_one_of_the_other_side(
    speaks: type[FakeMessagesApi | FakeChatApi], kind: Any, said: Any
) -> None:
    async with speaks() as api:
        api.handler = lambda _: Refusal(400, kind, said)
        with pytest.raises(ProviderError) as found:
            _ = [event async for event in provider_of(api).stream(ModelRequest("", HELLO, []))]
        await close_clients()

    facts = found.value.facts
    assert (facts["why"], facts["status"]) == ("refused", 400)
    assert isinstance(facts["kind"], str) and isinstance(facts["detail"], str)


def test_what_the_other_side_calls_an_error_is_one_line_of_a_log() -> None:
    error = failed(BUSY, "Claude", kind="busy\nCRITICAL all is lost \x1b[31m", detail={"a": "b" * 1_000})

    assert error.facts["kind"] == "busy CRITICAL all is lost \ufffd[31m"
    assert len(error.facts["detail"]) == WORDS


def test_kinds_of_failures_that_are_counted_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_kinds", set())
    monkeypatch.setattr(metrics, "KINDS", 2)
    for number in range(5):
        metrics.model_failed(f"made-up-{number}", again=True)
    found = {sample.labels["kind"] for one in metrics.FAILURES.collect() for sample in one.samples}

    assert "other" in found and {kind for kind in found if kind.startswith("made-up-")} == {
        "made-up-0",
        "made-up-1",
    }


PROSE = sse("content_block_start", index=0, content_block={"type": "text", "text": ""}) + "".join(
    sse("content_block_delta", index=0, delta={"type": "text_delta", "text": "na " * 3_000}) for _ in range(9)
)
ENDLESS = {
    "text": start() + PROSE + FOR_EVER,
    "a call": start() + begin(name="note") + grow('{"text": "' + "na " * 30_000) + FOR_EVER,
    "respond": start() + begin() + grow(OK[:60] + "na " * 30_000) + FOR_EVER,
}


@pytest.mark.parametrize(
    ("speaks", "raw"),
    [
        *((RawMessages, raw) for raw in ENDLESS.values()),
        (RawChat, chunk({"content": "na " * 30_000}) + FOR_EVER),
        (RawChat, asked('{"text": "' + "na " * 30_000, name="note") + FOR_EVER),
    ],
    ids=[*ENDLESS, "text of a chat", "a call in a chat"],
)
async def test_a_reply_without_end_is_cut_and_asked_for_again(
    speaks: type[RawApi], raw: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_way, "REPLY_BYTES", 60_000)
    async with model(speaks, raw) as (d, api):
        await d.say("Hello")
        failed, _ = await d.rows("provider")
        (turn,) = await d.turns()
        assert await d.texts() == ["Fine."] and api.requests[0].disconnected
        assert "na na" not in await d.html()

    assert (failed.data["error"]["why"], failed.data["error"]["kind"]) == ("endless", "endless")
    assert turn.tokens > taken(failed.data["usage"]).total > 10_000, "what was sent has been paid for"


async def test_of_what_a_model_says_aside_the_log_keeps_the_beginning() -> None:
    long = "Hm. " * 50_000
    thinking = (
        sse(
            "content_block_start",
            index=0,
            content_block={"type": "thinking", "thinking": "", "signature": ""},
        )
        + sse("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": long})
        + sse("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "s"})
        + stop()
    )
    async with model(RawMessages, start() + thinking + words(long, 1) + block(OK, 2) + end()) as (d, _):
        await d.say("Hello")
        (prose,) = await d.rows("free-text")
        (trace,) = await d.parts("reasoning-trace")
        assert await d.texts() == ["Fine."]

    for kept in (prose.data["text"], trace["data"]["text"]):
        assert len(kept) == KEPT_ASIDE and kept.endswith("…")
