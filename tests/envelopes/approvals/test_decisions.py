"""Decisions are rows of their own: several, by rules, after an expiry; each settles what its rule says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group as DjangoGroup
from django.contrib.auth.models import User
from django.utils import timezone

from envelopes.access import Principal
from envelopes.approvals.rules import stored
from envelopes.approvals.service import decide, expire, expire_due
from envelopes.errors import AlreadyDecided, Expired, NotFound
from envelopes.models import Approval, Decision, ToolCall
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.policies import (
    ASKED_AGAIN,
    OWNER,
    STAFF,
    Answer,
    Ask,
    Asking,
    AutoApprove,
    Group,
    NoQuestion,
)
from tests import factories
from tests.desk import Desk, desk, replies
from tests.row_shapes import misfits

pytestmark = pytest.mark.django_db(transaction=True)

MANAGERS = Group("Travel managers")
TWO = Ask([OWNER, MANAGERS], needed=2)


@pytest.fixture(autouse=True)
def _actor(db: None) -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


def manager(name: str = "") -> Principal:
    user = factories.make_user(name)
    user.groups.add(DjangoGroup.objects.get_or_create(name=MANAGERS.name)[0])
    return factories.make_principal(user)


def asked(ask: Ask, owner: Principal | None = None, **more: Any) -> Approval:
    session = factories.make_session(owner or factories.make_principal(factories.make_user()))
    return factories.make_approval(session, tool=factories.asking(ask), **more)


def stands(approval: Approval) -> tuple[str, str, str]:
    now = Approval.objects.select_related("tool_call", "turn").get(pk=approval.pk)
    return now.state, now.tool_call.state, now.turn.status


# -- several -----------------------------------------------------------------------------------------------------


def test_an_approval_settles_when_as_many_have_approved_as_it_needs() -> None:
    ada, bo = factories.make_principal(factories.make_user("ada")), manager("bo")
    approval = asked(TWO, ada)

    first = decide(approval.approval_id, "granted", ada, reason="fine by me")
    assert first.state == "pending"
    assert stands(approval) == ("pending", "awaiting-approval", "suspended")
    second = decide(approval.approval_id, "granted", bo, source="admin")

    assert second.state == "granted"
    assert stands(approval) == ("granted", "approved", "queued")
    found = [(one.name, one.role, one.source, one.reason) for one in approval.decisions.all()]
    assert found == [
        ("ada", "owner", "chat", "fine by me"),
        ("bo", "group:Travel managers", "admin", ""),
    ]
    approval.refresh_from_db()
    assert (approval.decided_by, approval.source) == (bo.key, "admin")
    (grant,) = factories.log_of(approval.session, "grant")
    assert {"given": 1, "needed": 2, "name": "ada"}.items() <= grant.data.items()
    assert misfits([grant.as_row()]) == []
    response = factories.log_of(approval.session, "part")[-2:]
    told = next(row.data["part"] for row in response if row.part_type == "approval-response")
    assert [one["name"] for one in told["metadata"]["decisions"]] == ["ada", "bo"]


def test_one_denial_denies() -> None:
    ada, bo = factories.make_principal(factories.make_user()), manager("bo")
    approval = asked(TWO, ada)
    decide(approval.approval_id, "granted", ada)

    decide(approval.approval_id, "denied", bo, reason="not this month")

    assert stands(approval) == ("denied", "denied", "queued")
    with pytest.raises(AlreadyDecided, match="This was already denied by bo"):
        decide(approval.approval_id, "granted", manager())


def test_a_second_decision_of_the_same_person_is_told_and_counts_for_nothing() -> None:
    ada = factories.make_principal(factories.make_user())
    approval = asked(TWO, ada)
    decide(approval.approval_id, "granted", ada)

    for decision in ("granted", "denied"):
        with pytest.raises(AlreadyDecided, match="You already approved this"):
            decide(approval.approval_id, decision, ada)

    assert stands(approval)[0] == "pending"
    assert Decision.objects.count() == 1
    assert len(factories.log_of(approval.session, "late-decision")) == 2


def test_an_owner_who_signs_in_meanwhile_is_still_one_person() -> None:
    guest, _ = factories.make_visitor()
    approval = asked(TWO, guest)
    decide(approval.approval_id, "granted", guest)
    ada = factories.make_user()
    approval.session.participants.filter(role="owner").update(user=ada, owner_key="")

    with pytest.raises(AlreadyDecided, match="You already approved this"):
        decide(approval.approval_id, "granted", factories.make_principal(ada))


def test_whoever_was_among_those_who_approved_hears_so() -> None:
    ada = factories.make_principal(factories.make_user())
    approval = asked(TWO, ada)
    decide(approval.approval_id, "granted", ada)
    decide(approval.approval_id, "granted", manager())

    with pytest.raises(AlreadyDecided, match="You already approved this"):
        decide(approval.approval_id, "denied", ada)


# -- stored when it is asked -------------------------------------------------------------------------------------


def test_another_policy_changes_no_question_that_was_asked() -> None:
    ada = factories.make_principal(factories.make_user())
    approval = asked(Ask([MANAGERS]), ada)

    with factories.acting(factories.asking(Ask([OWNER]))):
        with pytest.raises(Exception, match="You can view this request but not decide it"):
            decide(approval.approval_id, "granted", ada)
        decide(approval.approval_id, "granted", manager())

    assert stored(approval).deciders == (MANAGERS.token,)


def test_a_question_of_before_is_decided_by_the_rule_of_every_tool() -> None:
    approval = asked(Ask([MANAGERS]))
    approval.rule = {}

    assert stored(approval).deciders == ("owner", STAFF.token)


# -- expiry ------------------------------------------------------------------------------------------------------


def test_an_expiry_is_a_decision_of_a_rule() -> None:
    approval = asked(Ask(), expires_after=-1)

    assert expire_due() == 1

    (decision,) = approval.decisions.all()
    assert (decision.decision, decision.by, decision.role, decision.source) == (
        "denied",
        "policy:expiry",
        "policy:expiry",
        "policy",
    )


def test_what_stays_open_never_expires() -> None:
    approval = asked(Ask(on_expiry="stay-open"), expires_after=-1)

    assert approval.expires_at is None
    assert expire_due(timezone.now() + timedelta(days=400)) == 0


def test_a_question_that_nobody_answers_is_asked_again_and_not_for_ever() -> None:
    ada = factories.make_principal(factories.make_user())
    approval = asked(Ask(on_expiry="ask-again", expires_after=600), ada)
    first = approval.approval_id
    now = timezone.now()

    for number in range(1, ASKED_AGAIN + 1):
        Approval.objects.filter(pk=approval.pk).update(expires_at=now)
        assert expire_due(now) == 1
        approval.refresh_from_db()
        assert (approval.state, approval.attempt, approval.version) == ("pending", number + 1, number + 1)
    with pytest.raises(Expired, match="asked again"):
        decide(first, "granted", ada)
    # Another process may have seen it while it was the first.
    assert not expire(first, approval.session_id, now)
    Approval.objects.filter(pk=approval.pk).update(expires_at=now)
    expire_due(now)

    assert stands(approval) == ("expired", "denied", "queued")
    questions = [
        row.data["part"]
        for row in factories.log_of(approval.session, "part")
        if row.part_type == "approval-request"
    ]
    ids = [part["data"]["approvalId"] for part in questions]
    assert len(set(ids)) == ASKED_AGAIN + 1
    assert [part["metadata"].get("replaces") for part in questions] == [None, *ids[:-1]]


def test_a_late_click_makes_the_question_be_asked_again() -> None:
    ada = factories.make_principal(factories.make_user())
    approval = asked(Ask(on_expiry="ask-again", expires_after=600), ada)
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(seconds=1))

    with pytest.raises(Expired, match="It is asked again"):
        decide(approval.approval_id, "granted", ada)
    approval.refresh_from_db()

    assert decide(approval.approval_id, "granted", ada).state == "granted"


# -- rules that approve, in turns as they run --------------------------------------------------------------------


def refunds(*amounts: float) -> Any:
    """A model that asks for refunds one after the other, and then says so."""
    calls = [[Call("refund", {"order": "A1", "amount": amount})] for amount in amounts]
    return replies(*calls, [Say([text("response", "Done.")])])


async def states(d: Desk) -> list[tuple[str, str]]:
    return [(one.state, one.decided_by) for one in await d.approvals()]


async def test_a_rule_approves_and_is_recorded_as_such() -> None:
    seen: list[Asking] = []

    def rule(asking: Asking) -> Answer:
        seen.append(asking)
        return AutoApprove("small", "Small refunds") if asking.args.amount < 50 else Ask()

    async with desk(refunds(40, 60), factories.asking(rule)) as d:
        await d.say("Refund")
        small, large = await d.approvals()
        calls = await d.calls()
        html = await d.html()
        decision = await sync_to_async(small.decisions.get)()

        assert (small.state, small.decided_by, small.source) == ("granted", "policy:small", "policy")
        assert (decision.by, decision.name, decision.role) == (
            "policy:small",
            "Small refunds",
            "policy:small",
        )
        assert [call.state for call in calls] == ["succeeded", "awaiting-approval"]
        assert large.state == "pending"
        assert "Approved by the rule “<bdi>Small refunds</bdi>”" in html.replace(' dir="auto"', "")
        assert (seen[0].owner, seen[0].owner_name, seen[0].actor) == (d.owner.key, "Ada", "tester")
        assert seen[0].asked_by == (d.owner.key,) and seen[0].attempt == 1
        responses = await d.parts("approval-response")
        assert responses[0]["data"]["decidedBy"] == "policy:small"


async def test_what_needs_no_question_runs_as_a_tool_without_a_policy() -> None:
    async with desk(refunds(40), factories.asking(lambda asking: NoQuestion())) as d:
        await d.say("Refund")

        assert await d.approvals() == []
        assert [call.state for call in await d.calls()] == ["succeeded"]


@pytest.mark.parametrize("rule", [lambda asking: asking.args.nothing, lambda asking: True])
async def test_a_policy_that_fails_runs_nothing_and_says_so(rule: Any) -> None:
    async with desk(refunds(40), factories.asking(rule)) as d:
        await d.say("Refund")
        (call,) = await d.calls()

        assert (call.state, call.error["code"]) == ("failed", "policy_failed")
        assert await d.approvals() == []
        assert await d.texts() == ["Done."]


async def test_a_recent_approval_of_the_same_call_is_taken_once_more() -> None:
    async with desk(refunds(40, 40, 41), factories.asking(Ask(reuse_within=600))) as d:
        await d.say("Refund")
        await d.decide("granted")
        first, again, other = await d.approvals()

        assert (again.state, again.decided_by) == ("granted", f"policy:reuse:{first.approval_id}")
        assert again.pk != first.pk and again.attempt == 2
        assert [call.state for call in await d.calls()] == ["succeeded", "succeeded", "awaiting-approval"]
        assert other.state == "pending"
        assert "Approved before by" in await d.html()


async def test_nothing_is_taken_once_more_unless_the_policy_says_so_and_only_within_its_time() -> None:
    async with desk(refunds(40, 40), factories.asking(Ask())) as d:
        await d.say("Refund")
        await d.decide("granted")
        assert [state for state, _ in await states(d)] == ["granted", "pending"]


def _older(first: Approval) -> None:
    Approval.objects.filter(pk=first.pk).update(decided_at=timezone.now() - timedelta(seconds=601))


def _of_another_agent(first: Approval) -> None:
    Approval.objects.filter(pk=first.pk).update(handler="another")


def _of_unknown_end(first: Approval) -> None:
    ToolCall.objects.filter(approval=first).update(state="unknown")


def _by_a_rule(first: Approval) -> None:
    first.decisions.update(by="policy:small")


def _by_another_rule_than_now(first: Approval) -> None:
    Approval.objects.filter(pk=first.pk).update(rule={**first.rule, "deciders": ["owner"]})


def _from_a_file(first: Approval) -> None:
    """As an import stores one: under an id of which the log of decisions knows nothing."""
    Approval.objects.filter(pk=first.pk).update(approval_id="imported")


def _again(first: Approval, state: str, call: str) -> None:
    """The same call once more, asked by a rule that takes nothing once more."""
    later = factories.make_approval(first.session, tool=factories.asking(Ask()))
    Approval.objects.filter(pk=later.pk).update(
        state=state, decided_at=None if state == "pending" else timezone.now()
    )
    ToolCall.objects.filter(approval=later).update(state=call)


def _denied_since(first: Approval) -> None:
    _again(first, "denied", "denied")


def _unanswered_since(first: Approval) -> None:
    _again(first, "expired", "denied")


def _before_somebody_now(first: Approval) -> None:
    _again(first, "pending", "awaiting-approval")


def _unknown_since(first: Approval) -> None:
    _again(first, "granted", "unknown")


def _running_since(first: Approval) -> None:
    _again(first, "granted", "running")


def _ended_since(first: Approval) -> None:
    _again(first, "granted", "failed")


def _of_an_account_that_is_blocked(first: Approval) -> None:
    User.objects.filter(pk=first.decisions.get().by_user_id).update(is_active=False)


def _nothing(first: Approval) -> None:
    pass


@pytest.mark.parametrize(
    ("change", "state"),
    [
        (_nothing, "granted"),
        (_older, "pending"),
        (_of_another_agent, "pending"),
        (_from_a_file, "pending"),
        (_of_unknown_end, "pending"),
        (_by_a_rule, "pending"),
        (_by_another_rule_than_now, "pending"),
        (_denied_since, "pending"),
        (_unanswered_since, "pending"),
        (_before_somebody_now, "pending"),
        (_unknown_since, "pending"),
        (_running_since, "pending"),
        (_ended_since, "granted"),
        (_of_an_account_that_is_blocked, "pending"),
    ],
)
def test_only_a_persons_recent_approval_with_a_known_end_is_taken_once_more(
    change: Callable[[Approval], None], state: str
) -> None:
    ada = factories.make_principal(factories.make_user())
    first = asked(Ask(), ada)
    decide(first.approval_id, "granted", ada)
    ToolCall.objects.filter(approval=first).update(state="succeeded")
    change(first)

    again = factories.make_approval(first.session, tool=factories.asking(Ask(reuse_within=600)))
    elsewhere = factories.make_approval(
        factories.make_session(ada), tool=factories.asking(Ask(reuse_within=600))
    )

    assert (again.state, elsewhere.state) == (state, "pending")


def test_nothing_is_taken_once_more_that_was_approved_by_somebody_who_may_no_more() -> None:
    ada, maria = factories.make_principal(factories.make_user()), manager("maria")
    with_a_group = Ask([MANAGERS], reuse_within=600)
    session = factories.make_session(ada)

    def once_more() -> str:
        approval = factories.make_approval(session, tool=factories.asking(with_a_group))
        if approval.state == "pending":
            decide(approval.approval_id, "granted", maria)
        ToolCall.objects.filter(approval=approval).update(state="succeeded")
        return approval.state

    assert [once_more(), once_more()] == ["pending", "granted"]
    maria.user.groups.clear()
    assert factories.make_approval(session, tool=factories.asking(with_a_group)).state == "pending"


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [
        # One number in JSON, however it is spelled.
        ({"amount": 1}, {"amount": 1.0}, "granted"),
        ({"amount": 1}, {"amount": True}, "pending"),
        ({"amount": 1}, {"amount": "1"}, "pending"),
        # Two texts that look alike: "é" as one character and as two.
        ({"note": "caf\u00e9"}, {"note": "cafe\u0301"}, "pending"),
        ({"note": "a\u00a0b"}, {"note": "a b"}, "pending"),
        ({"note": ""}, {}, "pending"),
    ],
)
def test_what_only_looks_like_the_same_call_is_asked_again(
    first: dict[str, Any], second: dict[str, Any], state: str
) -> None:
    ada = factories.make_principal(factories.make_user())
    tool = factories.asking(Ask(reuse_within=600))
    session = factories.make_session(ada)
    earlier = factories.make_approval(session, {"order": "A17", **first}, tool=tool)
    decide(earlier.approval_id, "granted", ada)
    ToolCall.objects.filter(approval=earlier).update(state="succeeded")

    assert factories.make_approval(session, {"order": "A17", **second}, tool=tool).state == state


def test_what_somebody_had_the_right_to_approve_stays_approved() -> None:
    """A decision is what it was when it was made. Whoever wants it undone denies, which one person can."""
    ada, maria, otto = factories.make_principal(factories.make_user()), manager("maria"), manager("otto")
    approval = asked(Ask([MANAGERS], needed=2), ada)
    decide(approval.approval_id, "granted", maria)
    maria.user.groups.clear()

    with pytest.raises(NotFound):
        decide(approval.approval_id, "denied", maria)
    decide(approval.approval_id, "granted", otto)

    assert stands(approval)[0] == "granted"
    assert [one.role for one in approval.decisions.all()] == ["group:Travel managers"] * 2


# -- what comes along --------------------------------------------------------------------------------------------


def test_arguments_that_come_along_with_a_decision_are_ignored_and_logged() -> None:
    ada = factories.make_principal(factories.make_user())
    approval = asked(Ask(), ada)

    decide(approval.approval_id, "granted", ada, sent={"args": {"amount": 4000}})

    approval.refresh_from_db()
    assert approval.args == approval.tool_call.args == {"order": "A17", "amount": 40.0, "note": ""}
    (row,) = factories.log_of(approval.session, "edit-ignored")
    assert row.data["sent"] == {"args": {"amount": 4000}} and row.audience == "audit"
    assert misfits([row.as_row()]) == []
