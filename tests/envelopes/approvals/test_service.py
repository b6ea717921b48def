"""Deciding approvals: the shared cases as far as the service is concerned, with real threads on a real database."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from envelopes.access import NOBODY, Principal
from envelopes.approvals.asking import ask
from envelopes.approvals.service import decide, expire_due
from envelopes.errors import (
    AlreadyDecided,
    BeachError,
    Expired,
    Forbidden,
    NotFound,
    TransitionRefused,
    ValidationFailed,
)
from envelopes.log.append import writing
from envelopes.log.digest import call_digest
from envelopes.models import Approval, Session, ToolCall, Turn
from envelopes.registries.doors import Door, doors
from envelopes.signals import approval_decided
from tests import factories, shared


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


@pytest.fixture
def ada(db: None) -> Principal:
    return factories.make_principal(factories.make_user("ada"))


def at_once(*attempts: Callable[[], object]) -> list[str]:
    """Run all in threads of their own, released together; returns ``ok`` or the error's code for each."""
    barrier = threading.Barrier(len(attempts))
    outcomes = [""] * len(attempts)

    def run(number: int, attempt: Callable[[], object]) -> None:
        try:
            barrier.wait(10)
            attempt()
            outcomes[number] = "ok"
        except BeachError as error:
            outcomes[number] = error.code
        finally:
            connection.close()

    threads = [
        threading.Thread(target=run, args=(number, attempt)) for number, attempt in enumerate(attempts)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return outcomes


def decisions(session: Session) -> list[dict[str, Any]]:
    """The decisions that stand in the log."""
    return [
        row.data["part"]["data"]
        for row in factories.log_of(session, "part")
        if row.part_type == "approval-response"
    ]


def resumes(session: Session) -> int:
    rows = factories.log_of(session, "turn")
    return sum(row.data["status"] == "queued" and row.data["reason"] == "approval" for row in rows)


# -- one winner --------------------------------------------------------------------------------------------------


def race(ada: Principal, attempts: list[dict[str, Any]]) -> tuple[Approval, list[str], Counter[str]]:
    session = factories.make_session(ada)
    approval = factories.make_approval(session, {"order": "A17", "amount": 40, "note": ""})
    heard: Counter[str] = Counter()

    def hear(state: str, **_: Any) -> None:
        heard[state] += 1

    approval_decided.connect(hear)
    try:
        outcomes = at_once(
            *(lambda one=one: decide(approval.approval_id, who=ada, **one) for one in attempts)
        )
    finally:
        approval_decided.disconnect(hear)
    approval.refresh_from_db()
    return approval, outcomes, heard


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "attempts",
    [
        pytest.param([{"decision": "granted"}] * 8, id="grant_twice_at_once"),
        pytest.param([{"decision": "granted"}, {"decision": "denied"}] * 4, id="grant_and_deny_at_once"),
        pytest.param(
            [{"decision": "granted", "source": source} for source in ("chat", "admin", "policy")],
            id="chat_and_admin_and_email",
        ),
    ],
)
def test_concurrent_decisions_have_one_winner(ada: Principal, attempts: list[dict[str, Any]]) -> None:
    approval, outcomes, heard = race(ada, attempts)

    assert Counter(outcomes) == {"ok": 1, "already_decided": len(attempts) - 1}
    winner = attempts[outcomes.index("ok")]["decision"]
    assert approval.state == winner
    assert (
        ToolCall.objects.get(pk=approval.tool_call_id).state
        == {"granted": "approved", "denied": "denied"}[winner]
    )
    assert [decision["decision"] for decision in decisions(approval.session)] == [winner]
    assert resumes(approval.session) == 1
    assert heard == {winner: 1}
    # Every loser is on record, and the log has no gap.
    assert len(factories.log_of(approval.session, "late-decision")) == len(attempts) - 1
    assert [row.seq for row in factories.log_of(approval.session)] == list(
        range(1, Session.objects.get(pk=approval.session_id).last_seq + 1)
    )


@pytest.mark.django_db(transaction=True)
def test_the_sweep_and_a_click_at_once(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada), expires_after=-1)

    outcomes = at_once(lambda: decide(approval.approval_id, "granted", ada), expire_due, expire_due)

    assert outcomes == ["expired", "ok", "ok"]
    assert [decision["reason"] for decision in decisions(approval.session)] == ["expired"]
    assert resumes(approval.session) == 1


@pytest.mark.django_db(transaction=True)
def test_answers_to_several_questions_at_once_resume_once(ada: Principal) -> None:
    session = factories.make_session(ada)
    approvals = factories.make_approvals(
        factories.make_turn(session), *({"order": f"A{n}"} for n in range(5))
    )

    outcomes = at_once(*(lambda one=one: decide(one.approval_id, "granted", ada) for one in approvals))

    assert outcomes == ["ok"] * 5
    assert resumes(session) == 1
    assert Turn.objects.get(session=session).status == "queued"


def test_grant_after_deny_keeps_the_reason(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    decide(approval.approval_id, "denied", ada, reason="wrong order")

    with pytest.raises(AlreadyDecided, match="You already denied this") as refused:
        decide(approval.approval_id, "granted", ada)

    approval.refresh_from_db()
    assert (approval.state, approval.reason) == ("denied", "wrong order")
    assert refused.value.facts["reason"] == "wrong order" and refused.value.facts["decidedAt"]
    assert ToolCall.objects.get(pk=approval.tool_call_id).state == "denied"


def test_deny_after_grant_changes_nothing(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    decide(approval.approval_id, "granted", ada)

    with pytest.raises(AlreadyDecided, match="You already approved this"):
        decide(approval.approval_id, "denied", ada, reason="no!")

    approval.refresh_from_db()
    assert (approval.state, approval.reason) == ("granted", "")


def test_a_loser_never_reads_a_stored_key(db: None) -> None:
    visitor, _ = factories.make_visitor()
    approval = factories.make_approval(factories.make_session(visitor))
    decide(approval.approval_id, "granted", visitor)

    with pytest.raises(AlreadyDecided) as refused:
        decide(
            approval.approval_id,
            "granted",
            factories.make_principal(factories.make_user(superuser=True)),
            source="admin",
        )

    assert refused.value.message == "This was already approved by the visitor."


# -- late --------------------------------------------------------------------------------------------------------


def test_late_clicks_are_reported_honestly_and_recorded(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada), expires_after=60)
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(minutes=29))

    for decision, reason in (("granted", ""), ("denied", "suspicious")):
        with pytest.raises(Expired, match="Nothing ran"):
            decide(approval.approval_id, decision, ada, reason=reason)

    approval.refresh_from_db()
    assert (approval.state, approval.decided_by, approval.decided_by_user) == (
        "expired",
        "policy:expiry",
        None,
    )
    late = [row.data for row in factories.log_of(approval.session, "late-decision")]
    assert [(row["by"], row["decision"], row["reason"]) for row in late] == [
        (ada.key, "granted", ""),
        (ada.key, "denied", "suspicious"),
    ]
    assert all(row.audience == "audit" for row in factories.log_of(approval.session, "late-decision"))
    response = decisions(approval.session)
    assert [(row["decision"], row["decidedBy"], row["reason"]) for row in response] == [
        ("denied", "policy:expiry", "expired")
    ]
    assert ToolCall.objects.get(pk=approval.tool_call_id).state == "denied"
    assert Turn.objects.get(pk=approval.turn_id).status == "queued"


def test_the_sweep_expires_what_is_due_and_nothing_else(ada: Principal) -> None:
    session = factories.make_session(ada)
    due, later, never = (
        factories.make_approval(session, expires_after=seconds) for seconds in (-1, 3600, None)
    )

    assert (expire_due(), expire_due()) == (1, 0)

    states = {one.pk: Approval.objects.get(pk=one.pk).state for one in (due, later, never)}
    assert states == {due.pk: "expired", later.pk: "pending", never.pk: "pending"}
    assert expire_due(timezone.now() + timedelta(days=365)) == 1


# -- to whom -----------------------------------------------------------------------------------------------------


def test_only_those_who_may(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    viewer = factories.make_user(staff=True, permissions=["view_session", "view_approval"])
    visitor, _ = factories.make_visitor()
    attempts = {
        "viewer": factories.make_principal(viewer),
        "stranger": factories.make_principal(factories.make_user()),
    }
    attempts |= {"nobody": NOBODY, "visitor": visitor}
    refused: dict[str, type[BeachError]] = {}
    for name, who in attempts.items():
        with pytest.raises(BeachError) as error:
            decide(approval.approval_id, "granted", who)
        refused[name] = type(error.value)

    assert refused == {"viewer": Forbidden, "stranger": NotFound, "nobody": NotFound, "visitor": NotFound}
    approval.refresh_from_db()
    assert approval.state == "pending"
    assert not decisions(approval.session) and not factories.log_of(approval.session, "late-decision")


def test_an_unknown_id_and_a_foreign_one_get_the_same_answer(ada: Principal) -> None:
    foreign = factories.make_approval(factories.make_session())
    said = set()
    for approval_id in (foreign.approval_id, "ap-1", "", foreign.approval_id.upper()):
        with pytest.raises(NotFound) as refused:
            decide(approval_id, "granted", ada)
        said.add(str(refused.value.as_dict()))

    assert len(said) == 1


def test_staff_decide_by_their_name_and_are_recorded(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    jonas = factories.make_user("jonas", staff=True, permissions=["decide_approval"])

    decide(approval.approval_id, "denied", factories.make_principal(jonas), reason="r" * 600, source="admin")

    approval.refresh_from_db()
    assert (approval.decided_by_user, approval.decided_by, approval.source) == (
        jonas,
        f"user:{jonas.pk}",
        "admin",
    )
    assert len(approval.reason) == 512
    row = next(
        row for row in factories.log_of(approval.session, "part") if row.part_type == "approval-response"
    )
    assert row.data["part"]["metadata"]["decidedByName"] == "jonas"


@pytest.mark.parametrize("word", ["yes", "", "GRANTED", "expired", "pending"])
def test_another_word_is_no_decision(ada: Principal, word: str) -> None:
    approval = factories.make_approval(factories.make_session(ada))

    with pytest.raises(ValidationFailed):
        decide(approval.approval_id, word, ada)

    approval.refresh_from_db()
    assert approval.state == "pending"


# -- several -----------------------------------------------------------------------------------------------------


def test_each_answer_goes_to_its_question(ada: Principal) -> None:
    session = factories.make_session(ada)
    turn = factories.make_turn(session)
    one, two, three = factories.make_approvals(
        turn, {"order": "A1", "amount": 1}, {"order": "A2", "amount": 2}, {"order": "A1", "amount": 1}
    )

    def stands() -> tuple[str, list[str]]:
        states = [Approval.objects.get(pk=approval.pk).state for approval in (one, two, three)]
        return Turn.objects.get(pk=turn.pk).status, states

    decide(two.approval_id, "denied", ada)
    assert stands() == ("suspended", ["pending", "denied", "pending"])
    decide(three.approval_id, "granted", ada)
    assert stands() == ("suspended", ["pending", "denied", "granted"])
    assert resumes(session) == 0
    decide(one.approval_id, "granted", ada)
    assert stands() == ("queued", ["granted", "denied", "granted"])
    assert resumes(session) == 1
    # A denial without a reason is complete.
    assert "reason" not in decisions(session)[0]


def test_equal_arguments_asked_again_are_another_attempt(ada: Principal) -> None:
    session = factories.make_session(ada)
    first = factories.make_approval(session, {"order": "A1", "amount": 1})
    decide(first.approval_id, "granted", ada)
    second = factories.make_approval(session, {"amount": 1, "order": "A1"})

    assert (first.attempt, second.attempt) == (1, 2)
    assert first.digest == second.digest
    assert second.state == "pending" and second.approval_id != first.approval_id


# -- exactly what was shown --------------------------------------------------------------------------------------


def test_the_question_keeps_what_was_asked_whatever_happens_to_the_arguments(ada: Principal) -> None:
    args = {"order": "A17", "amount": 40}
    approval = factories.make_approval(factories.make_session(ada), args)
    args["amount"] = 4000

    approval.refresh_from_db()
    assert approval.args == approval.tool_call.args == {"order": "A17", "amount": 40}
    assert (
        approval.digest
        == call_digest("refund", {"amount": 40, "order": "A17"})
        != call_digest("refund", args)
    )


def test_one_call_is_asked_about_once(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))

    with pytest.raises(TransitionRefused), writing(approval.session_id) as writer:
        ask(writer, approval.turn, approval.tool_call, factories.make_tool())

    assert Approval.objects.count() == 1


def test_a_tool_without_a_policy_cannot_be_asked_about(ada: Principal) -> None:
    turn = factories.make_turn(factories.make_session(ada))
    call = factories.make_call(turn)

    with pytest.raises(ValidationFailed), writing(turn.session_id) as writer:
        ask(writer, turn, call, factories.make_tool(approval=None))


def test_the_question_stands_in_the_log_with_exactly_its_fields(ada: Principal) -> None:
    session = factories.make_session(ada)
    approval = factories.make_approval(session, expires_after=900)
    row = next(row for row in factories.log_of(session, "part") if row.part_type == "approval-request")

    part = row.data["part"]
    assert set(part["data"]) == {
        "approvalId", "toolName", "toolCallId", "args", "handler", "turn", "session", "expiresAt"
    }  # fmt: skip
    assert part["data"]["session"] == session.public_id and part["data"]["turn"] == approval.turn.public_id
    assert part["metadata"]["digest"] == approval.digest and part["metadata"]["question"] == approval.question
    assert row.data["turnState"] == "suspended"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"amount": 40}, {"amount": 40.0}),
        ({"amount": 1e3}, {"amount": 1000}),
        ({"a": 1, "b": {"d": 1, "c": 2}}, {"b": {"c": 2, "d": 1}, "a": 1}),
        ({"amount": -0.0}, {"amount": 0}),
    ],
)
def test_the_spelling_of_a_number_is_no_difference(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert call_digest("refund", one) == call_digest("refund", other)


@pytest.mark.parametrize(
    "other", [{"amount": "40"}, {"amount": 40.01}, {"amount": [40]}, {"amount": True}, {"amount": None}, {}]
)
def test_another_value_is_another_call(other: dict[str, Any]) -> None:
    assert call_digest("refund", {"amount": 40}) != call_digest("refund", other)
    assert call_digest("refund", {"amount": 40}) != call_digest("transfer", {"amount": 40})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 2**60])
def test_a_number_that_cannot_be_written_exactly_is_refused(number: float) -> None:
    with pytest.raises(ValidationFailed):
        call_digest("refund", {"amount": number})


@shared.needs_shared
def test_every_variant_of_the_case_of_concurrent_decisions_is_covered_here() -> None:
    case = shared.case("approvals/ap-concurrent-decisions-one-winner.yaml")

    assert set(case["input"]["variants"]) == {
        "grant_twice_at_once",
        "grant_and_deny_at_once",
        "chat_and_admin_and_email",
        "grant_after_deny",
        "deny_after_grant",
    }


@pytest.mark.django_db
def test_a_decision_comes_through_a_door_that_is_registered(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))

    with pytest.raises(ValidationFailed) as refused:
        decide(approval.approval_id, "granted", ada, source="email")
    elsewhere = ("link", "mail", "webhook", "slack", "whatsapp")
    assert refused.value.facts["allowed"] == ("chat", "admin", "policy", *elsewhere, "http")
    approval.refresh_from_db()
    assert approval.state == "pending"

    with doors.including(Door("email", "by email")):
        assert decide(approval.approval_id, "granted", ada, source="email").source == "email"
