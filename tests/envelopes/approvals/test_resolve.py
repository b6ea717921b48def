"""Staff say how a call ended whose outcome nobody knew: once, recorded, told to the person and the agent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from envelopes.access import Principal
from envelopes.approvals import service
from envelopes.approvals.resolve import resolve
from envelopes.errors import AlreadyDecided, BeachError, Conflict, Forbidden, NotFound, ValidationFailed
from envelopes.models import Approval, Injection, Session, ToolCall, Turn
from envelopes.turns.history import opening_messages
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


@pytest.fixture
def staff() -> Principal:
    return factories.make_principal(factories.make_user("jonas", staff=True, permissions=["decide_approval"]))


def unknown_call(session: Session | None = None) -> ToolCall:
    """A granted call that was cut off."""
    owner = factories.make_user()
    approval = factories.make_approval(session or factories.make_session(owner), expires_after=None)
    Approval.objects.filter(pk=approval.pk).update(state="granted")
    Turn.objects.filter(pk=approval.turn_id).update(status="waiting")
    ToolCall.objects.filter(pk=approval.tool_call_id).update(
        state="unknown", error={"code": "outcome_unknown"}
    )
    return ToolCall.objects.get(pk=approval.tool_call_id)


@pytest.mark.parametrize("outcome", ["succeeded", "failed"])
def test_the_call_the_card_the_audit_and_the_agent_hear_of_it(outcome: str, staff: Principal) -> None:
    call = unknown_call()

    resolve(call.pk, outcome, staff, note="The bank shows it.")

    call.refresh_from_db()
    assert call.state == outcome and call.finished_at is not None
    assert "The bank shows it." in str(call.result if outcome == "succeeded" else call.error)
    result, told = (
        factories.log_of(call.session, "tool-result")[-1],
        factories.log_of(call.session, "tool")[-1],
    )
    assert result.audience == "audit" and result.data["resolvedBy"] == staff.key
    assert told.data["state"] == outcome and told.data["approvalId"] == call.approval.approval_id
    assert "The bank shows it." in str(told.data)
    injection = Injection.objects.get(turn=call.turn)
    assert injection.data["callId"] == call.call_id and "The bank shows it." in str(injection.data["payload"])
    assert Turn.objects.get(pk=call.turn_id).status == "queued"


def test_a_settled_turn_is_not_woken_and_the_next_one_reads_of_it(staff: Principal) -> None:
    call = unknown_call()
    factories.settle_turn(call.turn)

    resolve(call.pk, "succeeded", staff, note="Seen.")

    assert not Injection.objects.exists()
    assert Turn.objects.count() == 1
    following = Turn.objects.select_related("session").get(pk=factories.make_turn(call.session).pk)
    assert f"[Staff found out that {call.name} has succeeded: Seen.]" in str(opening_messages(following))
    assert factories.log_of(call.session, "tool")[-1].data["state"] == "succeeded"


def test_a_call_without_approval_has_no_card(staff: Principal) -> None:
    call = factories.make_call(factories.make_turn(factories.make_session()), state="unknown")

    resolve(call.pk, "failed", staff, note="Seen.")

    assert not factories.log_of(call.session, "tool")
    assert len(factories.log_of(call.session, "tool-result")) == 1


def test_only_once(staff: Principal) -> None:
    call = unknown_call()
    resolve(call.pk, "failed", staff, note="First.")
    seq = Session.objects.get(pk=call.session_id).last_seq

    with pytest.raises(AlreadyDecided):
        resolve(call.pk, "succeeded", staff, note="Second.")

    call.refresh_from_db()
    assert call.state == "failed"
    assert Session.objects.get(pk=call.session_id).last_seq == seq


@pytest.mark.parametrize("state", ["requested", "running", "awaiting-approval", "denied"])
def test_only_what_is_unknown(state: str, staff: Principal) -> None:
    call = factories.make_call(factories.make_turn(factories.make_session()), state=state)

    with pytest.raises(Conflict, match="unknown"):
        resolve(call.pk, "failed", staff, note="Seen.")


@pytest.mark.parametrize(
    ("outcome", "note"), [("unknown", "x"), ("", "x"), ("failed", " "), ("failed", "x" * 513)]
)
def test_bad_input_changes_nothing(outcome: str, note: str, staff: Principal) -> None:
    call = unknown_call()

    with pytest.raises(ValidationFailed):
        resolve(call.pk, outcome, staff, note=note)

    assert ToolCall.objects.get(pk=call.pk).state == "unknown"


def test_who_may(staff: Principal) -> None:
    owner = factories.make_user()
    call = unknown_call(factories.make_session(owner))
    viewer = factories.make_user(staff=True, permissions=["view_session"])
    refused: dict[str, type[BeachError]] = {}
    for name, user in {"owner": owner, "viewer": viewer, "stranger": factories.make_user()}.items():
        with pytest.raises(BeachError) as error:
            resolve(call.pk, "failed", factories.make_principal(user), note="Seen.")
        refused[name] = type(error.value)

    assert refused == {"owner": Forbidden, "viewer": Forbidden, "stranger": NotFound}
    with pytest.raises(NotFound):
        resolve(0, "failed", staff, note="Seen.")


def test_nobody_decides_it_through_the_approval(staff: Principal) -> None:
    call = unknown_call()

    with pytest.raises(AlreadyDecided):
        service.decide(call.approval.approval_id, "denied", staff)

    assert ToolCall.objects.get(pk=call.pk).state == "unknown"
