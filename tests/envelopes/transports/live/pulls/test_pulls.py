"""Pull channels, over a socket: checks in their order, polls, repeats, failures, and when they end (reading, 5.6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes.errors import RegistrationError
from envelopes.models import Peer, Session
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.transports.live import declare
from envelopes.transports.live.pulls import channels
from envelopes.transports.live.pulls.channels import interval
from envelopes.types import JsonObject
from tests.envelopes.transports.live.client import Channel, live, silent

pytestmark = pytest.mark.django_db(transaction=True)

NUMBER: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


class Args(BaseModel):
    model_config = {"extra": "forbid"}

    n: int = 0
    m: int = 0


def contract(**args: int) -> JsonObject:
    schema: JsonObject = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "m": {"type": "integer"}},
    }
    info = {"toolInfo": {"inputSchema": schema}}

    def fed(tool: str) -> JsonObject:
        return {"schema": NUMBER, "source": {"tool": tool, "args": dict(args)}}

    streams = {"load": fed("look"), "other": fed("look"), "remote": fed("elsewhere")}
    return {
        "streamSpec": {**streams, "pushed": {"schema": NUMBER}},
        "agentCapabilities": {"tools": {"look": info, "elsewhere": info}},
    }


def looking(run: Callable[[Any, Args], Any], **more: Any) -> Tool:
    async def look(context: Any, args: Any) -> Any:
        made = run(context, args)
        return await made if asyncio.iscoroutine(made) else made

    return Tool("look", "Looks.", Args, look, polled=True, **more)


@asynccontextmanager
async def polled(tool: Tool, **args: int) -> AsyncIterator[tuple[Channel, Session, Peer]]:
    async with live(silent, tool, contract=contract(**args)) as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        yield channel, session, caller.peer
        await channel.close()


def asked(session: Session, name: str = "load", **more: Any) -> JsonObject:
    return {"sessionId": session.public_id, "appId": session.actor, "channelName": name, **more}


def of(channel: Channel, kind: str) -> list[JsonObject]:
    return [frame["payload"] for frame in channel.frames if frame["type"] == kind]


async def next_of(channel: Channel, kind: str) -> JsonObject:
    found: JsonObject = (await channel.until(lambda frame: frame["type"] == kind))["payload"]
    return found


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least interval is a tenth of a millisecond."""
    monkeypatch.setattr(channels, "LEAST_MS", 0.1)


async def test_a_channel_carries_what_its_tool_gives_with_numbers_of_its_own(hurried: None) -> None:
    counted = iter(range(1000))
    tool = looking(lambda context, args: {"n": next(counted) + 10 * args.n + 100 * args.m})
    async with polled(tool, n=9, m=1) as (channel, session, _):
        await channel.send("channel_subscribe", asked(session, pollIntervalMs=0.1, args={"n": 2}), "r")
        for _ in range(3):
            await next_of(channel, "channel_payload")
        got = of(channel, "channel_payload")[:3]
        # What the client says goes before what the source does.
        assert [one["payload"]["n"] for one in got] == [120, 121, 122]
        assert [one["seq"] for one in got] == [1, 2, 3]
        assert {(one["mode"], one["channelName"], one["appId"]) for one in got} == {
            ("replace", "load", "tester")
        }
        assert all(one["ts"].endswith("Z") and "complete" not in one for one in got)
        await channel.send("channel_subscribe", asked(session), "again")
        await channel.until(lambda frame: frame["type"] == "channel_payload" and frame["payload"]["seq"] == 1)
        assert channel.data == []


async def test_unsubscribing_ends_it_and_may_come_twice(hurried: None) -> None:
    async with polled(looking(lambda context, args: {"n": 1})) as (channel, session, _):
        await channel.send("channel_unsubscribe", asked(session, "never"))
        await channel.send("channel_subscribe", asked(session, pollIntervalMs=0.1))
        await next_of(channel, "channel_payload")
        await channel.send("channel_unsubscribe", {**asked(session), "sessionId": "another"})
        for _ in range(2):
            await next_of(channel, "channel_payload")
        for _ in range(2):
            await channel.send("channel_unsubscribe", asked(session))
        await channel.pong()
        before = len(channel.frames)
        await asyncio.sleep(0.05)
        await channel.pong()
        assert [frame["type"] for frame in channel.frames[before:]] == ["pong"]
        assert of(channel, "channel_error") == of(channel, "error") == []


async def test_what_may_not_be_polled_is_refused_in_order(settings: Any) -> None:
    settings.BEACH_LIVE_PULLS = 1
    async with polled(looking(lambda context, args: {"n": 1})) as (channel, session, _):

        async def code(**more: Any) -> str:
            refused = await channel.ask("channel_subscribe", {**asked(session), **more})
            assert refused["type"] == "channel_error"
            return str(refused["payload"]["code"])

        assert await code(sessionId="another", channelName="none") == "SUBSCRIBE_UNAUTHORIZED"
        assert await code(appId="another") == "SUBSCRIBE_UNAUTHORIZED"
        assert await code(channelName="none") == "CHANNEL_UNKNOWN"
        assert await code(channelName="pushed") == "CHANNEL_UNKNOWN"
        assert await code(channelName="remote") == "CHANNEL_NOT_LOCAL"
        await channel.send("channel_subscribe", asked(session))
        await next_of(channel, "channel_payload")
        assert await code(channelName="other") == "RATE_LIMIT_EXCEEDED"


async def test_without_a_tool_that_may_be_polled_none_is_local() -> None:
    async def look(context: Any, args: Any) -> Any:
        raise AssertionError("nobody may run it")

    async with polled(Tool("look", "Looks.", Args, look)) as (channel, session, _):
        refused = await channel.ask("channel_subscribe", asked(session, "none"))
        assert refused["payload"]["code"] == "CHANNEL_NOT_LOCAL"


async def test_a_poll_that_fails_is_told_without_secrets_and_the_next_one_comes(hurried: None) -> None:
    def broken(context: Any, args: Args) -> Any:
        calls.append(1)
        match len(calls):
            case 1:
                raise KeyError("Bearer abc")
            case 2:
                return {"n": "no number"}
            case 3:
                return context.reveal({"$handle": "x"})
            case _:
                return {"n": 2**70}

    calls: list[int] = []
    async with polled(looking(broken)) as (channel, session, _):
        await channel.send("channel_subscribe", asked(session, pollIntervalMs=0.1))
        done = await next_of(channel, "channel_payload")
        assert (done["seq"], done["payload"]) == (1, {"n": 2**70})
        failed = of(channel, "channel_error")
        assert [one["code"] for one in failed] == ["POLL_FAILED"] * 3
        assert failed[0]["details"]["reason"] == "look failed inside. It has been logged."
        assert "load.payload.n" in failed[1]["details"]["reason"]
        assert "secret" in failed[2]["details"]["reason"]


async def test_arguments_that_do_not_fit_never_reach_the_tool() -> None:
    def never(context: Any, args: Args) -> Any:
        raise AssertionError("it was run")

    async with polled(looking(never)) as (channel, session, _):
        await channel.send("channel_subscribe", asked(session, args={"n": "x", "more": 1}))
        assert (await next_of(channel, "channel_error"))["code"] == "POLL_FAILED"


async def test_whoever_may_no_longer_gets_nothing_more(hurried: None) -> None:
    async with polled(looking(lambda context, args: {"n": 1})) as (channel, session, peer):
        await channel.send("channel_subscribe", asked(session, pollIntervalMs=0.1))
        await next_of(channel, "channel_payload")
        await sync_to_async(Peer.objects.filter(pk=peer.pk).update)(is_active=False)
        assert await channel.closed() == 4411


async def test_a_channel_that_is_declared_no_more_ends(hurried: None) -> None:
    async with polled(looking(lambda context, args: {"n": 1})) as (channel, session, _):
        await channel.send("channel_subscribe", asked(session, pollIntervalMs=0.1))
        await next_of(channel, "channel_payload")
        await sync_to_async(declare)(session.public_id, {"streamSpec": {"pushed": {"schema": NUMBER}}})
        assert (await next_of(channel, "channel_error"))["code"] == "CHANNEL_UNKNOWN"
        await channel.pong()


async def test_polls_end_with_the_socket(hurried: None) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def waits(context: Any, args: Args) -> Any:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async with polled(looking(waits)) as (channel, session, _):
        await channel.send("channel_subscribe", asked(session))
        await asyncio.wait_for(begun.wait(), 30)
    assert ended.is_set()


@pytest.mark.parametrize(
    ("asked_for", "seconds"),
    [(None, 10), ("5", 10), (True, 10), ([], 10), (1, 1), (-5, 1), (2500, 2.5), (10**9, 60), (10**400, 60)],
)
def test_intervals_are_clamped(asked_for: object, seconds: float) -> None:
    assert interval(asked_for) == seconds


def test_a_tool_that_asks_or_may_not_run_twice_cannot_be_polled() -> None:
    policy = ApprovalPolicy(question=lambda args: "Look?")
    for wrong in ({"approval": policy}, {"idempotent": False}, {"background": True}):
        with pytest.raises(RegistrationError, match="may be polled"):
            looking(lambda context, args: None, **wrong)
