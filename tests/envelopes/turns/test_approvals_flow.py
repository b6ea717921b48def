"""Approvals through the runner: asked, decided, run once, told; also after a crash at every awkward moment."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from pydantic import BaseModel

from envelopes.access import Principal
from envelopes.errors import AlreadyDecided, Expired, NotFound, TransitionRefused
from envelopes.log.digest import call_digest
from envelopes.models import Approval, ToolCall, Turn
from envelopes.providers.scripted import Call, Say, text
from envelopes.providers.transcript import Injection, entries
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.runtime.runner import Runner
from envelopes.turns import calls, leases, steps
from envelopes.types import Json
from tests.desk import Desk, desk, replies
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)


class Refund(BaseModel):
    order: str
    amount: float


class Till:
    """The world on which the tool acts: it counts."""

    def __init__(self, *, fails: BaseException | None = None) -> None:
        self.refunds: list[tuple[str, float]] = []
        self.fails = fails

    async def run(self, context: object, args: Refund) -> Json:
        self.refunds.append((args.order, args.amount))
        if self.fails:
            raise self.fails
        return {"reference": f"R-{len(self.refunds)}"}

    @property
    def tool(self) -> Tool:
        policy = ApprovalPolicy(
            question=lambda args: f"Refund £{args.amount:.2f} for {args.order}?",
            done=lambda args, result: f"Refunded, {result['reference']}.",
            risk="high",
        )
        return Tool("refund", "Refund an order.", Refund, self.run, approval=policy, idempotent=False)


ASK = [Say([text("ack", "One moment.")], "awaiting"), Call("refund", {"order": "A17", "amount": 40})]
DONE = [Say([text("response", "Done.")])]


async def test_the_turn_suspends_and_nothing_runs_before_a_person_has_decided() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        (turn,) = await d.turns()
        assert (turn.status, turn.turn_state, turn.lease_owner) == ("suspended", "suspended", "")
        (request,) = await d.parts("approval-request")
        assert set(request["data"]) == {
            "approvalId",
            "toolName",
            "toolCallId",
            "args",
            "handler",
            "turn",
            "session",
            "expiresAt",
        }
        assert request["metadata"]["question"] == "Refund £40.00 for A17?"
        assert len(request["metadata"]["digest"]) == 64
        assert till.refunds == []


async def test_grant_runs_the_call_once_and_the_answer_follows() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        await d.decide("granted")
        assert till.refunds == [("A17", 40.0)]
        assert await d.texts() == ["Done."]
        states = [row.data["state"] for row in await d.rows("tool")]
        assert states == ["running", "succeeded"]
        assert (await d.rows("tool"))[1].data["summary"] == "Refunded, R-1."
        (response,) = await d.parts("approval-response")
        assert response["data"]["decision"] == "granted"
        assert response["data"]["decidedBy"] == d.owner.key


async def test_the_agent_reads_why_it_was_approved() -> None:
    async with desk(replies(ASK, DONE), Till().tool) as d:
        await d.say("Refund")
        await d.decide("granted", reason="The shop agrees.")
        *_results, approved = entries(d.requests[-1].messages[-1])

    assert isinstance(approved, Injection) and (approved.kind, approved.tool) == ("approved", "refund")
    assert approved.payload == {"reasons": [{"by": "Ada", "reason": "The shop agrees."}]}


async def test_denial_reaches_the_agent_as_a_result_and_nothing_runs() -> None:
    till = Till()
    async with desk(replies(ASK, [Say([text("response", "As you wish.")])]), till.tool) as d:
        await d.say("Refund A17")
        await d.decide("denied", reason="wrong order")
        assert till.refunds == []
        told = d.requests[1].messages[-1]["content"]
        assert told[1]["is_error"] is True
        assert "wrong order" in told[1]["content"]
        assert await d.texts() == ["As you wish."]


async def test_a_late_click_is_told_what_happened_and_recorded_beside_it() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        await d.decide("denied", reason="no")
        with pytest.raises(AlreadyDecided) as caught:
            await d.decide("granted")
        assert caught.value.facts["state"] == "denied"
        assert till.refunds == []
        (late,) = await d.rows("late-decision")
        assert late.data["decision"] == "granted"


async def test_an_expired_approval_cannot_be_granted_and_the_turn_goes_on() -> None:
    till = Till()
    async with desk(replies(ASK, [Say([text("response", "Too late.")])]), till.tool) as d:
        await d.say("Refund A17")
        await sync_to_async(Approval.objects.update)(expires_at=timezone.now() - timedelta(minutes=1))
        with pytest.raises(Expired):
            await d.decide("granted")
        await d.quiet()
        (approval,) = await d.approvals()
        assert (approval.state, approval.decided_by) == ("expired", "policy:expiry")
        assert till.refunds == []
        assert await d.texts() == ["Too late."]
        (response,) = await d.parts("approval-response")
        assert (response["data"]["decision"], response["data"]["reason"]) == ("denied", "expired")


async def test_the_sweeper_expires_what_nobody_decides() -> None:
    till = Till()
    async with desk(replies(ASK, [Say([text("response", "Too late.")])]), till.tool) as d:
        await d.say("Refund A17")
        await sync_to_async(Approval.objects.update)(expires_at=timezone.now() - timedelta(minutes=1))
        await d.runner._sweep_once()
        await d.quiet()
        assert await d.texts() == ["Too late."]


async def test_a_typed_yes_decides_nothing_and_starts_a_turn_of_its_own() -> None:
    till = Till()
    script = replies(ASK, [Say([text("response", "That is still open.")])], DONE)
    async with desk(script, till.tool) as d:
        await d.say("Refund A17")
        await d.say("yes")
        assert [turn.status for turn in await d.turns()] == ["suspended", "settled"]
        assert till.refunds == []
        await d.decide("granted")
        assert await d.texts() == ["That is still open.", "Done."]


async def test_several_approvals_of_one_reply_are_each_their_own_and_resume_when_all_are_decided() -> None:
    till = Till()
    asked = [
        Call("refund", {"order": "A1", "amount": 1}),
        Call("refund", {"order": "A2", "amount": 2}),
        Call("refund", {"order": "A1", "amount": 1}),
    ]
    async with desk(replies(asked, DONE), till.tool) as d:
        await d.say("Refund them")
        await d.decide("denied", which=1)
        assert till.refunds == []
        assert (await d.turns())[0].status == "suspended"
        await d.decide("granted", which=2)
        await d.decide("granted", which=0)
        assert till.refunds == [("A1", 1.0), ("A1", 1.0)]
        calls_made = await d.calls()
        assert [call.state for call in calls_made] == ["succeeded", "denied", "succeeded"]
        # In the order of the decisions.
        assert calls_made[2].finished_at < calls_made[0].finished_at
        assert len(await d.parts("approval-request")) == 3


async def test_work_before_the_question_is_done_once() -> None:
    mails: list[str] = []

    class Mail(BaseModel):
        to: str

    async def send(context: object, args: Mail) -> Json:
        mails.append(args.to)
        return {"sent": True}

    till = Till()
    asked = [Call("send_mail", {"to": "a@example.org"}), *ASK]
    async with desk(
        replies(asked, DONE), till.tool, Tool("send_mail", "", Mail, send, idempotent=False)
    ) as d:
        await d.say("Refund A17")
        assert mails == ["a@example.org"]
        await d.decide("granted")
        assert mails == ["a@example.org"]
        assert len(till.refunds) == 1


async def test_a_tool_that_fails_after_the_grant_is_not_tried_again() -> None:
    till = Till(fails=TimeoutError("bank"))
    async with desk(replies(ASK, [Say([text("response", "It failed.")])]), till.tool) as d:
        await d.say("Refund A17")
        await d.decide("granted")
        assert len(till.refunds) == 1
        (call,) = await d.calls()
        assert call.state == "failed"
        (approval,) = await d.approvals()
        assert approval.state == "granted"
        assert d.requests[1].messages[-1]["content"][1]["is_error"] is True


@pytest.mark.parametrize(("decision", "refunds"), [("granted", 1), ("denied", 0)])
async def test_the_same_call_asked_again_needs_an_approval_of_its_own(decision: str, refunds: int) -> None:
    till = Till()
    async with desk(replies(ASK, DONE, ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        await d.decide(decision)
        await d.say("Again")
        assert len(till.refunds) == refunds
        assert [approval.attempt for approval in await d.approvals()] == [1, 2]


async def test_numbers_spelt_differently_are_the_same_call() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        call = (await d.calls())[0]
        await sync_to_async(ToolCall.objects.filter(pk=call.pk).update)(args={"amount": 40, "order": "A17"})
        await d.decide("granted")
        assert till.refunds == [("A17", 40.0)]


async def test_arguments_changed_behind_the_approval_do_not_run() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        call = (await d.calls())[0]
        await sync_to_async(ToolCall.objects.filter(pk=call.pk).update)(args={"order": "A17", "amount": 4000})
        await d.decide("granted")
        assert till.refunds == []


BEHIND: dict[str, dict[str, Json]] = {
    "other arguments with a digest of their own": {
        "args": {"order": "A17", "amount": 4000.0},
        "digest": call_digest("refund", {"order": "A17", "amount": 4000.0}),
    },
    "another tool with a digest of its own": {
        "name": "pay",
        "digest": call_digest("pay", {"order": "A17", "amount": 40.0}),
    },
}


@pytest.mark.parametrize("change", BEHIND.values(), ids=BEHIND)
async def test_x4_a_call_that_was_changed_after_the_question_does_not_run(change: dict[str, Json]) -> None:
    till, other = Till(), Till()
    pay = replace(other.tool, name="pay")
    async with desk(replies(ASK, DONE), till.tool, pay) as d:
        await d.say("Refund A17")
        await sync_to_async(ToolCall.objects.update)(**change)
        await d.decide("granted")

        assert (till.refunds, other.refunds) == ([], [])
        (call,) = await d.calls()
        assert (call.state, (call.error or {})["code"]) == ("failed", "changed_after_asking")
        assert "Nothing was run" in await d.html()
        # The agent hears of it and answers; nothing is left half done.
        assert "changed_after_asking" in str(d.requests[-1].messages[-1])
        assert await d.texts() == ["Done."]


async def test_a_call_that_never_ran_has_no_last_word() -> None:
    till = Till()
    last = {"text": "Something was left half done.", "metadata": {"partType": "response"}}
    tool = replace(till.tool, unfinished=lambda call_id, args: [last])
    async with desk(replies(ASK, DONE), tool) as d:
        await d.say("Refund A17")
        call = (await d.calls())[0]
        await sync_to_async(ToolCall.objects.filter(pk=call.pk).update)(args={"order": "A17", "amount": 4000})
        await d.decide("granted")
        assert till.refunds == []
        assert await d.texts() == ["Done."]


async def test_x4_a_call_is_held_against_what_the_person_was_shown() -> None:
    """The arguments that the admin shows are the approval's own."""
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        await sync_to_async(Approval.objects.update)(args={"order": "A17", "amount": 1.0})
        await d.decide("granted")
        assert till.refunds == []


async def test_x4_a_call_that_nobody_granted_does_not_run_because_its_row_says_so() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        await d.decide("denied")
        await d.say("Refund A17 again")
        await sync_to_async(ToolCall.objects.filter(state="awaiting-approval").update)(state="approved")
        await sync_to_async(Turn.objects.filter(status="suspended").update)(status="queued")
        d.runner.wake(d.session.pk)
        await d.quiet()
        assert till.refunds == []


async def test_x4_a_job_that_is_taken_over_is_held_against_its_approval_too() -> None:
    till = Till()
    job = replace(till.tool, background=True, idempotent=True)
    async with desk(replies(ASK, DONE), job) as d:
        await d.say("Refund A17")
        await d.runner.stop()
        await d.decide("granted")
        claim = await sync_to_async(leases.claim_next)(d.session.pk, "gone:1:1")
        assert claim is not None
        (call,) = await d.calls()
        await sync_to_async(calls.claim_call)(claim, call.pk, "gone:1:1")
        changed: Json = {"order": "A17", "amount": 4000.0}
        await sync_to_async(ToolCall.objects.update)(
            args=changed,
            digest=call_digest("refund", changed),
            lease_until=timezone.now() - timedelta(seconds=1),
        )
        await _expire_leases()

        following = Runner()
        await following.start()
        try:
            for _ in range(200):
                if (await d.calls())[0].state == "failed":
                    break
                await asyncio.sleep(0.05)
        finally:
            await following.stop()
        assert till.refunds == []
        assert ((await d.calls())[0].error or {})["code"] == "changed_after_asking"


async def test_somebody_elses_approval_is_as_unknown_as_one_that_does_not_exist() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        with pytest.raises(NotFound):
            await d.decide("granted", who=Principal(owner_key="b" * 64))
        assert (await d.approvals())[0].state == "pending"


# -- crashes ------------------------------------------------------------------------------------------------------


async def _crashed(d: Desk) -> leases.Claim:
    """The claim of a runner that is gone: its process does not exist, its lease has run out."""
    claim = await sync_to_async(leases.claim_next)(d.session.pk, "gone:1:1")
    assert claim is not None
    return claim


async def _expire_leases() -> None:
    await sync_to_async(Turn.objects.update)(lease_until=timezone.now() - timedelta(seconds=1))


async def test_a_crash_between_decision_and_run_ends_in_exactly_one_run() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        await d.runner.stop()
        await d.decide("granted")
        await _crashed(d)
        await _expire_leases()
        await d.runner.start()
        await asyncio.sleep(0.05)
        await d.quiet()
        assert till.refunds == [("A17", 40.0)]
        assert await d.texts() == ["Done."]


async def test_a_crash_inside_the_tool_leaves_an_unknown_outcome_that_is_said_and_never_run_again() -> None:
    till = Till()
    async with desk(replies(ASK, [Say([text("response", "I do not know.")])]), till.tool) as d:
        await d.say("Refund A17")
        await d.runner.stop()
        await d.decide("granted")
        claim = await _crashed(d)
        call = (await d.calls())[0]
        await sync_to_async(calls.claim_call)(claim, call.pk, "gone:1:1")
        await _expire_leases()
        await d.runner.start()
        await asyncio.sleep(0.05)
        await d.quiet()
        assert till.refunds == []
        (after,) = await d.calls()
        assert after.state == "unknown"
        assert [row.data["state"] for row in await d.rows("tool")] == ["running", "unknown"]
        assert "outcome_unknown" in str(d.requests[1].messages[-1])
        assert await d.texts() == ["I do not know."]


@pytest.mark.parametrize("state", ["succeeded", "failed", "denied", "unknown"])
async def test_r4_a_call_that_is_over_is_claimed_by_nobody(state: str) -> None:
    """Whatever its approval says: it was decided once, and is executed once."""
    till = Till()
    async with desk(replies(ASK), till.tool) as d:
        await d.say("Refund A17")
        await d.runner.stop()
        await d.decide("granted")
        claim = await _crashed(d)
        await ToolCall.objects.aupdate(state=state)
        call = await ToolCall.objects.aget()
        with pytest.raises(TransitionRefused):
            await sync_to_async(calls.claim_call)(claim, call.pk, "gone:1:1")
        after = await ToolCall.objects.aget()
        assert (after.state, after.attempt, after.lease_owner) == (state, call.attempt, "")
    assert till.refunds == []


async def test_two_runners_that_resume_one_turn_run_its_call_once() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        await d.runner.stop()
        await d.decide("granted")
        claims = await asyncio.to_thread(
            together, *(partial(leases.claim_next, d.session.pk, f"gone:{n}:1") for n in range(4))
        )
        assert sum(claim is not None for claim in claims) == 1


async def test_a_turn_that_is_given_up_while_its_tool_ran_leaves_an_unknown_outcome_for_staff() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        await d.runner.stop()
        await d.decide("granted")
        claim = await _crashed(d)
        call = (await d.calls())[0]
        await sync_to_async(calls.claim_call)(claim, call.pk, "gone:1:1")
        await sync_to_async(steps.give_up)(claim, "internal", "It is our fault.")
        assert [call.state for call in await d.calls()] == ["unknown"]
        assert [row.data["state"] for row in await d.rows("tool")] == ["running", "unknown"]
        assert 'data-state="unknown"' in await d.html()


async def test_a_turn_that_is_given_up_before_its_granted_call_ran_says_that_it_did_not_run() -> None:
    till = Till()
    async with desk(replies(ASK, DONE), till.tool) as d:
        await d.say("Refund A17")
        await d.runner.stop()
        await d.decide("granted")
        claim = await _crashed(d)
        await sync_to_async(steps.give_up)(claim, "internal", "It is our fault.")
        (call,) = await d.calls()
        assert (call.state, call.error["code"]) == ("failed", "not_run")
        assert till.refunds == []
