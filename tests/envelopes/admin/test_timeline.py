"""The timeline of a session: every row once, in order, by turn, in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from envelopes.admin import timeline as module
from envelopes.admin.sentences import sentence
from envelopes.admin.timeline import timeline
from envelopes.approvals.service import decide
from envelopes.log.append import writing
from envelopes.models import Session
from envelopes.part_types.staff_message import STAFF
from envelopes.protocol.originators import Originator
from envelopes.protocol.rows import KINDS, Row
from envelopes.registries.part_types import PartType, part_types
from envelopes.session_state import live_sessions
from envelopes.turns.takeover import say, tell
from envelopes.types import JsonObject
from tests import factories
from tests.envelopes.admin.pages import VIEW, client_of, parsed, text_of, url, viewer

AT = datetime(2026, 5, 1, 10, tzinfo=UTC)


def row(kind: str, data: JsonObject, part_type: str = "") -> Row:
    return Row(1, kind, AT, data, part_type, "sally", 1)


def part(part_type: str, *, text: str | None = None, data: Any = None, **metadata: Any) -> Row:
    body = {"metadata": {"partType": part_type, **metadata}, "text": text, "data": data}
    return row("part", {"part": body, "turnState": "awaiting"}, part_type)


@pytest.mark.parametrize(
    ("given_row", "told"),
    [
        (row("message", {"text": "Find a  flight"}), "Find a flight"),
        (row("action", {"action": {"name": "book", "surfaceId": "s"}, "owner": "sally", "label": "Book"}),
         "Clicked “Book” (action book on surface s of sally)."),
        (row("edit", {"owner": "sally", "surfaceId": "s", "ops": [{"op": "replace", "path": "/a"}]}),
         "Changed 1 value on surface s of sally: /a."),
        (row("turn", {"status": "running", "reason": "recovered", "attempt": 2}),
         "Taken over after the previous worker stopped (attempt 2)."),
        (row("takeover", {"state": "taken", "name": "Grace"}), "Took the conversation over."),
        (row("takeover", {"state": "returned", "name": "Grace"}), "Handed the conversation back."),
        (row("turn", {"status": "suspended"}), "Waiting for approval."),
        (row("turn", {"status": "queued", "reason": "new"}), "Queued."),
        (part("response", text="One flight fits."), "One flight fits."),
        (part("domain-data", data={"flights": [], "n": 1}, dataKind="flights"), "Data for flights: flights, n."),
        (part("a2ui-surface", data={"createSurface": {"surfaceId": "f"}, "updateComponents": {"surfaceId": "f"}}),
         "Surface f: created, components changed."),
        (part("progress", data={"id": "p", "label": "Reading", "current": 2, "total": 3, "status": "running"}),
         "Reading: running 2/3."),
        (part("approval-request", data={"toolName": "t"}, question="Pay 40?"), "Asked for approval: Pay 40?"),
        (part("approval-response", data={"decision": "denied", "reason": "no"}, decidedByName="Jonas", source="admin"),
         "Denied by Jonas, in the desk. Reason: no"),
        (part("approval-response", data={"decision": "denied", "reason": "expired", "decidedBy": "policy"}, source="p"),
         "Expired: nobody decided in time. Nothing ran."),
        (part("artifact", data={"artifactId": "a", "name": "t.pdf", "mimeType": "application/pdf", "sizeBytes": 3}),
         "File t.pdf (application/pdf, 3 bytes)."),
        (part("setState", data={"cart.status": "paid"}), "Requested state changes: cart.status = paid."),
        (part("acme.board", data={"a": 1}), "Part of type acme.board."),
        (row("withdrawn", {"live": ["a", "b"]}), "Withdrew 2 streamed texts that did not become part of the answer."),
        (row("tool", {"name": "refund", "state": "succeeded", "summary": "Paid."}), "refund: succeeded. Paid."),
        (row("tool-result", {"name": "refund", "state": "failed", "error": {"message": "No."}}), "refund: failed. No."),
        (row("settled", {"turnState": "error", "finalizedBy": "cancelled"}), "Answer ended: error (cancelled)."),
        (row("free-text", {"text": "Sure!"}), "Text outside respond(), not delivered: Sure!"),
        (row("refused", {"call": "respond", "error": {"message": "No."}}), "Call to respond refused: No."),
        (row("late-decision", {"decision": "granted", "by": "user:1", "source": "chat", "reason": ""}),
         "A deleted account tried to approve this too late, in chat. Nothing changed."),
        (row("tried-decision", {"decision": "granted", "by": "user:1", "source": "http", "approvalId": "a"}),
         "A deleted account tried to approve this, over HTTP, but may not. Nothing changed."),
        (row("experiment", {"surfaceId": "lab", "trackId": "t", "flag": "f", "stage": "limited_preview", "reason": ""}),
         "The experimental document lab is shown (track t, flag f)."),
        (row("experiment", {"surfaceId": "lab", "trackId": "t", "flag": "f", "stage": "", "reason": "flag_off"}),
         "The experimental document lab is not shown (track t): the flag f is off here."),
        (row("consent", {"decision": "tried", "by": "user:1", "trackId": "t", "flag": "f", "summary": "Listens."}),
         "A deleted account answered for a person on the track t (flag f), but may not. Nothing changed. “Listens.”"),
        (row("provider", {"stopReason": "tool_use", "usage": {"input_tokens": 1204}}),
         "Model reply ended: tool_use. input_tokens 1,204"),
    ],
)  # fmt: skip
def test_a_row_in_words(given_row: Row, told: str) -> None:
    assert sentence(given_row) == told


def _seats(part: JsonObject) -> str:
    return f"{part['data']['seats']} seats are held."


@pytest.mark.parametrize(
    ("data", "told"),
    [({"seats": 3}, "3 seats are held."), ({}, "Three."), ({"seats": "x" * 500}, "x" * 399 + "…")],
)
def test_an_application_says_what_its_part_is(data: JsonObject, told: str) -> None:
    kind = PartType("acme.seats", frozenset({"actor"}), "flush", "once", data="required", in_words=_seats)
    with part_types.including(kind):
        assert sentence(part("acme.seats", data=data, text="Three.")) == told

    assert sentence(part("acme.seats", data=data)) == "Part of type acme.seats."


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
fields = (
    "part",
    "text",
    "action",
    "ops",
    "live",
    "error",
    "usage",
    "status",
    "reason",
    "summary",
    "name",
    "turnState",
)
rows = st.dictionaries(st.sampled_from(fields), values, max_size=6)
parts = st.fixed_dictionaries({}, optional={"data": values, "metadata": values, "text": values})


@given(
    st.sampled_from([*KINDS, "unheard-of"]),
    rows,
    parts,
    st.sampled_from(["", "progress", "a2ui-surface", "setState", "x"]),
)
def test_every_row_gets_a_sentence_whatever_it_holds(
    kind: str, data: JsonObject, part: JsonObject, name: str
) -> None:
    assert sentence(row(kind, {**data, "part": part}, name))
    assert sentence(row(kind, data, name))


# -- pages -------------------------------------------------------------------------------------------------------


def long_session(parts: int) -> Session:
    session = factories.make_session()
    turn = factories.make_turn(session)
    for number in range(parts):
        factories.add_part(turn, "thinking", text=f"Step {number}.")
    return Session.objects.get(pk=session.pk)


@pytest.mark.django_db
@pytest.mark.parametrize("asked", [None, "", "x", "0", "-1", "99999999999999999999", "²"])
def test_an_odd_page_number_is_a_page(asked: str | None) -> None:
    page = timeline(long_session(3), asked)

    assert page.pages == 1 and page.number == 1 and page.total == 6


@pytest.mark.django_db
def test_the_pages_hold_every_row_once_and_the_newest_is_shown_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 5)
    session = long_session(10)

    pages = [timeline(session, str(number)) for number in range(1, 4)]
    numbers = [line.row.seq for page in pages for group in page.groups for line in group.lines]

    assert numbers == list(range(1, session.last_seq + 1))
    assert timeline(session, None).number == 3
    text = text_of(viewer().get(f"{url(session, 'change')}?page=2").content)
    assert "events 6 to 10 of 13" in text and "Earlier" in text and "Later" in text


@pytest.mark.django_db
def test_rows_are_grouped_by_turn_and_what_began_it_heads_it() -> None:
    session = factories.make_session()
    factories.settle_turn(factories.make_turn(session))
    factories.settle_turn(factories.make_turn(session), "error", finalized_by="cancelled")
    session.refresh_from_db()

    groups = timeline(session, None).groups

    assert [(group.number, group.lines[0].row.kind) for group in groups] == [(1, "message"), (2, "message")]
    assert "Stopped" in groups[1].state
    page = text_of(viewer().get(url(session, "change")).content)
    assert "Answer 1" in page and "Turn 1" not in page, "one word for it in all of the desk"


@pytest.mark.django_db
def test_audit_rows_are_marked_and_approvals_tell_their_state() -> None:
    session = factories.make_session()
    turn = factories.make_turn(session)
    factories.add_part(turn, "reasoning-trace", data={"text": "SECRET-THOUGHT"}, audience="audit")
    factories.make_approvals(turn)

    html = viewer().get(url(session, "change")).content
    marked = [item for item in parsed(html).iter("li") if item.get("data-audit") is not None]

    assert len(marked) == 1 and "SECRET-THOUGHT" in "".join(marked[0].itertext())
    asked = next(item for item in parsed(html).iter("li") if "Asked for approval" in "".join(item.itertext()))
    assert "Pending" in "".join(asked.itertext())


@pytest.mark.django_db
@pytest.mark.django_db
def test_rows_of_staff_stand_under_their_names() -> None:
    session = factories.make_session()
    with writing(session.pk) as writer:
        tell(writer, "taken", "Grace Hopper", "user:1")
        say(
            writer,
            Originator(principal="user:1", kind="person", consumes=[]),
            "Grace Hopper",
            "I can hold both seats.",
        )
    session.refresh_from_db()

    lines = [line for group in timeline(session, None).groups for line in group.lines]
    told = {(line.who, line.words) for line in lines if line.row.actor == STAFF}
    assert told == {
        ("Grace Hopper", "Took the conversation over."),
        ("Grace Hopper", "I can hold both seats."),
    }


@pytest.mark.django_db
def test_a_large_row_is_cut_and_can_be_had_whole() -> None:
    session = factories.make_session()
    seq = factories.add_part(
        factories.make_turn(session), "domain-data", data={"x": "y" * 9000, "end": "LAST"}
    )
    client = viewer()

    html = client.get(url(session, "change")).content
    whole = client.get(url(session, "event", seq))

    assert "Showing the first 6,000 of 9," in text_of(html)
    assert b"LAST" in whole.content
    assert client.get(url(session, "event", 99)).status_code == 404


@pytest.mark.django_db
def test_a_row_of_another_session_is_not_had_through_this_one() -> None:
    mine, other = long_session(1), long_session(5)

    assert viewer().get(url(mine, "event", other.last_seq)).status_code == 404


# -- who did it, from the reader's side ----------------------------------------------------------------------------


def _reads(client: Any, session: Session) -> str:
    return text_of(client.get(url(session, "change")).content)


@pytest.mark.django_db
def test_d1_what_a_visitor_decided_was_not_decided_by_you() -> None:
    visitor, _ = factories.make_visitor()
    approval = factories.make_approval(factories.make_session(visitor))
    decide(approval.approval_id, "granted", visitor)

    told = _reads(viewer(), approval.session)

    assert "Approved by the visitor, in chat." in told
    assert "by you" not in told
    assert "anonymous:" not in told.split("Data")[0]


@pytest.mark.django_db
def test_d1_only_the_reader_is_you() -> None:
    jonas = factories.make_user("jonas", staff=True, permissions=(*VIEW, "decide_approval"))
    approval = factories.make_approval(factories.make_session())
    decide(approval.approval_id, "denied", factories.make_principal(jonas), source="admin", reason="No.")

    assert "Denied by you, in the desk. Reason: No." in _reads(client_of(jonas), approval.session)
    assert "Denied by jonas, in the desk. Reason: No." in _reads(viewer(), approval.session)


@pytest.mark.django_db
def test_d1_a_second_participant_and_an_account_that_is_gone_have_names() -> None:
    ada, bo = factories.make_user("ada"), factories.make_user("bo")
    session = factories.make_session(ada)
    session.participants.create(role="owner", user=bo, name="bo")
    first, second = factories.make_approval(session), factories.make_approval(session)
    decide(first.approval_id, "granted", factories.make_principal(ada))
    decide(second.approval_id, "granted", factories.make_principal(bo))
    bo.delete()

    told = _reads(viewer(), session)

    assert "Approved by ada, in chat." in told
    assert "Approved by bo, in chat." in told


@pytest.mark.django_db
def test_d1_rows_from_before_that_say_you_name_whoever_it_was() -> None:
    ada = factories.make_user("ada")
    session = factories.make_session(ada)
    turn = factories.make_turn(session)
    for by in (f"user:{ada.pk}", "anonymous:0123", "user:0"):
        data = {
            "approvalId": "a",
            "decision": "granted",
            "decidedBy": by,
            "decidedAt": "2026-05-01T10:00:00.000Z",
        }
        factories.add_part(turn, "approval-response", data=data, decidedByName="you", source="chat")

    told = _reads(viewer(), session)

    for who in ("ada", "the visitor", "a deleted account"):
        assert f"Approved by {who}, in chat." in told
    assert "by you" not in told


@pytest.mark.django_db
def test_d1_whoever_looks_at_somebody_elses_conversation_did_not_approve_it() -> None:
    """The page of a conversation is drawn once for all who read it."""
    visitor, _ = factories.make_visitor()
    approval = factories.make_approval(factories.make_session(visitor))
    decide(approval.approval_id, "granted", visitor)
    ada = factories.make_user("ada")
    other = factories.make_approval(factories.make_session(ada))
    decide(other.approval_id, "denied", factories.make_principal(ada))

    live_sessions.clear()
    for asked, words in ((approval, "Approved in chat"), (other, "Denied by ada")):
        page = text_of(viewer().get(reverse("envelopes:session", args=[asked.session.public_id])).content)
        assert words in page
        assert "by you" not in page
    live_sessions.clear()


@pytest.mark.django_db
def test_a_timeline_asks_for_the_names_of_all_its_people_at_once(django_assert_max_num_queries: Any) -> None:
    session = factories.make_session()
    for number in range(6):
        who = factories.make_principal(factories.make_user(f"d{number}", superuser=True))
        decide(factories.make_approval(session).approval_id, "granted", who, source="admin")

    session.refresh_from_db()
    with django_assert_max_num_queries(6):
        page = timeline(session, None)
    assert (
        sum(str(line.words).startswith("Approved by d") for group in page.groups for line in group.lines) == 6
    )


@pytest.mark.django_db
def test_what_a_participant_does_not_have_is_a_dash_like_everything_that_is_not_there() -> None:
    session = factories.make_session()
    session.participants.create(role="agent", name="sally")
    page = viewer().get(url(session, "change")).text
    cells = re.findall(r"<td dir=\"auto\">([^<]*)</td>", page)

    assert "sally" in cells
    assert cells[-2:] == ["\N{EN DASH}"] * 2
