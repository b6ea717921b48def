"""Programs over plain HTTP: begin, say, get the envelope."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import AsyncClient
from pydantic import BaseModel

from envelopes import peers
from envelopes.access import COOKIE, Principal, new_anonymous_owner
from envelopes.conf import conf
from envelopes.intake import post_message
from envelopes.models import Approval, ClientMessage, Event, Peer, Session, Turn
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import ApprovalPolicy, Tool
from tests.desk import Script, desk, replies
from tests.envelopes.transports.program import at_door, program

pytestmark = pytest.mark.django_db(transaction=True)


class Nothing(BaseModel):
    pass


async def _pay(context: object, args: Nothing) -> Any:
    return {"paid": True}


PAY = Tool("pay", "Pays.", Nothing, _pay, approval=ApprovalPolicy(question=lambda args: "Pay?"))


def asks(then: str) -> Script:
    """Wants to pay, and says ``then`` what came of it."""
    return replies(
        [Say([text("thinking", "Let me pay.")], "awaiting"), Call("pay", {})], [Say([text("response", then)])]
    )


async def test_what_was_said_is_answered_with_the_envelope() -> None:
    async with at_door(replies([Say([text("ack", "A moment."), text("response", "Hello.")])])) as (caller, d):
        answer = await caller.say(d.session, {"text": "Hi"})

    assert answer.status_code == 200
    body = answer.json()
    produced = body["meta"].pop("producedAt")
    turn = await Turn.objects.aget()
    assert body == {
        "role": "agent",
        "parts": [{"text": "Hello.", "metadata": {"partType": "response"}}],
        "meta": {"sessionId": d.session.public_id, "turnId": turn.public_id, "finalizedBy": "complete"},
    }
    assert produced.endswith("Z")
    assert turn.originators == [{"principal": f"peer:{caller.peer.pk}", "kind": "peer", "consumes": []}]


async def test_who_does_not_want_to_wait_is_told_where_to_ask() -> None:
    go = asyncio.Event()

    async def wait(context: object, args: Nothing) -> Any:
        await go.wait()
        return {}

    script = replies([Call("wait", {})], [Say([text("response", "Done.")])])
    async with at_door(script, Tool("wait", "Waits.", Nothing, wait)) as (caller, d):
        at_once = await caller.say(d.session, {"text": "Hi"}, Prefer="respond-async")
        url = at_once.json()["url"]
        meanwhile = await caller.ask("get", url)
        soon = await caller.ask("get", url, Prefer="wait=0")
        go.set()
        later = await caller.ask("get", url, Prefer="wait=20")
        again = await caller.ask("get", url)

    for early in (at_once, meanwhile, soon):
        assert early.status_code == 202
        assert (early.json()["turnState"], early.json()["parts"]) == ("awaiting", [])
        assert "finalizedBy" not in {key for key, value in early.json()["meta"].items() if value}
    assert later.status_code == again.status_code == 200
    assert later.json() == again.json()
    assert later.json()["parts"][0]["text"] == "Done."


async def _until(turns: int) -> None:
    async with asyncio.timeout(20):
        while True:
            if await Turn.objects.acount() == turns:
                return
            await asyncio.sleep(0.01)


async def test_who_speaks_while_a_turn_is_at_work_gets_its_envelope_too() -> None:
    called, go = asyncio.Event(), asyncio.Event()

    async def wait(context: object, args: Nothing) -> Any:
        called.set()
        await go.wait()
        return {}

    script = replies([Call("wait", {})], [Say([text("response", "Both done.")])])
    async with at_door(script, Tool("wait", "Waits.", Nothing, wait)) as (caller, d):
        first = asyncio.create_task(caller.say(d.session, {"text": "One"}))
        await called.wait()
        at_once = await caller.say(d.session, {"text": "Two"}, Prefer="respond-async", Idempotency_Key="two")
        third = asyncio.create_task(caller.say(d.session, {"text": "Three"}))
        await _until(3)
        go.set()
        answers = [await first, await third]
        answers.append(await caller.ask("get", at_once.json()["url"]))
        answers.append(await caller.say(d.session, {"text": "Two"}, Idempotency_Key="two"))

    assert at_once.status_code == 202
    assert [answer.status_code for answer in answers] == [200] * 4
    assert all(answer.json() == answers[0].json() for answer in answers)
    assert answers[0].json()["parts"][0]["text"] == "Both done."
    assert await Turn.objects.acount() == 3 and len(d.requests) == 2
    assert await Event.objects.filter(kind="message").acount() == 3


async def test_each_of_them_gets_it_as_their_own() -> None:
    """What only a program takes that asks for it goes to that one alone, whoever began the turn (D59)."""
    called, go = asyncio.Event(), asyncio.Event()

    async def wait(context: object, args: Nothing) -> Any:
        called.set()
        await go.wait()
        return {}

    said = [Say([text("response", "Done."), text("llm-context", "It is done.")])]
    script = replies([Call("wait", {})], said)
    async with at_door(script, Tool("wait", "Waits.", Nothing, wait)) as (caller, d):
        first = asyncio.create_task(caller.say(d.session, {"text": "One"}))
        await called.wait()
        card = {"envelopeConsumes": ["llm-context"]}
        other = await sync_to_async(peers.principal_of_peer)(caller.peer)
        await sync_to_async(post_message)(
            d.session, replace(other, consumes=frozenset(card["envelopeConsumes"])), "two", "Two"
        )
        go.set()
        plain = (await first).json()
        await d.quiet()
        turn = (await d.turns())[0]

    assert [part["metadata"]["partType"] for part in plain["parts"]] == ["response"]
    assert [who["consumes"] for who in turn.originators] == [[], ["llm-context"]]


async def test_a_wait_that_is_over_is_no_error(settings: Any) -> None:
    settings.BEACH_HTTP_WAIT_SECONDS = 0.05
    go = asyncio.Event()

    async def wait(context: object, args: Nothing) -> Any:
        await go.wait()
        return {}

    script = replies([Call("wait", {})], [Say([text("response", "Done.")])])
    async with at_door(script, Tool("wait", "Waits.", Nothing, wait)) as (caller, d):
        answer = await caller.say(d.session, {"text": "Hi"})
        assert answer.status_code == 202
        go.set()
        await d.quiet()
        assert (await caller.ask("get", answer.json()["url"])).status_code == 200


async def test_a_turn_that_waits_for_a_person_is_told_with_its_question() -> None:
    async with at_door(asks("Paid."), PAY) as (caller, d):
        answer = await caller.say(d.session, {"text": "Pay"})
        body = answer.json()
        approval = await Approval.objects.aget()
        url = body["url"]

        assert answer.status_code == 202
        assert body["turnState"] == "suspended"
        assert body["meta"].get("finalizedBy") is None
        assert [part["metadata"]["partType"] for part in body["parts"]] == ["approval-request"]
        assert body["parts"][0]["data"]["approvalId"] == approval.approval_id

        staff = await sync_to_async(User.objects.create_superuser)("ruth")
        await d.decide("granted", who=Principal(user=staff, name="Ruth"))
        later = await caller.ask("get", url)

    assert later.status_code == 200
    assert [part["metadata"]["partType"] for part in later.json()["parts"]] == ["response"]


def refers(then: str) -> Script:
    """Asks the cashier, and says ``then`` when that has answered."""
    return replies(
        [Say([text("ack", "I ask the cashier.")], "delegated", delegate_to="cashier")],
        [Say([text("response", then)])],
    )


async def test_so_is_one_whose_actor_has_asked_another_which_waits_for_a_person() -> None:
    async with desk(asks("Paid."), PAY, name="cashier"), at_door(refers("It is paid.")) as (caller, d):
        body = (await caller.say(d.session, {"text": "Pay"})).json()
        assert body["turnState"] == "suspended"
        assert [part["metadata"]["partType"] for part in body["parts"]] == ["approval-request"]

        staff = await sync_to_async(User.objects.create_superuser)("ruth")
        await d.decide("granted", who=Principal(user=staff, name="Ruth"))
        later = await caller.ask("get", body["url"])
    assert [part["text"] for part in later.json()["parts"]] == ["Paid.", "It is paid."]


async def test_whoever_decides_for_the_one_that_was_asked_gets_the_answer_of_who_asked() -> None:
    user = await sync_to_async(User.objects.create_user)("ada")
    async with (
        desk(asks("Paid."), PAY, name="cashier"),
        desk(refers("It is paid."), owner=Principal(user=user, name="Ada")) as d,
    ):
        client = AsyncClient()
        await client.aforce_login(user)
        await d.say("Pay")
        approval = await Approval.objects.aget()
        data = {"approvalId": approval.approval_id, "decision": "granted"}
        body = {"parts": [{"data": data, "metadata": {"partType": "approval-response"}}]}
        url = f"/api/sessions/{d.session.public_id}/messages"
        answer = await client.post(url, body, content_type="application/json")
    assert [part["text"] for part in answer.json()["parts"]] == ["Paid.", "It is paid."]


@pytest.mark.parametrize("scopes", ["chat read", "chat read decide"])
async def test_r10_a_peer_never_decides_and_that_it_tried_is_recorded_once(scopes: str) -> None:
    async with at_door(asks("Paid."), PAY, scopes=scopes) as (caller, d):
        await caller.say(d.session, {"text": "Pay"})
        approval = await Approval.objects.aget()
        data = {"approvalId": approval.approval_id, "decision": "granted"}
        part = {"data": data, "metadata": {"partType": "approval-response"}}
        tries = [await caller.say(d.session, {"parts": [part]}, Idempotency_Key="k1") for _ in range(2)]
        await approval.arefresh_from_db()
        rows = [row async for row in Event.objects.filter(kind="tried-decision")]

    assert [answer.status_code for answer in tries] == [403, 403]
    assert approval.state == "pending"
    (row,) = rows
    assert (row.audience, row.data["by"], row.data["decision"]) == (
        "audit",
        f"peer:{caller.peer.pk}",
        "granted",
    )


@pytest.mark.parametrize(
    ("named", "scopes", "decides"),
    [("desk", "chat read decide", True), ("desk", "chat read", False), ("other", "chat read decide", False)],
)
async def test_a_peer_that_the_policy_of_a_tool_names_decides_with_the_scope_for_it(
    named: str, scopes: str, decides: bool
) -> None:
    assert PAY.approval is not None
    pay = replace(PAY, approval=replace(PAY.approval, peers=[named]))
    async with at_door(asks("Paid."), pay, scopes=scopes) as (caller, d):
        await caller.say(d.session, {"text": "Pay"})
        approval = await Approval.objects.aget()
        data = {"approvalId": approval.approval_id, "decision": "granted"}
        part = {"data": data, "metadata": {"partType": "approval-response"}}
        answer = await caller.say(d.session, {"parts": [part]})
        # One of the same name and scope that did not begin the conversation sees nothing of it.
        stranger = await program("stranger", "chat read decide")
        assert (await stranger.say(d.session, {"parts": [part]})).status_code == 404
        await approval.arefresh_from_db()
        tried = await Event.objects.filter(kind="tried-decision").acount()
    assert answer.status_code == (200 if decides else 403)
    assert (approval.state, tried) == (("granted", 0) if decides else ("pending", 1))
    if decides:
        assert approval.decided_by == f"peer:{caller.peer.pk}"
        assert [part["text"] for part in answer.json()["parts"]] == ["Paid."]


async def test_whoever_is_signed_in_decides_and_gets_the_envelope() -> None:
    user = await sync_to_async(User.objects.create_user)("ada")
    async with desk(asks("Paid."), PAY, owner=Principal(user=user, name="Ada")) as d:
        client = AsyncClient(enforce_csrf_checks=True)
        await client.aforce_login(user)
        url = f"/api/sessions/{d.session.public_id}/messages"
        await d.say("Pay")
        approval = await Approval.objects.aget()
        data = {"approvalId": approval.approval_id, "decision": "granted", "reason": "Fine"}
        body = {"parts": [{"data": data, "metadata": {"partType": "approval-response"}}]}

        forged = await client.post(url, body, content_type="application/json")
        assert (forged.status_code, forged.json()["code"]) == (403, "forbidden")
        client.cookies["csrftoken"] = token = "a" * 32
        answer = await client.post(url, body, content_type="application/json", headers={"X-CSRFToken": token})
        await approval.arefresh_from_db()

    assert answer.status_code == 200
    assert answer.json()["parts"][0]["text"] == "Paid."
    assert (approval.state, approval.source, approval.reason) == ("granted", "http", "Fine")


async def test_a_decision_comes_alone() -> None:
    async with at_door(asks("Paid."), PAY) as (caller, d):
        part = {
            "data": {"approvalId": "x", "decision": "granted"},
            "metadata": {"partType": "approval-response"},
        }
        for body in ({"parts": [part], "text": "Yes"}, {"parts": [part, part]}):
            answer = await caller.say(d.session, body)
            assert (answer.status_code, answer.json()["path"]) == (400, "/parts")
        unknown = await caller.say(d.session, {"parts": [part]})
        assert unknown.status_code == 404
        assert not await Turn.objects.aexists()


async def test_the_same_key_again_has_no_effect_and_gets_the_same_answer() -> None:
    script = replies([Say([text("response", "One.")])], [Say([text("response", "Two.")])])
    async with at_door(script) as (caller, d):
        first, *others = await asyncio.gather(
            *(caller.say(d.session, {"text": "Hi"}, Idempotency_Key="k1") for _ in range(4))
        )
        other = await caller.say(d.session, {"text": "Hi"}, Idempotency_Key="k2")

        assert first.status_code == 200
        assert [answer.json() for answer in others] == [first.json()] * 3
        assert other.json()["parts"][0]["text"] == "Two."
        assert await Turn.objects.acount() == 2
        assert await ClientMessage.objects.acount() == 2


async def test_a_conversation_is_begun_once_for_each_key_of_a_caller() -> None:
    async with desk(replies([Say([text("response", "Hello.")])])):
        caller, other = await program(), await program("other")
        made = await caller.ask(
            "post", "/api/sessions", {"actor": "tester", "timezone": "Europe/Rome"}, Idempotency_Key="1"
        )
        again = await caller.ask("post", "/api/sessions", {"actor": "tester"}, Idempotency_Key="1")
        others = await other.ask("post", "/api/sessions", {"actor": "tester"}, Idempotency_Key="1")
        without = await caller.ask("post", "/api/sessions", {"actor": "tester"})

        assert [answer.status_code for answer in (made, again, others, without)] == [201, 200, 201, 201]
        assert made.json() == again.json()
        ids = {answer.json()["id"] for answer in (made, others, without)}
        assert len(ids) == 3
        session = await Session.objects.aget(public_id=made.json()["id"])
        assert (session.actor, session.timezone) == ("tester", "Europe/Rome")
        answer = await caller.say(session, {"text": "Hi"})
        assert answer.json()["parts"][0]["text"] == "Hello."
        stranger = await other.say(session, {"text": "Hi"})
        assert (stranger.status_code, stranger.json()["code"]) == (404, "not_found")


async def test_without_an_actor_it_is_with_the_sites_own() -> None:
    caller = await program()
    made = await caller.ask("post", "/api/sessions", {})

    assert (await Session.objects.aget(public_id=made.json()["id"])).actor == conf.BEACH_DEFAULT_ACTOR


REFUSED: dict[str, tuple[str, object, int, str]] = {
    "no JSON": ("/messages", "{", 400, ""),
    "no object": ("/messages", [1], 400, "/"),
    "unknown key": ("/messages", {"text": "Hi", "txt": ""}, 400, "/txt"),
    "wrong type": ("/messages", {"text": 7}, 400, "/text"),
    "empty": ("/messages", {"text": " "}, 400, "/text"),
    "nothing": ("/messages", {}, 400, "/text"),
    "part that is none": ("/messages", {"text": "Hi", "parts": [7]}, 400, "/parts/0"),
    "part of the agent's": (
        "/messages",
        {"parts": [{"text": "x", "metadata": {"partType": "response"}}]},
        400,
        "/parts/0",
    ),
    "too many parts": ("/messages", {"parts": [{}] * 1000}, 400, "/parts"),
    "too long": ("/messages", {"text": "x" * 30_000}, 413, ""),
    "no actor": ("", {"actor": "nobody"}, 400, "/actor"),
    "no zone": ("", {"timezone": "Mars/Olympus"}, 400, "/timezone"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_bad_input_is_refused_with_a_pointer_and_changes_nothing(name: str) -> None:
    where, body, status, path = REFUSED[name]
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        url = f"/api/sessions/{d.session.public_id}{where}" if where else "/api/sessions"
        answer = await caller.ask("post", url, body)

        told = answer.json()
        assert (answer.status_code, told["code"] != "" and told["message"] != "") == (status, True)
        assert str(told.get("path", "")).startswith(path)
        assert await Session.objects.acount() == 1
        assert not await Event.objects.aexists()


async def test_a_key_that_is_too_long_is_refused() -> None:
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        answer = await caller.say(d.session, {"text": "Hi"}, Idempotency_Key="k" * 65)

    assert (answer.status_code, answer.json()["path"]) == (400, "Idempotency-Key")


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Basic YTpi"}, {"Cookie": "sessionid=ended"}, {"Cookie": "other=1"}]
)
@pytest.mark.parametrize("place", ["", "/nowhere/messages", "/nowhere/artifacts"])
async def test_who_has_neither_token_nor_login_is_told_to_bring_one(
    headers: dict[str, str], place: str
) -> None:
    client = AsyncClient(enforce_csrf_checks=True)

    answer = await client.post(f"/api/sessions{place}", {}, content_type="application/json", headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert "Send the token of a peer" in answer.json()["message"]


async def test_a_guests_request_is_checked_for_forgery_as_that_of_an_account_is() -> None:
    client = AsyncClient(enforce_csrf_checks=True)
    _, client.cookies[COOKIE] = await sync_to_async(new_anonymous_owner)()

    forged = await client.post("/api/sessions", {}, content_type="application/json")

    assert (forged.status_code, forged.json()["code"]) == (403, "forbidden")
    assert not await Session.objects.aexists()


async def test_who_is_nobody_gets_in_nowhere() -> None:
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        base = f"/api/sessions/{d.session.public_id}"
        doors = [
            ("post", "/api/sessions", {}),
            ("post", f"{base}/messages", {"text": "Hi"}),
            ("get", f"{base}/parts", None),
        ]
        for method, url, body in [*doors, ("get", f"{base}/turns/x", None)]:
            for token in (
                "",
                "Bearer",
                "Bearer beach_",
                "Bearer beach_\udcff".encode("utf-8", "ignore").decode(),
                "Basic YTpi",
            ):
                answer = await caller.ask(method, url, body, Authorization=token)
                assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer"), (
                    url,
                    token,
                )
        await Peer.objects.aupdate(is_active=False)
        assert (await caller.say(d.session, {"text": "Hi"})).status_code == 401
        await Peer.objects.aupdate(is_active=True)
        renewed = await sync_to_async(peers.renew)(caller.peer)
        assert (await caller.say(d.session, {"text": "Hi"})).status_code == 401
        caller.token = renewed
        assert (await caller.say(d.session, {"text": "Hi"})).status_code == 200


@pytest.mark.parametrize(
    ("scopes", "statuses"),
    [("chat", (201, 200, 403, 403)), ("read", (403, 403, 404, 200)), ("live", (403,) * 4)],
)
async def test_a_token_opens_the_doors_of_its_scopes_only(scopes: str, statuses: tuple[int, ...]) -> None:
    async with at_door(replies([Say([text("response", "Hello.")])]), scopes=scopes) as (caller, d):
        base = f"/api/sessions/{d.session.public_id}"
        got = [
            await caller.ask("post", "/api/sessions", {}),
            await caller.say(d.session, {"text": "Hi"}),
            await caller.ask("get", f"{base}/turns/none"),
            await caller.ask("get", f"{base}/parts"),
        ]

    assert tuple(answer.status_code for answer in got) == statuses


async def test_who_comes_too_often_is_told_when_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(peers, "rates", peers.Rates(lambda: now[0]))
    monkeypatch.setattr("envelopes.transports.api.rates", peers.rates)
    caller, other = await program(rate=2), await program("other", rate=2)
    statuses = [(await caller.ask("post", "/api/sessions", {})).status_code for _ in range(4)]
    refused = await caller.ask("post", "/api/sessions", {})
    others = await other.ask("post", "/api/sessions", {})
    now[0] += 30
    later = await caller.ask("post", "/api/sessions", {})

    assert statuses == [201, 201, 429, 429]
    assert (refused.headers["Retry-After"], refused.json()["code"]) == ("30", "too_often")
    assert (others.status_code, later.status_code) == (201, 201)


@pytest.mark.parametrize("approval_id", ["\ud800", "a\0", "é", ""])
async def test_what_is_no_id_of_an_approval_is_not_found(approval_id: str) -> None:
    async with at_door(asks("Paid.")) as (caller, d):
        part = {
            "data": {"approvalId": approval_id, "decision": "granted"},
            "metadata": {"partType": "approval-response"},
        }
        answer = await caller.say(d.session, {"parts": [part]})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({}, "/parts/0/data/approvalId"),
        ({"data": {"decision": "granted"}}, "/parts/0/data/approvalId"),
        ({"data": {"approvalId": "a", "decision": "maybe"}}, "/parts/0/data/decision"),
        ({"data": {"approvalId": 7, "decision": "denied"}}, "/parts/0/data/approvalId"),
    ],
)
async def test_a_decision_that_is_none_is_told_what_it_lacks(part: Any, path: str) -> None:
    async with at_door(asks("Paid.")) as (caller, d):
        answer = await caller.say(d.session, {"parts": [{"partType": "approval-response", **part}]})
    assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_FAILED")
    assert answer.json()["path"] == path


async def test_a_message_of_nothing_that_is_known_is_refused() -> None:
    unknown = {"text": "secret", "metadata": {"partType": "acme.nope"}}
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        alone = await caller.say(d.session, {"parts": [unknown]})
        beside = await caller.say(d.session, {"text": "Hi", "parts": [unknown]})
    assert (alone.status_code, alone.json()["path"]) == (400, "/parts")
    assert "domain-data" in alone.json()["allowed"]
    assert beside.status_code == 200


@pytest.mark.parametrize("turn_id", ["%00", "%ED%A0%80", "x y"])
async def test_what_is_no_id_of_a_turn_is_not_found(turn_id: str) -> None:
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        answer = await caller.ask("get", f"/api/sessions/{d.session.public_id}/turns/{turn_id}")
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("locale", "status"),
    [
        ("zh-Hant-TW-u-nu-hanidec", 201),
        ("de", 201),
        ("../../etc", 400),
        ("<script>", 400),
        ("\0", 400),
        ("de-", 400),
    ],
)
async def test_a_locale_is_a_language_tag(locale: str, status: int) -> None:
    caller = await program()
    answer = await caller.ask("post", "/api/sessions", {"locale": locale})
    assert answer.status_code == status
    if status == 400:
        assert answer.json()["path"] == "/locale"


async def test_a_request_that_is_too_big_is_told_so_as_json(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2_000
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        answer = await caller.say(d.session, {"text": "x" * 3_000})
    assert (answer.status_code, answer.json()["code"], answer.json()["limit"]) == (413, "too_large", 2_000)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [(OperationalError("gone"), 503, "unavailable"), (KeyError("a secret"), 500, "error")],
)
async def test_our_own_faults_are_json_too(
    error: Exception, status: int, code: str, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def breaks(*args: object) -> None:
        raise error

    monkeypatch.setattr("envelopes.transports.http.api.get_session", breaks)
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        answer = await caller.say(d.session, {"text": "Hi"})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert "a secret" not in answer.content.decode()
    assert f"/api/sessions/{d.session.public_id}/messages" in caplog.text
