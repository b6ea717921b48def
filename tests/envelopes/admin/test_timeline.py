"""The timeline of a session: every row once, in order, by turn, in words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envelopes.admin import timeline as module
from envelopes.admin.sentences import sentence
from envelopes.admin.timeline import timeline
from envelopes.log.rows import KINDS, Row
from envelopes.models import Session
from envelopes.types import JsonObject
from tests import factories
from tests.envelopes.admin.pages import parsed, text_of, url, viewer

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
         "Pressed “Book”: action book on surface s of sally."),
        (row("edit", {"owner": "sally", "surfaceId": "s", "ops": [{"op": "replace", "path": "/a"}]}),
         "Changed 1 value on surface s of sally: /a."),
        (row("turn", {"status": "running", "reason": "recovered", "attempt": 2}),
         "Taken over from a runner that was gone (attempt 2)."),
        (row("turn", {"status": "suspended"}), "Suspended: it waits for a person's approval."),
        (row("turn", {"status": "queued", "reason": "new"}), "Queued."),
        (part("response", text="One flight fits."), "One flight fits."),
        (part("domain-data", data={"flights": [], "n": 1}, dataKind="flights"), "Data for flights: flights, n."),
        (part("a2ui-surface", data={"createSurface": {"surfaceId": "f"}, "updateComponents": {"surfaceId": "f"}}),
         "Surface f: created, components."),
        (part("progress", data={"id": "p", "label": "Reading", "current": 2, "total": 3, "status": "running"}),
         "Reading: running 2/3."),
        (part("approval-request", data={"toolName": "t"}, question="Pay 40?"), "Asked for approval: Pay 40?"),
        (part("approval-response", data={"decision": "denied", "reason": "no"}, decidedByName="Jonas", source="admin"),
         "Denied by Jonas (admin). Reason: no"),
        (part("approval-response", data={"decision": "denied", "reason": "expired", "decidedBy": "policy"}, source="p"),
         "Nobody decided in time, so it counts as denied: policy (p)."),
        (part("artifact", data={"artifactId": "a", "name": "t.pdf", "mimeType": "application/pdf", "sizeBytes": 3}),
         "File t.pdf (application/pdf, 3 bytes)."),
        (part("setState", data={"cart.status": "paid"}), "Asked for these states: cart.status = paid."),
        (part("acme.board", data={"a": 1}), "A part of type acme.board."),
        (row("withdrawn", {"live": ["a", "b"]}), "Took back 2 streamed texts that became no part."),
        (row("tool", {"name": "refund", "state": "succeeded", "summary": "Paid."}), "refund: succeeded. Paid."),
        (row("tool-result", {"name": "refund", "state": "failed", "error": {"message": "No."}}), "refund: failed. No."),
        (row("settled", {"turnState": "error", "finalizedBy": "cancelled"}), "Settled: error, because cancelled."),
        (row("free-text", {"text": "Sure!"}), "Wrote outside respond(), delivered to nobody: Sure!"),
        (row("refused", {"call": "respond", "error": {"message": "No."}}), "A call of respond was refused: No."),
        (row("late-decision", {"decision": "granted", "by": "user:1", "source": "chat", "reason": ""}),
         "Tried to decide too late: granted, by user:1 (chat). It changed nothing."),
        (row("provider", {"stopReason": "tool_use", "usage": {"input_tokens": 1204}}),
         "The model's reply ended: tool_use. input_tokens 1,204"),
    ],
)  # fmt: skip
def test_a_row_in_words(given_row: Row, told: str) -> None:
    assert sentence(given_row) == told


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
def test_a_large_row_is_cut_and_can_be_had_whole() -> None:
    session = factories.make_session()
    event = factories.add_part(
        factories.make_turn(session), "domain-data", data={"x": "y" * 9000, "end": "LAST"}
    )
    client = viewer()

    html = client.get(url(session, "change")).content
    whole = client.get(url(session, "event", event.seq))

    assert "Cut: the first 6,000 of 9," in text_of(html)
    assert b"LAST" in whole.content
    assert client.get(url(session, "event", 99)).status_code == 404


@pytest.mark.django_db
def test_a_row_of_another_session_is_not_had_through_this_one() -> None:
    mine, other = long_session(1), long_session(5)

    assert viewer().get(url(mine, "event", other.last_seq)).status_code == 404
