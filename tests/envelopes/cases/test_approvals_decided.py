"""Shared cases of approvals: one winner, honest answers, and each answer to its own question."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from envelopes.access import Principal
from envelopes.approvals import service
from envelopes.errors import AlreadyDecided, BeachError, Expired
from envelopes.models import Approval
from envelopes.providers.scripted import Call, Say, text
from envelopes.session_state import live_sessions
from tests import factories
from tests.desk import Desk, desk, replies
from tests.envelopes.cases.world import Till, by_code, cards, case_variants, named, staff, states
from tests.shared import case, needs_shared
from tests.together import together

pytestmark = [pytest.mark.django_db(transaction=True), needs_shared]

DONE = [Say([text("response", "Done.")])]


def _requests(given: dict[str, Any]) -> list[dict[str, Any]]:
    return [step["request"] for step in given["steps"] if "request" in step]


def _calls(given: dict[str, Any]) -> list[Call]:
    return [Call(request["toolName"], dict(request["args"])) for request in _requests(given)]


def _ada() -> Principal:
    """The owner, who is staff as well: some cases let her decide in the admin."""
    return factories.make_principal(factories.make_user("ada", superuser=True))


def _in_the_admin(approval: Approval, who: Principal, decision: str) -> Any:
    client = Client()
    client.force_login(who.user)
    where = reverse("admin:envelopes_approval_decide", args=[approval.pk])
    form = {"asked_as": approval.approval_id, "decision": decision, "reason": ""}
    answer = client.post(where, form, follow=True)
    assert answer.status_code == 200
    if "Your decision was not applied." in answer.content.decode():
        return AlreadyDecided()
    return Approval.objects.get(pk=approval.pk)


def _decide(approval: Approval, people: dict[str, Principal], decide: dict[str, Any]) -> Any:
    who = people[decide["as"]]
    if decide.get("via") == "admin action":
        return _in_the_admin(approval, who, decide["decision"])
    source: Any = "chat" if decide["as"] == "ada" else "admin"
    return service.decide(
        approval.approval_id, decide["decision"], who, reason=decide.get("reason", ""), source=source
    )


async def _step(d: Desk, people: dict[str, Principal], step: dict[str, Any]) -> list[Any]:
    (approval,) = await d.approvals()
    if "concurrently" in step:
        decisions = [one["decide"] for one in step["concurrently"]] * step.get("times", 1)
        works = [lambda decide=decide: _decide(approval, people, decide) for decide in decisions]
        outcomes = await asyncio.to_thread(together, *works)
    else:
        try:
            outcomes = [await sync_to_async(_decide)(approval, people, step["decide"])]
        except BeachError as error:
            outcomes = [error]
    await d.quiet()
    return outcomes


@pytest.mark.parametrize(
    ("given", "expected"), case_variants("approvals/ap-concurrent-decisions-one-winner.yaml")
)
async def test_ap_concurrent_decisions_one_winner(given: dict[str, Any], expected: dict[str, Any]) -> None:
    till = Till()
    ada = await sync_to_async(_ada)()
    people = {"ada": ada, "bo": await sync_to_async(staff)()}
    async with desk(replies(_calls(given), DONE), *till.tools(), owner=ada) as d:
        await d.say("Refund")
        outcomes = []
        for step in given["steps"][1:]:
            outcomes += await _step(d, people, step)
        told = by_code(outcomes)
        assert told.count("won") == 1
        (state,) = await states(d)
        decisions = await d.parts("approval-response")
        resumes = [row for row in await d.rows("turn") if row.data["reason"] == "resumed"]
        effects = {
            "tool_executions": till.count(),
            "resumes": len(resumes),
            "audit_decisions": len(decisions),
        }
        for name, number in expected.get("effects", {}).items():
            assert effects[name] == number
        if "final_state" in expected:
            assert state == expected["final_state"]
        if "final_state_is_one_of" in expected:
            assert state in expected["final_state_is_one_of"]
            assert till.count() == expected["tool_executions_equal"][state]
        others = expected.get("others_get") or expected.get("second_gets") or "already_decided"
        assert [code for code in told if code != "won"] == [others] * (len(told) - 1)
        if "reason_kept" in expected:
            assert (await d.approvals())[0].reason == expected["reason_kept"]
        assert len(resumes) == 1


async def test_ap_late_click_is_reported_honestly(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = case("approvals/ap-late-click-is-reported-honestly.yaml")
    steps, expected = loaded["input"]["steps"], loaded["expected"]
    clock = [datetime.fromisoformat(step["clock"]) for step in steps if "clock" in step]
    (request,) = _requests(loaded["input"])
    decides = [step["decide"] for step in steps if "decide" in step]
    now = clock[0]
    monkeypatch.setattr(timezone, "now", lambda: now)
    patience = (datetime.fromisoformat(request["expiresAt"]) - now).total_seconds()
    till = Till(expires_after=patience)
    script = replies(_calls(loaded["input"]), [Say([text("response", "Nobody answered.")])])
    # The runner looks at a clock of its own, which is years ahead.
    async with desk(script, *till.tools(), turn_seconds=1e9) as d:
        await d.say("Refund")
        (approval,) = await d.approvals()
        assert approval.expires_at == clock[0] + timedelta(seconds=patience)
        # The deadline passes and nothing sweeps: the click itself must find out.
        await d.runner.stop()
        now = clock[1]
        with pytest.raises(Expired) as first:
            await d.decide(decides[0]["decision"])
        with pytest.raises(Expired):
            await d.decide(decides[1]["decision"], reason=decides[1]["reason"])
        await d.runner.start()
        await d.runner._sweep_once()
        await d.quiet()

        (approval,) = await d.approvals()
        assert approval.state == expected["final_state"]
        assert (approval.decided_by, approval.decided_by_user_id) == ("policy:expiry", None)
        assert first.value.code == expected["answer_to_late_grant"]["error"]
        page = await d.html()
        for word in expected["answer_to_late_grant"]["page_lacks"]:
            assert word not in page
            assert word not in first.value.message
        live_sessions.clear()
        reloaded = await d.html()
        assert list(cards(reloaded).values()) == ["expired"]
        assert "data-decide" not in reloaded
        assert expected["after_reload"]["text_contains"] in reloaded.lower()
        late = [row.data for row in await d.rows("late-decision")]
        assert [(row["decision"], row["reason"], row["by"]) for row in late] == [
            (one["decision"], one.get("reason", ""), d.owner.key)
            for one in expected["audit"]["late_attempts_recorded"]
        ]
        (response,) = await d.parts("approval-response")
        assert (response["data"]["decision"], response["data"]["decidedBy"]) == ("denied", "policy:expiry")
        assert till.count() == expected["effects"]["tool_executions"]


async def test_ap_several_pending_answers_go_to_the_right_one() -> None:
    loaded = case("approvals/ap-several-pending-answers-go-to-the-right-one.yaml")
    steps, expected = loaded["input"]["steps"], loaded["expected"]
    requests = _requests(loaded["input"])
    till = Till()
    open_still = [Say([text("response", "Those are still open.")])]
    script = replies(_calls(loaded["input"]), open_still, DONE)
    provider = named([request["toolCallId"] for request in requests])
    async with desk(script, *till.tools(), provider=provider) as d:
        await d.say("Refund them")
        ids = dict(
            zip(
                [request["approvalId"] for request in requests],
                [approval.approval_id for approval in await d.approvals()],
                strict=True,
            )
        )
        for step in steps:
            if "user_message" in step:
                await d.say(step["user_message"]["text"])
            elif "decide" in step:
                which = list(ids).index(step["decide"]["approvalId"])
                await d.decide(step["decide"]["decision"], which=which)
            elif "expect" in step:
                await _expect(d, till, ids, step["expect"])
        calls = {call.call_id: call for call in await d.calls()}
        ran = sorted(
            (call for call in calls.values() if call.state == "succeeded"), key=lambda c: c.finished_at
        )
        assert [[call.call_id, call.args] for call in ran] == expected["executed"]
        assert [args for _, args in till.executed] == [args for _, args in expected["executed"]]
        found = dict(zip(ids, await states(d), strict=True))
        assert [name for name, state in found.items() if state == "denied"] == expected["denied"]
        # Each result went to its own call, the denial without a reason included.
        answers = {
            block["tool_use_id"]: block
            for block in d.requests[-1].messages[-1]["content"]
            if block["type"] == "tool_result"
        }
        for call_id, told in expected["results_delivered_to_calls"].items():
            assert answers[call_id].get("is_error", False) is told.startswith("denied")
        assert (await d.turns())[0].turn_state == expected["turn"]
        assert len(await d.parts("approval-request")) == len(requests)
        assert "data-decide" not in await d.html()


async def _expect(d: Desk, till: Till, ids: dict[str, str], expected: dict[str, Any]) -> None:
    pending = [approval.approval_id for approval in await d.approvals() if approval.state == "pending"]
    decided = [name for name, approval in ids.items() if approval not in pending]
    shown = [name for name, approval in ids.items() if cards(await d.html()).get(approval) == "pending"]
    have = {
        "cards": shown,
        "cards_actionable": shown,
        "decided": decided,
        "executed": till.executed,
        "turn": (await d.turns())[0].status,
    }
    for name, value in expected.items():
        assert have[name] == value, name
