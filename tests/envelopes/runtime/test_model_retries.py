"""A model that fails is asked again by one layer, within a bound, and people are told when."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes import intake
from envelopes.admin.sentences import sentence
from envelopes.delivery.deltas import deltas
from envelopes.errors import ProviderError
from envelopes.fakes import FakeChatApi, FakeMessagesApi, Refusal, Reply, overloaded, respond, said
from envelopes.models import Session
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.clients import close_clients
from envelopes.providers.openai import OpenAIProvider
from envelopes.runtime import model_retries
from envelopes.session_state import live_sessions
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

HELLO = Reply((respond(said("Hello.")),))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_retries, "FIRST_SECONDS", 0.002)


@asynccontextmanager
async def claude(*answers: Reply | Refusal) -> AsyncIterator[tuple[Desk, FakeMessagesApi]]:
    async with FakeMessagesApi(replies=deque(answers)) as api:

        def provider(_: Any) -> Any:
            return AnthropicProvider("key", "claude-test", base_url=api.base_url)

        async with desk(replies([]), provider=provider) as d:
            yield d, api
        await close_clients()


async def retries(d: Desk) -> list[Any]:
    return [row for row in await d.rows("turn") if row.data.get("retry", {}).get("mode") == "model"]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "refusal", [overloaded(""), Refusal(500, "api_error"), Refusal(429, "rate_limit_error")]
)
async def test_what_passes_is_tried_four_times_more_and_no_oftener(refusal: Refusal) -> None:
    """529 and 500 cost nine requests once: three of ours, and three of the SDK for each."""
    async with claude(*[refusal] * 9) as (d, api):
        await d.say("Hello")

        assert len(api.requests) == 5
        assert [row.data["retry"]["number"] for row in await retries(d)] == [1, 2, 3, 4], "none has answered"
        (told,) = await d.texts("error")
        assert told.startswith("Claude ") and told.endswith("Nothing was done that is not shown above.")
        assert [turn.finalized_by for turn in await d.turns()] == ["error"]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "refusal", [Refusal(401, "authentication_error"), Refusal(400, "invalid_request_error")]
)
async def test_what_does_not_pass_is_not_tried_again(refusal: Refusal) -> None:
    async with claude(refusal) as (d, api):
        await d.say("Hello")

        assert len(api.requests) == 1 and await retries(d) == []


@pytest.mark.usefixtures("quick")
async def test_the_page_says_when_in_the_readers_zone() -> None:
    async with claude(overloaded("1"), HELLO) as (d, _):
        await Session.objects.filter(pk=d.session.pk).aupdate(timezone="Asia/Tokyo")
        d.session.timezone = "Asia/Tokyo"
        await d.say("Hello")

        row, _ = await retries(d)
        assert (row.data["retry"]["who"], row.data["retry"]["why"]) == ("Claude", "busy")
        at = datetime.fromisoformat(row.data["retry"]["at"])
        assert 1 <= (at - row.at).total_seconds() + 0.05 < 2, "it waits as long as it was asked to"
        hour = (at.hour + 9) % 24
        html = await d.html()
        assert f"Claude is busy, trying again at {hour:02}:{at.minute:02}" in html
        assert "Hello." in html
        assert sentence(row) == f"Claude was busy, to be tried again at {row.data['retry']['at']} (1 of 4)."


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("busy", "is busy"),
        ("silent", "did not answer"),
        ("broken", "connection to"),
        ("trouble", "had a problem"),
        ("novel", "had a problem"),
    ],
)
async def test_each_reason_has_its_words(why: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_retries, "FIRST_SECONDS", 30)
    async with desk(replies([]), provider=lambda _: Failing(why)) as d:
        await d.say("Hello", wait=False)
        await _until_told(d)
        assert told in await d.html()


class Failing:
    """A model that fails for a reason, and says no more."""

    name = model = "failing"
    label = "Failing 1"

    def __init__(self, why: str) -> None:
        self.why = why

    async def stream(self, request: object) -> AsyncIterator[Any]:
        raise ProviderError("It failed.", retryable=True, why=self.why)
        yield


async def _until_told(d: Desk) -> None:
    async with asyncio.timeout(5):
        while not await retries(d):  # noqa: ASYNC110 - the log rings nobody here
            await asyncio.sleep(0.01)


async def test_more_than_the_bound_is_not_waited_and_is_told() -> None:
    async with claude(overloaded("7200")) as (d, api):
        await d.say("Hello")

        assert len(api.requests) == 1
        (told,) = await d.texts("error")
        found = re.match(
            r"Claude is very busy and cannot answer before (\d\d):\d\d( on \w+day)?\. Nothing", told
        )
        assert found is not None
        # Which is tomorrow late in the evening.
        assert int(found[1]) in {(time.gmtime().tm_hour + hours) % 24 for hours in (1, 2, 3)}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("how", ["tried so often", "stopped", "out of time", "tried once, then stopped"])
async def test_once_it_is_given_up_no_page_says_that_it_is_tried_again(how: str) -> None:
    """Neither those that were open, nor one that comes later; what was done before stays."""
    before = [Reply((respond(said("Let me look."), state="awaiting"),))] if how == "stopped" else []
    answers = [overloaded("")] * 5 if how == "tried so often" else [overloaded("100")]
    if how == "tried once, then stopped":
        answers.insert(0, overloaded("0"))
    async with claude(*before, *answers) as (d, _):
        await d.html()
        await d.say("Hello", wait=False)
        if how != "tried so often":
            async with asyncio.timeout(5):
                while len(await retries(d)) < len(answers):  # noqa: ASYNC110 - the log rings nobody here
                    await asyncio.sleep(0.01)
            assert "Claude is busy, trying again at" in await d.html()
        if how == "out of time":
            d.runner.now = lambda: 4e9
            await d.runner._sweep_once()
        elif how != "tried so often":
            await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        await d.quiet()
        live = await d.html()
        live_sessions.clear()
        later = await d.html()

    for html in (live, later):
        assert "trying again" not in html and "to be tried" not in html and "data-live" not in html
        assert ("Let me look." in html) is (how == "stopped")


async def test_whoever_stops_it_does_not_wait() -> None:
    async with claude(overloaded("100")) as (d, api):
        await d.say("Hello", wait=False)
        await _until_told(d)
        began = time.monotonic()
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        await d.quiet()

        assert time.monotonic() - began < 2
        assert [turn.finalized_by for turn in await d.turns()] == ["cancelled"]
        assert len(api.requests) == 1


@pytest.mark.usefixtures("quick")
async def test_what_was_shown_of_the_failed_reply_is_taken_back() -> None:
    half = Reply((respond(said("Half of a sentence that")),), fail="drop")
    async with claude(half, HELLO) as (d, _):
        await d.say("Hello")

        html = await d.html()
        assert "Hello." in html and "Half of a" not in html
        assert "The connection to Claude broke off, trying again at" in html


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("again", [1, 2])
async def test_once_the_model_answers_nothing_says_any_more_that_it_is_waited_for(again: int) -> None:
    slow = Reply((respond(said("A sentence that takes its time to be written.")),), pace=0.02)
    async with claude(*[overloaded("0")] * again, slow) as (d, _):
        await d.say("Hello", wait=False)
        async with asyncio.timeout(5):
            while not deltas.told(d.session.pk):  # noqa: ASYNC110 - streamed text has no bell
                await asyncio.sleep(0.005)
        line = _live_line(await d.html())
        await d.quiet()

        assert line == f"Tried again ({again} of 4)"
        told = [sentence(row) for row in await retries(d)]
        assert len(told) == again + 1 and told[-1] == f"Tried again ({again} of 4)."
        assert await d.texts() == ["A sentence that takes its time to be written."]


def _live_line(html: str) -> str:
    (line,) = re.findall(r'data-live>.*?<span dir="auto">(.*?)</span></p>', html)
    return str(line)


@pytest.mark.usefixtures("quick")
async def test_other_models_are_named_as_they_are() -> None:
    async with FakeChatApi(replies=deque([Refusal(503, ""), HELLO])) as api:
        made = OpenAIProvider("", "qwen", base_url=api.address, label="Qwen")
        async with desk(replies([]), provider=lambda _: made) as d:
            await d.say("Hello")
            assert "Qwen is busy, trying again at" in await d.html()
        await close_clients()


def test_waits_grow_up_to_the_bound(settings: Any) -> None:
    settings.BEACH_MODEL_RETRIES, settings.BEACH_MODEL_RETRY_SECONDS = 1_000_000, 10
    error = ProviderError("It failed.", retryable=True)

    for failures, least, most in ((0, 0.75, 1.25), (2, 3, 5), (5, 7.5, 10), (100_000, 7.5, 10)):
        found = model_retries.again(error, failures)
        assert found is not None and least <= found.seconds <= most
