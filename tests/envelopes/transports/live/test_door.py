"""Who gets in, in which order frames are taken, and how a connection ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.utils import timezone

from envelopes import peers
from envelopes.models import Event, LiveToken
from envelopes.transports.live import caps, door
from envelopes.types import JsonObject
from tests.envelopes.transports.live.client import Channel, live
from tests.envelopes.transports.program import program
from tests.factories import make_principal, make_user
from tests.sockets import HOST, Browser, anonymous

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nobody_answers(settings: Any) -> None:
    settings.BEACH_EXECUTOR = "worker"


async def signed_in() -> tuple[Browser, Any]:
    user = await sync_to_async(make_user)()
    client = AsyncClient()
    await client.aforce_login(user)
    return Browser({name: morsel.value for name, morsel in client.cookies.items()}), make_principal(user)


async def ws_token(browser: Browser, session_id: str) -> JsonObject:
    client = AsyncClient(headers={"Host": HOST})
    client.cookies.load(browser.cookies)
    answer = await client.post(f"/api/sessions/{session_id}/live-token")
    assert answer.status_code == 200, answer.content
    told: JsonObject = answer.json()
    return told


async def test_frames_are_taken_in_the_order_in_which_they_came() -> None:
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        envelope = {"sessionId": session.public_id, "type": "data:submit"}
        await channel.send("subscribe", {"sessionId": session.public_id}, "s")
        for number in range(5):
            await channel.send("action", {**envelope, "payload": {"action": f"a{number}"}}, f"a{number}")
        await channel.send("ping", {}, "p")
        await channel.until(lambda frame: frame["type"] == "pong")
        answers = [frame["requestId"] for frame in channel.frames if "requestId" in frame]
        assert answers == ["s", "a0", "a1", "a2", "a3", "a4", "p"]
        sequences = [f["payload"]["sequence"] for f in channel.frames if f.get("requestId", "")[:1] == "a"]
        assert sequences == sorted(set(sequences))
        await channel.close()


async def test_a_frame_that_fails_does_not_stop_those_after_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("a handler that raises")

    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        with monkeypatch.context() as patched:
            patched.setattr(door.actions, "run", broken)
            failed = await channel.act(session, "go")
        assert failed["payload"]["code"] == "INTERNAL_ERROR"
        assert "a handler that raises" in caplog.text
        assert (await channel.act(session, "go"))["type"] == "ack"
        await channel.close()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "INVALID_JSON"),
        ('{"type": "ping", "n": NaN}', "INVALID_JSON"),
        ("[" * 60_000, "INVALID_JSON"),
        ("[]", "INVALID_MESSAGE"),
        ("{}", "INVALID_MESSAGE"),
        ('{"type": 7}', "INVALID_MESSAGE"),
        ('{"type": "ping", "requestId": 7}', "INVALID_MESSAGE"),
        ('{"type": "action", "payload": null}', "NOT_SUBSCRIBED"),
        ('{"type": "channel_subscribe", "payload": {}}', "NOT_SUBSCRIBED"),
        ('{"type": "host_context_observed", "payload": {}}', "NOT_SUBSCRIBED"),
        ('{"type": "subscribe"}', "INVALID_MESSAGE"),
        ('{"type": "subscribe", "payload": {"sessionId": 7}}', "INVALID_MESSAGE"),
        ('{"type": "subscribe", "payload": {"sessionId": "\\u0000"}}', "SESSION_NOT_FOUND"),
        *(
            (f'{{"type": "{name}"}}', "UNSUPPORTED_MESSAGE")
            for name in ("stream", "ack", "props_update", "drain_ack")
        ),
    ],
)
async def test_a_bad_frame_is_told_and_the_socket_stays_open(text: str, code: str) -> None:
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.raw(text)
        assert (await channel.next())["payload"]["code"] == code
        assert (await channel.subscribe(session))["type"] == "ack"
        await channel.close()


async def test_binary_frames_are_none() -> None:
    async with live() as (_, caller):
        channel = await Channel(token=caller.token).open()
        await channel.wire.send_to(bytes_data=b"{}")
        assert (await channel.next())["payload"]["code"] == "INVALID_MESSAGE"
        await channel.close()


async def test_an_action_without_a_payload_is_no_message() -> None:
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        for payload in (None, [], "text"):
            assert (await channel.ask("action", payload))["payload"]["code"] == "INVALID_MESSAGE"
        await channel.close()


async def test_nobody_and_a_peer_without_the_scope_are_closed_before_any_data() -> None:
    without = await program("other", "chat read")
    for token in ("beach_none", without.token, "beachss_none"):
        channel = await Channel(token=token).open()
        assert await channel.closed() == 4401
        assert channel.frames == []
    channel = await Channel(browser=Browser({})).open()
    assert await channel.closed() == 4401


async def test_without_a_token_the_origin_decides() -> None:
    async with live() as (_, caller):
        browser, _ = anonymous()
        stranger = Channel(origin="https://evil.example")
        assert (await stranger.wire.connect(timeout=30))[0] is False
        nowhere = Channel()
        assert (await nowhere.wire.connect(timeout=30))[0] is False
        mixed = Channel(token=caller.token, origin="https://evil.example")
        assert (await mixed.wire.connect(timeout=30))[0] is False
        assert (await (await Channel(browser=browser).open()).ask("ping", {}))["type"] == "pong"


async def test_somebody_elses_session_is_like_none() -> None:
    async with live() as (session, _):
        other = await program("other", "live")
        channel = await Channel(token=other.token).open()
        foreign = await channel.subscribe(session)
        missing = await channel.ask("subscribe", {"sessionId": "0" * 22})
        assert foreign["payload"] == missing["payload"]
        assert foreign["payload"]["code"] == "SESSION_NOT_FOUND"
        await channel.close()


async def test_a_page_comes_with_a_ws_token_and_back_with_a_session_token() -> None:
    browser, who = await signed_in()
    async with live(owner=who) as (session, _):
        token = await ws_token(browser, session.public_id)
        page = await Channel(browser=Browser({}), query="?wsToken=1").open()
        refused = await page.subscribe(session)
        assert refused["payload"]["code"] == "UNAUTHENTICATED"
        ack = await page.subscribe(session, wsToken=token["wsToken"])
        assert ack["type"] == "ack", ack
        # It is good for more than once.
        other = await Channel(browser=Browser({}), query="?wsToken=1").open()
        assert (await other.subscribe(session, wsToken=token["wsToken"]))["type"] == "ack"
        back = await Channel(browser=Browser({}), query=f"?token={ack['payload']['sessionToken']}").open()
        assert (again := await back.subscribe(session))["type"] == "ack"
        assert "sessionToken" not in again["payload"]
        wrong = await Channel(browser=Browser({}), query="?wsToken=1").open()
        as_ws = await wrong.subscribe(session, wsToken=ack["payload"]["sessionToken"])
        assert as_ws["payload"]["code"] == "BOOTSTRAP_INVALID"
        for channel in (page, other, back, wrong):
            await channel.close()


async def test_a_ws_token_is_bound_to_session_app_and_time() -> None:
    browser, who = await signed_in()
    async with live(owner=who) as (session, _):
        token = (await ws_token(browser, session.public_id))["wsToken"]
        page = await Channel(browser=Browser({}), query="?wsToken=1").open()
        for asked, code in (
            ({"sessionId": "another"}, "BOOTSTRAP_SESSION_MISMATCH"),
            ({"appId": "another"}, "BOOTSTRAP_APP_MISMATCH"),
            ({"wsToken": "beachws_none"}, "BOOTSTRAP_INVALID"),
        ):
            answer = await page.ask("subscribe", {"sessionId": session.public_id, "wsToken": token, **asked})
            assert answer["payload"]["code"] == code
        await LiveToken.objects.aupdate(expires_at=timezone.now())
        late = await page.subscribe(session, wsToken=token)
        assert late["payload"]["code"] == "BOOTSTRAP_EXPIRED"
        await page.close()


async def test_a_token_ends_with_the_login_that_it_was_made_for() -> None:
    browser, who = await signed_in()
    async with live(owner=who) as (session, _):
        token = (await ws_token(browser, session.public_id))["wsToken"]
        page = await Channel(browser=Browser({}), query="?wsToken=1").open()
        await page.subscribe(session, wsToken=token)
        out = AsyncClient()
        out.cookies.load(browser.cookies)
        await out.alogout()
        await page.send(
            "action", {"sessionId": session.public_id, "type": "data:submit", "payload": {"action": "go"}}
        )
        assert await page.closed() == 4411
        assert not await Event.objects.filter(session=session, kind="action").aexists()
        late = await Channel(browser=Browser({}), query="?wsToken=1").open()
        assert (await late.subscribe(session, wsToken=token))["payload"]["code"] == "BOOTSTRAP_INVALID"
        await late.close()


async def test_a_peer_that_is_renewed_is_let_go() -> None:
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        await sync_to_async(peers.renew)(caller.peer)
        await channel.send(
            "action", {"sessionId": session.public_id, "type": "data:submit", "payload": {"action": "go"}}
        )
        assert await channel.closed() == 4411
        assert not await Event.objects.filter(session=session).aexists()


async def test_caps_of_those_who_have_not_subscribed(settings: Any) -> None:
    settings.BEACH_LIVE_PENDING, settings.BEACH_LIVE_PENDING_BYTES = 1, 200
    async with live() as (session, caller):
        first = await Channel(token=caller.token).open()
        await first.pong()
        second = await Channel(token=caller.token).open()
        assert await second.closed() == 1013
        assert (await first.subscribe(session))["type"] == "ack"
        # Whoever has subscribed takes no place there, and may send longer frames.
        await first.ask("ping", {"padding": "x" * 300})
        third = await Channel(token=caller.token).open()
        await third.raw(json.dumps({"type": "ping", "payload": {"padding": "x" * 300}}))
        assert await third.closed() == 1009
        settings.BEACH_LIVE_PENDING_SECONDS = 0.05
        idle = await Channel(token=caller.token).open()
        assert await idle.closed() == 1008
        await first.close()


async def test_to_subscribe_again_leaves_the_first(settings: Any) -> None:
    async with live() as (session, caller):
        settings.BEACH_LIVE_PROVISION = True
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        ack = await channel.ask("subscribe", {"sessionId": "second", "appId": "tester"})
        assert ack["payload"]["session"]["id"] == "second"
        elsewhere = await channel.act(session, "go")
        assert elsewhere["payload"]["code"] == "SESSION_MISMATCH"
        await channel.close()


async def test_a_repeat_has_no_effect_and_gets_the_first_answer() -> None:
    async with live() as (session, caller):
        answers = []
        for _ in range(2):
            channel = await Channel(token=caller.token).open()
            await channel.subscribe(session, instance="page1")
            answers.append((await channel.act(session, "go", clientSeq=1))["payload"])
            await channel.close()
        assert answers[0]["sequence"] == answers[1]["sequence"]
        assert [answer.get("repeated", False) for answer in answers] == [False, True]
        # Another page of the same one counts for itself, and so does a client that does not say who it is.
        for asked in ({"instance": "page2"}, {}, {}):
            channel = await Channel(token=caller.token).open()
            await channel.subscribe(session, **asked)
            assert "repeated" not in (await channel.act(session, "go", clientSeq=1))["payload"]
            await channel.close()
        assert await Event.objects.filter(session=session, kind="action").acount() == 4


async def test_the_ledger_is_replayed_by_the_logs_numbers() -> None:
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        sequence = (await channel.act(session, "beach:message", {"text": "Hi"}))["payload"]["sequence"]
        await channel.close()
        for since in range(sequence + 1):
            again = await Channel(token=caller.token).open()
            await again.subscribe(session, sinceSequence=since)
            await again.pong()
            events = [frame["payload"] for frame in again.frames if frame["type"] == "render_event"]
            assert [event["seq"] for event in events] == list(range(since + 1, sequence + 1))
            assert all(
                event["type"].startswith("x-") and event["timestamp"].endswith("Z") for event in events
            )
            await again.close()


async def test_a_program_decides_nothing() -> None:
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        data = {"approval": "0" * 22, "decision": "granted"}
        assert (await channel.act(session, "beach:decide", data))["type"] == "error"
        wrong = await channel.act(session, "beach:decide", {"approval": "x", "decision": "maybe"})
        assert wrong["payload"]["code"] == "CONTRACT_VIOLATION"
        unknown = await channel.act(session, "beach:grant", {})
        assert unknown["payload"]["code"] == "CONTRACT_VIOLATION"
        await channel.close()


async def test_how_many_subscriptions_a_caller_has(settings: Any) -> None:
    settings.BEACH_SOCKETS_PER_CALLER = 1
    async with live() as (session, caller):
        first, second = [await Channel(token=caller.token).open() for _ in range(2)]
        # Whoever subscribes again leaves first.
        for _ in range(2):
            assert (await first.subscribe(session))["type"] == "ack"
        refused = (await second.subscribe(session))["payload"]
        assert refused["code"] == "RATE_LIMIT_EXCEEDED"
        assert refused["details"]["limit"] == "BEACH_SOCKETS_PER_CALLER"
        await first.close()
        assert (await second.subscribe(session))["type"] == "ack"
        await second.close()
    assert door.SOCKETS.of(caller.peer.name) == 0


async def test_whoever_leaves_for_nothing_waits_to_subscribe_as_before(settings: Any) -> None:
    settings.BEACH_LIVE_PENDING_SECONDS = 0.05
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        before = caps.pending.count
        refused = await channel.ask("subscribe", {"sessionId": "none"})
        assert refused["payload"]["code"] == "SESSION_NOT_FOUND"
        assert caps.pending.count == before + 1
        assert await channel.closed() == 1008
        assert caps.pending.count == before
