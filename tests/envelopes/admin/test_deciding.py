"""Decisions in the admin, from the page to the row, with an honest answer to every click."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group as DjangoGroup
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from pydantic import BaseModel, Field

from envelopes import audit
from envelopes.admin import deciding
from envelopes.approvals.editing import edit
from envelopes.approvals.service import decide
from envelopes.errors import AlreadyDecided
from envelopes.models import Approval, AuditEntry, Session, ToolCall, Turn
from envelopes.records.erasing import erase_conversation
from envelopes.registries.policies import Ask, Group
from envelopes.registries.shown import Shown
from envelopes.registries.tools import ApprovalPolicy
from tests import factories
from tests.envelopes.admin.pages import client_of, decider, parsed, said, text_of, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def jonas() -> Client:
    return decider("jonas")


@pytest.fixture
def approval() -> Approval:
    return factories.make_approval(factories.make_session(), {"order": "A17", "amount": 40, "note": ""})


def post(client: Client, approval: Approval, decision: str, reason: str = "") -> Any:
    data = {"asked_as": approval.approval_id, "decision": decision, "reason": reason}
    return client.post(url(approval, "decide"), data, follow=True)


def stored(approval: Approval) -> Approval:
    return Approval.objects.get(pk=approval.pk)


def late(approval: Approval) -> list[dict[str, Any]]:
    return [row.data for row in factories.log_of(approval.session, "late-decision")]


# -- the page ----------------------------------------------------------------------------------------------------


def test_the_page_shows_what_will_run_and_two_equal_buttons(jonas: Client, approval: Approval) -> None:
    html = jonas.get(url(approval, "change")).content
    text = text_of(html)

    for word in (
        "Pay 40 back for order A17?",
        "refund",
        "Order",
        "A17",
        "Amount",
        "40",
        "High",
        " ".join(approval.digest[at : at + 8] for at in range(0, 64, 8)),
    ):
        assert word in text
    form = next(form for form in parsed(html).iter("form") if form.get("action") == url(approval, "decide"))
    buttons = list(form.iter("button"))
    assert [(button.get("value"), button.get("class")) for button in buttons] == [
        ("denied", "a2-btn"),
        ("granted", "a2-btn a2-btn--soft"),
    ]
    # Initial focus on the least permissive button, and on no other element (D23).
    assert [
        element.get("value") for element in parsed(html).iter() if element.get("autofocus") is not None
    ] == ["denied"]
    # Enter in the reason writes a line; it decides nothing.
    assert [field.get("name") for field in form.iter("textarea")] == ["reason"]


def test_who_asks_for_whom_where_and_how_long_stands_above_the_buttons(jonas: Client) -> None:
    session = factories.make_session(title="Order A17 came broken")
    approval = factories.make_approval(session, expires_after=600)
    page = jonas.get(url(approval, "change")).content
    asks = next(element for element in parsed(page).iter("dl") if element.get("class") == "dk-asks")
    told = {"".join(pair[0].itertext()): "".join(pair[1].itertext()) for pair in asks}
    assert list(told) == ["Asked by", "On behalf of", "May decide", "Expires"]
    assert told["May decide"] == "The person in this conversation or staff who approve"
    assert told["Expires"].endswith(", in 9 min")
    html = page.decode()
    places = [
        html.index(f'class="{name}"')
        for name in ("dk-asks", "b-approval__ask", "b-facts", "b-approval__btns")
    ]
    assert places == sorted(places)


def test_the_card_is_the_chats(jonas: Client) -> None:
    args = {"order": "A17", "amount": 40, "note": "x" * 900, "odd": 1}
    approval = factories.make_approval(factories.make_session(), args)
    page = parsed(jonas.get(url(approval, "change")).content)
    (card,) = (element for element in page.iter() if element.get("class") == "b-approval")
    assert card.get("data-state") == "pending"
    parts = [element.get("class") for element in card.iter() if str(element.get("class")).startswith("b-")]
    order = [
        "b-approval__head",
        "b-approval__ask",
        "b-approval__why",
        "b-facts",
        "b-exact",
        "b-approval__dock",
    ]
    assert [name for name in parts if name in order] == [*order[:4], "b-facts", *order[4:]]
    # What is too long to show whole stands open: nothing has to be unfolded, with script or without.
    (long,) = (element for element in card.iter("details") if element.get("class") == "b-long")
    assert long.get("open") is not None


def test_x2_the_list_shows_both_ends_and_counts_blanks(jonas: Client) -> None:
    args = {"order": "ls" + " " * 300 + "; rm -rf /", "amount": 1, "note": "a\u00a0b" + "c" * 300 + "end"}
    approval = factories.make_approval(factories.make_session(), args)
    page = parsed(jonas.get(url(Approval, "changelist")).content)
    fold = next(element for element in page.iter("details") if "adm-args" in (element.get("class") or ""))
    line = " ".join(" ".join(fold[0].itertext()).split())
    assert "ls 300 blanks ; rm -rf /" in line
    assert "a no-break space b" in line and line.count("more characters") == 1
    assert "end" in line
    assert approval.tool_name in text_of(jonas.get(url(Approval, "changelist")).content)


def test_no_value_of_the_list_passes_for_another_argument(jonas: Client) -> None:
    args = {"to": "Ann, amount: 5", "amount": 4000, "\u05d0": "\u05d1"}
    with factories.acting(factories.make_tool()):
        factories.make_approval(factories.make_session(), args)
        page = parsed(jonas.get(url(Approval, "changelist")).content)
    fold = next(element for element in page.iter("details") if "adm-args" in (element.get("class") or ""))
    pieces = [(piece.tag, piece.get("dir"), "".join(piece.itertext())) for piece in fold[0]]
    shown = {"to": "Ann, amount: 5", "Amount": "4000", "\u05d0": "\u05d1"}
    assert pieces[::2] == [("b", "auto", name) for _, _, name in pieces[::2]]
    # What the tool declares has a title; a key that was only sent is set as code, and passes for none.
    codes = ["".join(code.itertext()) for code in fold[0].iter("code")]
    assert sorted(codes) == ["to", "\u05d0"]
    assert {name: value for (_, _, name), value in zip(pieces[::2], pieces[1::2], strict=True)} == {
        name: ("span", "auto", value) for name, value in shown.items()
    }


def test_the_list_says_what_would_run_in_the_words_of_the_card(jonas: Client) -> None:
    class Booking(BaseModel):
        total: Annotated[int, Shown(currency="EUR"), Field(title="Total")]
        seats: Annotated[list[str], Field(title="Seats")]
        refundable: bool = Field(default=False, title="Can be given back")

    tool = factories.make_tool("book", input=Booking, approval=ApprovalPolicy(question=lambda args: "Book?"))
    with factories.acting(tool):
        args = {"total": 1200, "seats": ["A1", "A2"], "by": {"name": "Ada"}, "k" * 200: "x" * 900}
        approval = factories.make_approval(factories.make_session(), args, tool=tool)
        page = parsed(jonas.get(url(Approval, "changelist")).content)
        card = parsed(jonas.get(url(approval, "change")).content)

    fold = next(element for element in page.iter("details") if "adm-args" in (element.get("class") or ""))
    line = " ".join("".join(fold[0].itertext()).split())
    assert line.startswith("Total: €1,200.00, Seats: A1 · A2, by, name: Ada, kkk")
    assert len(line) < 300 and "Can be given back" not in line
    rows, asked = (
        [
            "".join(row[0].itertext())
            for one in where.iter("dl")
            if one.get("class") == "b-facts"
            for row in one
        ]
        for where in (fold, card)
    )
    assert rows == asked and "Can be given back" in rows


def test_x8_what_a_question_hides_is_named_wherever_staff_decide(jonas: Client) -> None:
    question = "Pay\u202e Eve\u00a0now?"
    tool = factories.make_tool()
    assert tool.approval is not None
    tool = replace(tool, approval=replace(tool.approval, question=lambda args: question))
    approval = factories.make_approval(factories.make_session(), tool=tool)
    asked = "Pay right-to-left override Eve no-break space now?".replace(" ", "")
    for page in (url(approval, "change"), url(Approval, "changelist")):
        assert asked in text_of(jonas.get(page).content).replace(" ", "")
    chosen = {"action": "deny_selected", "_selected_action": [approval.pk]}
    response = jonas.post(url(Approval, "changelist"), chosen)
    assert asked in text_of(response.content).replace(" ", "")


def test_a_decided_one_offers_no_decision(jonas: Client, approval: Approval) -> None:
    post(jonas, approval, "denied", "No.")
    html = jonas.get(url(approval, "change")).content

    assert not [form for form in parsed(html).iter("form") if form.get("action") == url(approval, "decide")]
    assert "jonas" in text_of(html) and "No." in text_of(html)


# -- one decision ------------------------------------------------------------------------------------------------


def test_approve(jonas: Client, approval: Approval) -> None:
    response = post(jonas, approval, "granted", "  Checked with the shop.  ")

    done = stored(approval)
    assert (done.state, done.reason, done.source) == ("granted", "Checked with the shop.", "admin")
    assert done.decided_by_user == User.objects.get(username="jonas")
    assert ToolCall.objects.get(pk=approval.tool_call_id).state == "approved"
    assert Turn.objects.get(pk=approval.turn_id).status == "queued"
    assert "Approved. It will run once. The agent will continue." in said(response)
    entry = LogEntry.objects.get()
    assert entry.object_id == str(approval.pk) and "Approved in the desk" in entry.get_change_message()


def test_deny(jonas: Client, approval: Approval) -> None:
    response = post(jonas, approval, "denied")

    assert stored(approval).state == "denied"
    assert "Denied. Nothing ran." in said(response)
    assert "Denied in the desk." in LogEntry.objects.get().get_change_message()


def test_what_still_waits_is_told(jonas: Client) -> None:
    turn = factories.make_turn(factories.make_session())
    first, _second = factories.make_approvals(turn, {"order": "A1"}, {"order": "A2"})

    assert "1 more request in this turn is waiting." in said(post(jonas, first, "granted"))
    assert Turn.objects.get(pk=turn.pk).status == "suspended"


def test_arguments_sent_along_are_nothing(jonas: Client, approval: Approval) -> None:
    sent = {"decision": "granted", "args": '{"amount": 4000}', "tool_name": "wire"}
    jonas.post(url(approval, "decide"), {"asked_as": approval.approval_id, **sent})

    done = stored(approval)
    assert done.args["amount"] == 40 and done.tool_name == "refund"
    assert done.tool_call.args["amount"] == 40


@pytest.mark.parametrize("data", [{}, {"decision": "yes"}, {"decision": "granted", "reason": "x" * 513}])
def test_bad_input_is_told_and_changes_nothing(
    jonas: Client, approval: Approval, data: dict[str, str]
) -> None:
    data = {"asked_as": approval.approval_id, **data}
    response = jonas.post(url(approval, "decide"), data, follow=True)

    assert said(response)
    assert stored(approval).state == "pending"
    assert not LogEntry.objects.exists()


def test_a_decision_that_names_no_question_that_was_read_is_none(jonas: Client, approval: Approval) -> None:
    other = factories.make_approval(factories.make_session())

    told = said(jonas.post(url(approval, "decide"), {"decision": "granted"}, follow=True))
    sent = {"asked_as": other.approval_id, "decision": "granted"}
    refused = jonas.post(url(approval, "decide"), sent).status_code

    assert ("read it before you decide" in told, refused) == (True, 403)
    assert {stored(one).state for one in (approval, other)} == {"pending"}


@pytest.mark.parametrize("decision", ["granted", "denied"])
def test_a_page_that_was_read_before_the_call_was_edited_decides_nothing(
    jonas: Client, approval: Approval, decision: str
) -> None:
    page = parsed(jonas.get(url(approval, "change")).content)
    form = next(form for form in page.iter("form") if form.get("action") == url(approval, "decide"))
    read = {one.get("name"): one.get("value") for one in form.iter("input") if one.get("type") == "hidden"}
    viola = factories.make_user("viola", staff=True, permissions=["decide_approval"])
    with factories.acting(factories.make_tool()):
        changed = {"order": "A17", "amount": 4000, "note": ""}
        edit(approval.approval_id, changed, factories.make_principal(viola))

    response = jonas.post(url(approval, "decide"), {**read, "decision": decision}, follow=True)

    assert "viola has changed this request. Read it again before you decide." in said(response)
    assert "Your decision was not applied." in said(response)
    assert (stored(approval).state, stored(approval).args["amount"]) == ("pending", 4000)
    assert [row["decision"] for row in late(approval)] == [decision]
    assert post(jonas, stored(approval), decision).status_code == 200
    assert stored(approval).state == decision


# -- too late ----------------------------------------------------------------------------------------------------


def test_somebody_was_faster(jonas: Client, approval: Approval) -> None:
    viola = factories.make_user("viola", staff=True, permissions=["decide_approval"])
    decide(
        approval.approval_id, "denied", factories.make_principal(viola), reason="wrong order", source="admin"
    )

    response = post(jonas, approval, "granted")

    assert "already denied by viola on" in said(response)
    assert "Your decision was not applied." in said(response)
    assert "Approved." not in said(response)
    assert (stored(approval).state, stored(approval).reason) == ("denied", "wrong order")
    assert [(row["decision"], row["source"]) for row in late(approval)] == [("granted", "admin")]


def test_a_visitor_was_faster_and_is_called_that(jonas: Client) -> None:
    visitor, _ = factories.make_visitor()
    approval = factories.make_approval(factories.make_session(visitor))
    decide(approval.approval_id, "granted", visitor)

    response = post(jonas, approval, "denied")

    assert "already approved by the visitor on" in said(response)
    assert "anonymous:" not in said(response)


def test_it_expired(jonas: Client, approval: Approval) -> None:
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    before = text_of(jonas.get(url(approval, "change")).content)

    response = post(jonas, approval, "granted", "please")

    assert "a decision now will be refused" in before
    assert "It expired on" in said(response) and "Nothing ran" in said(response)
    assert stored(approval).state == "expired"
    assert stored(approval).decided_by == "policy:expiry"
    assert [row["decision"] for row in late(approval)] == ["granted"]


HOW_IT_ENDED = ["denied", "granted", "expired"]


def _over(approval: Approval, how: str) -> None:
    if how == "expired":
        Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    else:
        viola = factories.make_user("viola", staff=True, permissions=["decide_approval"])
        decide(approval.approval_id, how, factories.make_principal(viola), source="admin")


@pytest.mark.parametrize("decision", ["granted", "denied"])
def test_s6_a_form_that_is_sent_twice_decides_once_and_nobody_was_late(
    jonas: Client, approval: Approval, decision: str
) -> None:
    first, again = said(post(jonas, approval, decision)), said(post(jonas, approval, decision))

    assert again == first
    assert late(approval) == []
    assert LogEntry.objects.count() == 1


def test_where_the_database_is_not_free_in_time_nothing_is_decided_and_staff_are_told(
    jonas: Client, approval: Approval, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(deciding, "decide", Mock(side_effect=OperationalError("lock timeout")))
        told = said(post(jonas, approval, "granted"))
    assert "Try again in a while. Your decision was not applied." in told
    assert stored(approval).state == "pending"
    assert "It will run once." in said(post(jonas, approval, "granted"))


@pytest.mark.parametrize("how", HOW_IT_ENDED)
def test_x7_a_late_decision_stands_in_the_history_and_in_the_timeline(
    jonas: Client, approval: Approval, how: str
) -> None:
    _over(approval, how)

    response = post(jonas, approval, "granted", "It was checked.")

    (entry,) = LogEntry.objects.filter(object_id=str(approval.pk), user__username="jonas")
    assert entry.get_change_message().startswith("Tried to approve this too late, in the desk.")
    assert "It was checked." in entry.get_change_message()
    history = text_of(jonas.get(url(approval, "history")).content)
    timeline = text_of(jonas.get(url(approval.session, "change")).content)
    assert "Tried to approve this too late" in history
    assert (
        "You tried to approve this too late, in the desk. Nothing changed. Reason: It was checked."
        in timeline
    )
    assert len(late(approval)) == 1
    assert "Your attempt has been recorded." in said(response)
    other = text_of(decider("kim").get(url(approval.session, "change")).content)
    assert "Jonas tried to approve this too late, in the desk." in other


def test_x7_both_are_written_or_neither(
    jonas: Client, approval: Approval, monkeypatch: pytest.MonkeyPatch
) -> None:
    _over(approval, "denied")
    before = len(factories.log_of(approval.session))

    def full(*args: object, **more: object) -> None:
        raise OSError("The disk is full.")

    monkeypatch.setattr(LogEntry.objects, "log_actions", full)
    with pytest.raises(OSError, match="full"):
        post(jonas, approval, "granted")

    assert len(factories.log_of(approval.session)) == before
    assert late(approval) == []


def test_x7_one_that_expires_while_many_are_denied_is_in_both_as_well(jonas: Client) -> None:
    waiting, expired = several(2)
    Approval.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))

    deny(jonas, [waiting, expired], apply="1", reason="No.")

    told = {
        entry.object_id: entry.get_change_message()
        for entry in LogEntry.objects.filter(object_id__in=[str(waiting.pk), str(expired.pk)])
    }
    assert told[str(waiting.pk)] == "Denied in the desk. Reason: No."
    assert told[str(expired.pk)].startswith("Tried to deny this too late, in the desk.")
    assert len(late(expired)) == 1


def test_x7_a_visitor_who_is_late_is_in_the_timeline(jonas: Client) -> None:
    visitor, _ = factories.make_visitor()
    approval = factories.make_approval(factories.make_session(visitor))
    post(jonas, approval, "denied")
    with pytest.raises(AlreadyDecided):
        decide(approval.approval_id, "granted", visitor)

    told = "Visitor tried to approve this too late, in chat. Nothing changed."
    assert told in text_of(jonas.get(url(approval.session, "change")).content)
    history = text_of(jonas.get(url(approval, "history")).content)
    assert told in history
    assert "Asked for approval: Pay 40 back for order A17?" in history
    assert "Denied by you, in the desk." in history


def test_x7_another_approval_of_the_turn_has_a_history_of_its_own(jonas: Client) -> None:
    turn = factories.make_turn(factories.make_session())
    first, second = factories.make_approvals(turn, {"order": "A1"}, {"order": "A2"})
    post(jonas, first, "denied", "Not the first.")

    assert "Not the first." in text_of(jonas.get(url(first, "history")).content)
    other = text_of(jonas.get(url(second, "history")).content)
    assert "Not the first." not in other
    assert "Nothing has been done about this in the desk." in other


def test_a_name_is_told_where_the_owner_was_faster(jonas: Client) -> None:
    visitor, _ = factories.make_visitor()
    approval = factories.make_approval(factories.make_session(visitor))
    decide(approval.approval_id, "granted", visitor)

    assert "already approved by" in said(post(jonas, approval, "granted"))


# -- many denied -------------------------------------------------------------------------------------------------


def deny(client: Client, approvals: list[Approval], **data: str) -> Any:
    """As the page sends it that shows these questions."""
    chosen = {
        "action": "deny_selected",
        "_selected_action": [approval.pk for approval in approvals],
        "asked_as": [approval.approval_id for approval in approvals],
    }
    return client.post(url(Approval, "changelist"), {**chosen, **data}, follow=True)


def several(count: int = 3) -> list[Approval]:
    return [factories.make_approval(factories.make_session(), {"order": f"A{n}"}) for n in range(count)]


def test_many_are_denied_with_one_reason_after_a_page_that_asks(jonas: Client) -> None:
    approvals = several()

    asked = deny(jonas, approvals)
    untouched = [stored(approval).state for approval in approvals]
    done = deny(jonas, approvals, apply="1", reason="Not today.")

    assert "3 requests will be denied; none will run." in text_of(asked.content)
    assert untouched == ["pending"] * 3
    assert "3 requests were denied" in said(done)
    assert {(stored(one).state, stored(one).reason, stored(one).source) for one in approvals} == {
        ("denied", "Not today.", "admin")
    }
    assert LogEntry.objects.count() == 3


def test_what_is_for_others_to_decide_is_left_out_and_said_to_be(jonas: Client) -> None:
    mine = several(2)
    with factories.acting(factories.make_tool()):
        theirs = factories.make_approval(
            factories.make_session(), tool=factories.asking(Ask([Group("Travel managers")]))
        )

    asked = deny(jonas, [*mine, theirs])
    done = deny(jonas, [*mine, theirs], apply="1", reason="Not today.")

    assert "2 requests will be denied; none will run." in text_of(asked.content)
    assert "1 of the selected requests is not yours to decide and will not change." in text_of(asked.content)
    assert "2 requests were denied" in said(done) and "1 is not yours to decide." in said(done)
    assert [stored(one).state for one in [*mine, theirs]] == ["denied", "denied", "pending"]
    # Nobody has tried anything: it was left out.
    assert [entry.kind for entry in audit.history_of(theirs)].count("refused") == 0


def test_many_at_once_are_none_of_the_conversations_own_person(jonas: Client) -> None:
    """Who decides as the owner does so in the chat, one by one or several at once."""
    owner = factories.make_user(staff=True)
    owner.groups.add(DjangoGroup.objects.create(name="Travel managers"))
    with factories.acting(factories.make_tool()):
        own = factories.make_approval(factories.make_session(owner))
        as_member = factories.make_approval(
            factories.make_session(), tool=factories.asking(Ask([Group("Travel managers")]))
        )
    client = client_of(owner)

    done = deny(client, [own, as_member], apply="1", reason="Not today.")

    assert [stored(own).state, stored(as_member).state] == ["pending", "denied"]
    assert "1 is not yours to decide." in said(done)


def test_a_right_that_ends_while_one_decides_is_refused_and_recorded(
    jonas: Client, approval: Approval, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page was asked for with the right; under the lock it is gone."""
    monkeypatch.setattr("envelopes.approvals.rights.right_now", lambda who, approval: None)

    answer = jonas.post(
        url(approval, "decide"), {"decision": "granted", "asked_as": approval.approval_id}, follow=True
    )

    assert "You can view this request but not decide it. Your decision was not applied." in said(answer)
    assert stored(approval).state == "pending"
    tried = AuditEntry.objects.get(approval_id=approval.approval_id, kind="refused")
    assert tried.facts == {"decision": "granted", "code": "forbidden"}


@contextmanager
def _erased_before(session: Session, statement: str) -> Iterator[None]:
    """The conversation goes right before the first statement of that kind."""
    left = [session.pk]

    def wrapped(execute: Any, sql: str, *rest: Any) -> Any:
        if left and sql.startswith(statement):
            erase_conversation(left.pop())
        return execute(sql, *rest)

    with connection.execute_wrapper(wrapped):
        yield
    assert not left


@pytest.mark.parametrize("how", ["decided", "denied", "tried", "tried many"])
def test_one_that_was_erased_behind_the_page_is_told_to_be_gone(
    jonas: Client, approval: Approval, how: str
) -> None:
    """The page was asked for while it was there; under the lock it is gone."""
    vera = factories.make_user("vera", staff=True, permissions=["view_session", "view_approval"])
    client = client_of(vera) if how.startswith("tried") else jonas
    with _erased_before(approval.session, "SAVEPOINT"):
        if how in ("decided", "tried"):
            answer = post(client, approval, "granted")
        else:
            answer = deny(client, [approval], apply="1", reason="No.", asked_as=[approval.approval_id])

    if how == "decided":
        assert "This request does not exist any more. Your decision was not applied." in said(answer)
    elif how == "denied":
        assert "1 could not be denied." in said(answer)
    else:
        assert answer.status_code == 403
    assert not ToolCall.objects.exists()


def test_a_question_that_was_changed_behind_the_page_is_not_denied_unread(jonas: Client) -> None:
    same, edited, unread = several()
    page = deny(jonas, [same, edited])
    read = [
        field.get("value") for field in parsed(page.content).iter("input") if field.get("name") == "asked_as"
    ]
    ada = factories.make_principal(factories.make_user("ada", superuser=True))
    with factories.acting(factories.make_tool()):
        new = edit(edited.approval_id, {"order": "A1", "amount": 7.0, "note": ""}, ada)

    done = deny(jonas, [same, edited, unread], apply="1", reason="No.", asked_as=read)

    assert sorted(read) == sorted([same.approval_id, new.asked_as[0]])
    assert [stored(one).state for one in (same, edited, unread)] == ["denied", "pending", "pending"]
    for told in ("1 request was denied", "1 has been changed since. Read it again", "1 could not be denied"):
        assert told in said(done)


@pytest.mark.parametrize("reason", ["  ", "\u200b\u2060", "\u3164"])
def test_s9_a_reason_that_can_be_read_is_needed(jonas: Client, reason: str) -> None:
    approvals = several(2)

    response = deny(jonas, approvals, apply="1", reason=reason)

    assert "Enter a reason" in text_of(response.content)
    assert {stored(approval).state for approval in approvals} == {"pending"}


def test_those_that_are_decided_stay(jonas: Client) -> None:
    waiting, decided, expired = several()
    post(jonas, decided, "granted")
    Approval.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))

    response = deny(jonas, [waiting, decided, expired], apply="1", reason="No.")

    assert [stored(one).state for one in (waiting, decided, expired)] == ["denied", "granted", "expired"]
    for told in ("1 request was denied", "1 had already been decided", "1 had expired"):
        assert told in said(response)
    # Nobody clicked on the decided one in particular, so no late attempt is on record for it.
    assert (late(decided), len(late(expired))) == ([], 1)


def test_too_many_at_once_is_told(jonas: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "AT_ONCE", 1)
    approvals = several(2)

    response = deny(jonas, approvals, apply="1", reason="No.")

    assert "You can deny at most 1 at once. Nothing was changed." in said(response)
    assert {stored(approval).state for approval in approvals} == {"pending"}


def test_many_approved_at_once_is_not_offered(jonas: Client) -> None:
    approvals = several(2)
    page = jonas.get(url(Approval, "changelist"))

    assert [b.get("value") for b in parsed(page.content).iter("button") if b.get("name") == "action"] == [
        "deny_selected"
    ]
    assert "You can deny several at once" in text_of(page.content)
    for action in ("approve_selected", "grant_selected"):
        response = jonas.post(
            url(Approval, "changelist"),
            {"action": action, "_selected_action": [approvals[0].pk], "apply": "1"},
            follow=True,
        )
        assert "an approval is for one exact call that someone has read" in said(response)
    assert {stored(approval).state for approval in approvals} == {"pending"}


@pytest.mark.parametrize("key", ["9" * 19, "9" * 5_000])
def test_a_number_that_no_row_has_is_no_row(jonas: Client, key: str) -> None:
    sent = {"action": "deny_selected", "_selected_action": [key]}
    asked = jonas.post(url(Approval, "changelist"), sent, follow=True)
    rows = jonas.get(url(Approval, "changelist"), {"part": "rows", "shown": key})

    assert "Choose what to deny first." in said(asked)
    assert rows.status_code == 200


# -- outcome unknown ---------------------------------------------------------------------------------------------


def unknown() -> ToolCall:
    approval = factories.make_approval(factories.make_session())
    Approval.objects.filter(pk=approval.pk).update(state="granted")
    ToolCall.objects.filter(pk=approval.tool_call_id).update(state="unknown")
    Turn.objects.filter(pk=approval.turn_id).update(status="waiting")
    return ToolCall.objects.get(pk=approval.tool_call_id)


@pytest.mark.parametrize("outcome", ["succeeded", "failed"])
def test_staff_say_how_a_call_ended(jonas: Client, outcome: str) -> None:
    call = unknown()
    page = text_of(jonas.get(url(call, "change")).content)

    response = jonas.post(
        url(call, "resolve"), {"outcome": outcome, "note": "The bank shows it."}, follow=True
    )

    assert "It is not known whether this call took effect" in page
    assert f"this call has {outcome}" in said(response)
    call.refresh_from_db()
    assert call.state == outcome
    assert "The bank shows it." in LogEntry.objects.get().get_change_message()
    assert "Nobody knows" not in text_of(response.content)
    assert factories.log_of(Session.objects.get(), "tool")[-1].data["state"] == outcome


@pytest.mark.parametrize(
    "data",
    [{}, {"outcome": "failed"}, {"outcome": "unknown", "note": "x"}, {"outcome": "failed", "note": " "}],
)
def test_a_resolution_needs_an_outcome_and_a_note(jonas: Client, data: dict[str, str]) -> None:
    call = unknown()

    response = jonas.post(url(call, "resolve"), data, follow=True)

    assert said(response)
    call.refresh_from_db()
    assert call.state == "unknown"


def test_staff_are_promised_no_reader_that_there_is_not(jonas: Client) -> None:
    """Only a call that somebody was asked about has a card on the customer's page."""
    asked = unknown()
    other = factories.make_call(factories.make_turn(asked.session), state="unknown")

    for call, customer in ((asked, True), (other, False)):
        page = text_of(jonas.get(url(call, "change")).content)
        response = jonas.post(url(call, "resolve"), {"outcome": "failed", "note": "Seen."}, follow=True)
        for told in (page, said(response)):
            assert "agent reads it by its next turn" in told
            assert ("The customer sees it on the card" in told) is customer


def test_a_second_resolution_is_told(jonas: Client) -> None:
    call = unknown()
    jonas.post(url(call, "resolve"), {"outcome": "failed", "note": "No trace of it."})

    response = jonas.post(url(call, "resolve"), {"outcome": "succeeded", "note": "x"}, follow=True)

    assert "Nothing was changed" in said(response) and "failed" in said(response)
    assert LogEntry.objects.count() == 1


def test_only_those_who_may_decide_resolve(jonas: Client) -> None:
    call = unknown()
    viewer = client_of(factories.make_user(staff=True, permissions=["view_session", "view_toolcall"]))

    page = viewer.get(url(call, "change"))

    assert "not record its outcome" in text_of(page.content)
    assert viewer.post(url(call, "resolve"), {"outcome": "failed", "note": "x"}).status_code == 403
    assert ToolCall.objects.get(pk=call.pk).state == "unknown"
