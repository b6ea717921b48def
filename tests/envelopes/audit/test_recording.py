"""What the decision log records: the same in every door, with the transaction of what it records."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.admin.models import LogEntry
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from envelopes import audit
from envelopes.access import Principal
from envelopes.approvals.editing import edit
from envelopes.approvals.service import decide, expire_due
from envelopes.errors import AlreadyDecided, Forbidden
from envelopes.intake.turns import post_decision
from envelopes.log.append import writing
from envelopes.models import Approval, AuditEntry, ToolCall
from envelopes.providers.scripted import Call, ScriptedProvider
from envelopes.turns.outcomes import Outcome, record_outcome
from tests import factories
from tests.desk import replies
from tests.envelopes.admin.pages import client_of, decider, url
from tests.sockets import Socket, panel

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


@pytest.fixture
def ada() -> Principal:
    return factories.make_principal(factories.make_user("ada"))


@pytest.fixture
def approval(ada: Principal) -> Approval:
    return factories.make_approval(factories.make_session(ada))


def kinds(approval: Approval) -> list[str]:
    found = AuditEntry.objects.filter(approval_id=approval.approval_id).order_by("number")
    return list(found.values_list("kind", flat=True))


def words(approval: Approval, reader: str = "") -> list[str]:
    return [entry.words for entry in audit.history_of(approval, reader)]


def test_a_question_is_recorded_with_who_asked_the_attempt_and_the_digest(approval: Approval) -> None:
    entry = AuditEntry.objects.get()

    assert (entry.kind, entry.who, entry.role) == ("requested", f"agent:{factories.ACTOR}", "agent")
    assert entry.digest == approval.digest and entry.facts["attempt"] == 1
    assert entry.details["question"] == approval.question
    assert entry.session_id == approval.session.public_id
    assert words(approval) == ["Asked by Billing, attempt 1"]


@pytest.mark.parametrize(("door", "told"), [("chat", "in chat"), ("admin", "in the desk")])
def test_a_decision_says_who_in_what_role_through_which_door_and_why(
    approval: Approval, ada: Principal, door: str, told: str
) -> None:
    decide(approval.approval_id, "granted", ada, reason="Go on.", source=door)

    entry = AuditEntry.objects.get(kind="decided")
    assert (entry.who, entry.role, entry.door, entry.reason) == (ada.key, "owner", door, "Go on.")
    assert entry.facts == {"decision": "granted"}
    assert words(approval)[-1] == f"Approved by ada {told}"
    assert words(approval, ada.key)[-1] == f"Approved by you {told}"
    # And in Django's own log, for every door alike, once.
    assert LogEntry.objects.get().get_change_message() == f"Approved {told}. Reason: Go on."


def test_a_guest_who_decides_is_the_visitor_and_stands_in_no_log_of_accounts() -> None:
    guest, _ = factories.make_visitor()
    approval = factories.make_approval(factories.make_session(guest))

    decide(approval.approval_id, "denied", guest)

    assert words(approval)[-1] == "Denied by the visitor in chat"
    assert not LogEntry.objects.exists()


def test_who_comes_too_late_is_recorded_beside_the_decision(approval: Approval, ada: Principal) -> None:
    maria = factories.make_principal(
        factories.make_user("maria", staff=True, permissions=["view_session", "decide_approval"])
    )
    decide(approval.approval_id, "denied", maria, source="admin")
    with pytest.raises(AlreadyDecided):
        decide(approval.approval_id, "granted", ada)

    assert kinds(approval) == ["requested", "decided", "refused"]
    assert AuditEntry.objects.get(kind="decided").role == "permission"
    assert words(approval)[-1] == "Approval by ada came too late; nothing changed"
    assert "Tried to approve this too late" in LogEntry.objects.get(user=ada.user).get_change_message()


def test_who_may_not_decide_is_recorded_and_changes_nothing(approval: Approval) -> None:
    vera = factories.make_principal(factories.make_user("vera", staff=True, permissions=["view_session"]))

    with pytest.raises(Forbidden):
        post_decision(approval.session, vera, "m1", approval.approval_id, "granted")

    entry = AuditEntry.objects.get(kind="refused")
    assert (entry.who, entry.role, entry.facts["code"]) == (vera.key, "viewer", "forbidden")
    assert words(approval)[-1] == "Approval by vera was refused; nothing changed"


def test_what_expires_is_recorded_as_done_by_a_rule() -> None:
    approval = factories.make_approval(factories.make_session(), expires_after=-1)

    expire_due()

    entry = AuditEntry.objects.get(kind="expired")
    assert (entry.who, entry.role, entry.door) == ("policy:expiry", "rule", "policy")
    assert words(approval)[-1] == "Expired before anyone decided"


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Outcome("succeeded", {"refunded": 40}), "Ran and succeeded"),
        (Outcome("failed", error={"code": "x", "message": "No."}), "Failed"),
        (Outcome("unknown", error={"code": "x", "message": "?"}), "Ended without a known outcome"),
    ],
)
def test_the_end_of_an_approved_call_is_recorded(
    approval: Approval, ada: Principal, outcome: Outcome, told: str
) -> None:
    decide(approval.approval_id, "granted", ada)
    ToolCall.objects.filter(pk=approval.tool_call_id).update(state="running")
    with writing(approval.session_id) as writer:
        call = ToolCall.objects.select_related("turn__session").get(pk=approval.tool_call_id)
        record_outcome(writer, call.turn, call, outcome)

    assert kinds(approval) == ["requested", "decided", "executed"]
    assert words(approval)[-1] == told


def test_a_question_is_shown_to_each_person_at_each_door_once(approval: Approval, ada: Principal) -> None:
    bob = factories.make_principal(factories.make_user("bob", staff=True, permissions=["decide_approval"]))

    done = [
        audit.shown(approval, *who) for who in ((ada, "chat"), (ada, "chat"), (bob, "admin"), (ada, "admin"))
    ]

    assert done == [True, False, True, True]
    assert words(approval, bob.key)[1:] == [
        "Shown to ada in chat",
        "Shown to you in the desk",
        "Shown to ada in the desk",
    ]


def test_many_that_were_shown_before_cost_one_look(
    ada: Principal, django_assert_num_queries: Callable[..., Any]
) -> None:
    session = factories.make_session(ada)
    factories.make_approvals(factories.make_turn(session), *({"order": f"A{n}"} for n in range(5)))

    assert audit.shown_in(session, ada, "chat") == 5
    with django_assert_num_queries(2):
        assert audit.shown_in(session, ada, "chat") == 0


def test_the_history_leads_to_a_request_however_it_stands(ada: Principal) -> None:
    with factories.acting(factories.make_tool()):
        approval = factories.make_approval(factories.make_session(ada))
        edited = edit(approval.approval_id, {"order": "A9"}, ada)
    decide(edited.approval_id, "denied", ada)
    client = client_of(factories.make_user(superuser=True))

    page = client.get(url(AuditEntry, "changelist")).content.decode()
    found = set(re.findall(rf'href="({url(Approval, "changelist")}[^"]*q=[^"]*)"', page))

    assert len(found) == 2
    for address in found:
        assert url(approval, "change") in client.get(html.unescape(address)).content.decode()


def test_what_is_decided_is_not_shown_any_more(approval: Approval, ada: Principal) -> None:
    decide(approval.approval_id, "denied", ada)

    assert not audit.shown(Approval.objects.get(pk=approval.pk), ada, "chat")


def test_what_is_not_stored_is_not_recorded(approval: Approval, ada: Principal) -> None:
    with transaction.atomic():
        decide(approval.approval_id, "denied", ada)
        transaction.set_rollback(True)

    assert kinds(approval) == ["requested"]
    assert Approval.objects.get(pk=approval.pk).state == "pending"
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    expire_due()
    assert kinds(approval) == ["requested", "expired"]


def test_the_page_of_the_chat_and_that_of_the_admin_show_it_once(ada: Principal) -> None:
    maria = decider("maria")
    chat = client_of(ada.user)
    scripted = ScriptedProvider(replies([]))
    with factories.acting(factories.make_tool(), name="tester", provider=lambda: scripted):
        approval = factories.make_approval(factories.make_session(ada, actor="tester"))
        for _ in range(2):
            chat.get(reverse("envelopes:session", args=[approval.session.public_id]))
            maria.get(url(approval, "change"))

    assert words(approval)[1:] == ["Shown to ada in chat", "Shown to maria in the desk"]


@pytest.mark.django_db(transaction=True)
async def test_a_question_that_comes_while_somebody_looks_is_recorded_as_shown() -> None:
    script = replies([Call("refund", {"order": "A1", "amount": 1})])
    async with panel(script, factories.make_tool()) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Refund"})
        await socket.until(lambda frame: "data-decide" in str(frame.get("ops")))

        @sync_to_async
        def shown() -> list[tuple[str, str]]:
            return list(AuditEntry.objects.filter(kind="shown").values_list("role", "door"))

        for _ in range(200):
            if found := await shown():
                break
            await asyncio.sleep(0.05)
        await socket.close()

    assert found == [("owner", "chat")]
