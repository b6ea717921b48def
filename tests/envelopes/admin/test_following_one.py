"""The page of one approval while it stands open: what it asks, what it is told, and to whom that is open."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group as DjangoGroup
from django.test import Client
from django.utils import timezone

from envelopes import audit
from envelopes.approvals.editing import edit
from envelopes.approvals.resolve import resolve
from envelopes.approvals.service import decide
from envelopes.log.append import writing
from envelopes.models import Approval, ToolCall, Turn
from envelopes.registries.policies import STAFF, Ask, Group
from envelopes.turns.outcomes import Outcome, record_outcome
from tests import factories
from tests.envelopes.admin.pages import client_of, decider, parsed, text_of, url, viewer

pytestmark = pytest.mark.django_db

MOST_QUERIES = 7
"""Session, account, two for its rights, the approval with its call and turn, who has decided; one to spare."""


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


@pytest.fixture
def jonas() -> Client:
    return decider("jonas")


@pytest.fixture
def approval() -> Approval:
    return factories.make_approval(factories.make_session(), {"order": "A17", "amount": 40, "note": ""})


def stand(client: Client, approval: Approval) -> Any:
    return client.get(url(approval, "change"), {"part": "stand"}).json()


def by_viola(approval: Approval, decision: str, reason: str = "") -> None:
    viola = factories.make_user("viola", staff=True, permissions=["decide_approval"])
    decide(approval.approval_id, decision, factories.make_principal(viola), reason=reason, source="admin")


def ran(approval: Approval, outcome: Outcome) -> None:
    with writing(approval.session_id) as writer:
        ToolCall.objects.filter(pk=approval.tool_call_id).update(state="running")
        call = ToolCall.objects.select_related("turn__session", "approval").get(pk=approval.tool_call_id)
        record_outcome(writer, call.turn, call, outcome)


def card_text(client: Client, approval: Approval) -> str:
    """What the card says, without the rest of the page, where all of it stands too."""
    page = parsed(client.get(url(approval, "change"), {"part": "page"}).content)
    (card,) = (element for element in page.iter() if element.get("class") == "b-approval")
    return " ".join(" ".join(card.itertext()).split()).replace(" :", ":")


# -- where it stands ---------------------------------------------------------------------------------------------


def test_each_step_is_another_version_and_it_asks_until_nothing_more_comes(
    jonas: Client, approval: Approval
) -> None:
    found = [stand(jonas, approval)]
    assert stand(jonas, approval) == found[0]

    by_viola(approval, "granted")
    found.append(stand(jonas, approval))
    ran(approval, Outcome("succeeded", {"refunded": 40}))
    found.append(stand(jonas, approval))
    factories.settle_turn(Turn.objects.get(pk=approval.turn_id))
    found.append(stand(jonas, approval))

    assert len({one["version"] for one in found}) == 3
    assert [one["again"] for one in found] == ["soon", "soon", "soon", "never"]
    rows = [one["rows"] for one in found]
    assert rows == sorted(set(rows))


def test_time_that_is_up_a_vote_and_an_edit_are_news_too(jonas: Client) -> None:
    tool = factories.asking(Ask([STAFF], needed=2))
    approval = factories.make_approval(factories.make_session(), tool=tool)
    versions = [stand(jonas, approval)["version"]]

    by_viola(approval, "granted")
    versions.append(stand(jonas, approval)["version"])
    with factories.acting(tool):
        editor = factories.make_user("edda", staff=True, permissions=["decide_approval"])
        changed = {"order": "A17", "amount": 4, "note": ""}
        edit(approval.approval_id, changed, factories.make_principal(editor))
    versions.append(stand(jonas, approval)["version"])
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    versions.append(stand(jonas, approval)["version"])

    assert len(set(versions)) == 4


@pytest.mark.parametrize(
    ("call", "turn", "again"),
    [
        ("unknown", "settled", "later"),
        ("succeeded", "suspended", "later"),
        ("succeeded", "running", "soon"),
        ("denied", "settled", "never"),
        ("running", "settled", "soon"),
    ],
)
def test_it_asks_seldom_where_nothing_comes_by_itself(
    jonas: Client, approval: Approval, call: str, turn: str, again: str
) -> None:
    Approval.objects.filter(pk=approval.pk).update(state="denied" if call == "denied" else "granted")
    ToolCall.objects.filter(pk=approval.tool_call_id).update(state=call)
    Turn.objects.filter(pk=approval.turn_id).update(status=turn)

    assert stand(jonas, approval)["again"] == again


@pytest.mark.parametrize("decided", [False, True])
def test_to_ask_takes_few_queries_however_long_the_log(
    jonas: Client, approval: Approval, decided: bool, django_assert_max_num_queries: Any
) -> None:
    if decided:
        by_viola(approval, "denied")
    for number in range(30):
        factories.add_part(approval.turn, "response", text=f"{number}")

    with django_assert_max_num_queries(MOST_QUERIES):
        response = jonas.get(url(approval, "change"), {"part": "stand"})

    assert "no-store" in response["Cache-Control"]


# -- who may ask -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["stand", "page"])
def test_it_is_open_to_whoever_sees_the_page_and_to_nobody_else(approval: Approval, part: str) -> None:
    clients = {
        "viewer": viewer(),
        "stranger": client_of(factories.make_user(staff=True)),
        "customer": client_of(factories.make_user()),
        "nobody": Client(),
    }

    for name, client in clients.items():
        page, asked = (
            client.get(url(approval, "change"), query).status_code for query in ({}, {"part": part})
        )
        assert asked == page, name
    assert clients["viewer"].get(url(approval, "change"), {"part": part}).status_code == 200
    assert clients["stranger"].get(url(approval, "change"), {"part": part}).status_code == 403


def test_one_that_is_not_there_stands_nowhere(jonas: Client, approval: Approval) -> None:
    address = url(approval, "change").replace(str(approval.pk), str(approval.pk + 1))

    assert jonas.get(address, {"part": "stand"}).status_code == 404


def test_who_decides_this_one_alone_is_told_nothing_of_the_conversation() -> None:
    tool = factories.asking(Ask([Group("Travel managers")]))
    approval = factories.make_approval(factories.make_session(), tool=tool)
    user = factories.make_user("mona", staff=True)
    user.groups.add(DjangoGroup.objects.create(name="Travel managers"))

    told = stand(client_of(user), approval)

    assert (told["rows"], told["again"]) == (0, "soon")


def test_what_is_drawn_anew_leaves_the_messages_to_the_next_page(jonas: Client, approval: Approval) -> None:
    sent = {"asked_as": approval.approval_id, "decision": "granted"}
    jonas.post(url(approval, "decide"), sent)

    part = text_of(jonas.get(url(approval, "change"), {"part": "page"}).content)
    page = text_of(jonas.get(url(approval, "change")).content)

    assert "It will run once" not in part and "Exact call" in part and "History" in part
    assert "Approved. It will run once." in page


def test_an_edited_question_is_not_shown_to_a_page_that_reads_the_old_one_before_it_asks(
    jonas: Client, approval: Approval
) -> None:
    reads = approval.approval_id
    viola = factories.make_principal(
        factories.make_user("viola", staff=True, permissions=["decide_approval"])
    )
    edited = edit(reads, {"order": "A17", "amount": 4, "note": ""}, viola)

    held = jonas.get(url(approval, "change"), {"part": "page", "reads": reads})
    shown = audit.history_of(edited.approval_id)
    asked = jonas.get(url(approval, "change"), {"part": "page", "reads": ""})

    assert (held.status_code, held.content) == (204, b"")
    assert [one.kind for one in shown] == ["edited"]
    assert "Pay 4 back for order A17?" in text_of(asked.content)
    assert [one.kind for one in audit.history_of(edited.approval_id)] == ["edited", "shown"]
    # Once it is decided there is nothing to hold back.
    decide(edited.approval_id, "denied", viola)
    assert jonas.get(url(approval, "change"), {"part": "page", "reads": reads}).status_code == 200


# -- in which words it ended -------------------------------------------------------------------------------------


def test_the_card_has_the_words_of_the_result_and_the_reason(jonas: Client, approval: Approval) -> None:
    by_viola(approval, "granted", "Checked with the shop.")
    running = card_text(jonas, approval)
    ran(approval, Outcome("succeeded", {"refunded": 40}))

    done = card_text(jonas, approval)

    assert "Paying it back" in running and "Reason: Checked with the shop." in running
    assert done.startswith("Paid 40 back Approved by viola") and "Reason: Checked with the shop." in done


def test_the_words_are_those_of_this_call_where_two_end_at_once(jonas: Client) -> None:
    turn = factories.make_turn(factories.make_session())
    one, two = factories.make_approvals(turn, {"order": "A1", "amount": 1}, {"order": "A2", "amount": 2})
    for each in (one, two):
        decide(each.approval_id, "granted", factories.make_principal(factories.make_user(superuser=True)))
    with writing(turn.session_id) as writer:
        for each in (one, two):
            ToolCall.objects.filter(pk=each.tool_call_id).update(state="running")
            call = ToolCall.objects.select_related("turn__session", "approval").get(pk=each.tool_call_id)
            record_outcome(writer, call.turn, call, Outcome("succeeded", {}))

    assert [card_text(jonas, each).split(" Approved")[0] for each in (one, two)] == [
        "Paid 1 back",
        "Paid 2 back",
    ]


def test_a_failure_and_what_nobody_knows_say_why_it_was_approved(jonas: Client) -> None:
    told = {"failed": "The shop is closed.", "unknown": "The line went dead."}
    for state, words in told.items():
        approval = factories.make_approval(factories.make_session())
        user = factories.make_user(superuser=True)
        decide(approval.approval_id, "granted", factories.make_principal(user), reason="Go on.")
        ran(approval, Outcome(state, error={"code": "x", "message": words}))  # type: ignore[arg-type]

        card = card_text(jonas, approval)

        assert words in card and "Reason: Go on." in card


def test_what_staff_found_out_is_the_result_from_then_on(jonas: Client, approval: Approval) -> None:
    by_viola(approval, "granted")
    ran(approval, Outcome("unknown", error={"code": "x", "message": "The line went dead."}))
    staff = factories.make_principal(factories.make_user("rosa", staff=True, permissions=["decide_approval"]))

    resolve(approval.tool_call_id, "succeeded", staff, note="The bank shows it.")

    card = card_text(jonas, approval)
    assert card.startswith("The bank shows it") and "went dead" not in card


def test_each_of_several_is_quoted_by_name(jonas: Client) -> None:
    approval = factories.make_approval(
        factories.make_session(), tool=factories.asking(Ask([STAFF], needed=2))
    )
    for name, reason in (("vera", "The invoice is right."), ("wim", "I asked the shop.")):
        user = factories.make_user(name, staff=True, permissions=["decide_approval"])
        who = factories.make_principal(user)
        decide(approval.approval_id, "granted", who, reason=reason, source="admin")
        if name == "vera":
            waiting = card_text(jonas, approval)

    decided = card_text(jonas, approval)

    assert "vera approved: The invoice is right." in waiting
    assert "Reason given by vera: The invoice is right." in decided
    assert "Reason given by wim: I asked the shop." in decided
