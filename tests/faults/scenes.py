"""What people go through while servers die, and what has to be true of it afterwards, however often they did."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import httpx

from tests.faults.conftest import Lab
from tests.faults.lab.telling import TOLD, UNKNOWN
from tests.faults.outbox import Outbox
from tests.visitor import Visitor

BOOK = "Book easyJet EJ4521 on 15 August for Ada Lovelace, 2 tickets"
BOOKED, PERHAPS = "Your receipt is above", "I cannot tell whether they were"
CONFIRMED = "The confirmation goes to ada@example.org"


async def three_answers(person: Outbox) -> None:
    """Four replies of the model, one after the other."""
    await person.say("Count to three")
    await person.until(lambda: "third of three and long enough" in person.visitor.page.text())


async def a_job(person: Outbox) -> None:
    """Words that go to the log in groups."""
    await person.say("Tell 5 times at 100")
    await person.until(lambda: "All is told." in person.visitor.page.text())


async def an_approval(person: Outbox) -> None:
    """A question, its answer, and what must not happen twice."""
    visitor = person.visitor
    await person.say(BOOK)
    await person.until(lambda: len(visitor.approvals()) == 1)
    answer = await person.insist(
        {"type": "decide", "approval": visitor.approvals()[0], "decision": "granted"}
    )
    # Sent again because nobody had answered, it is answered as it was the first time.
    assert (answer["type"], answer.get("state")) == ("ack", "granted"), answer
    await person.until(lambda: any(words in visitor.page.text() for words in (BOOKED, PERHAPS)))


async def a_memory(person: Outbox) -> None:
    """What was said before is read by the model of each later answer, and is stored with none of them."""
    page = person.visitor.page
    await person.say("Recall it")
    await person.until(lambda: "So far you said: nothing." in page.text())
    await an_approval(person)
    await person.say("Recall all")
    await person.until(lambda: f"So far you said: Recall it; {BOOK}." in page.text())
    # Its words may be there before they are stored: a server that dies in between is started again.
    ended = (
        "SELECT count(*) FROM envelopes_event WHERE kind = 'settled'"
        " AND session_id = (SELECT id FROM envelopes_session WHERE public_id = ?)"
    )
    await person.until(lambda: person.lab.query(ended, person.visitor.session) == [(3,)])
    kept = person.lab.query(
        "SELECT t.messages FROM envelopes_turn t JOIN envelopes_session s ON s.id = t.session_id"
        " WHERE s.public_id = ? ORDER BY t.number",
        person.visitor.session,
    )
    said = [str(messages) for (messages,) in kept]
    assert [[words in each for words in ("Recall it", "Recall all")] for each in said] == [
        [True, False],
        [False, False],
        # In its own answer.
        [True, True],
    ]


async def an_edit(person: Outbox) -> None:
    """Arguments that are corrected, the new question, its answer, and what must run with the corrected ones alone."""
    visitor = person.visitor
    await person.say(BOOK)
    await person.until(lambda: len(visitor.approvals()) == 1)
    asked = visitor.approvals()[0]
    while visitor.approvals() == [asked]:
        # A form is sent again by the person who sees that nothing came of it; what has been edited is not edited again.
        with contextlib.suppress(httpx.HTTPError):
            await visitor.edit(asked, {"Email": "ada@example.org"})
        await person.connected()
        await asyncio.sleep(0.05)
    answer = await person.insist(
        {"type": "decide", "approval": visitor.approvals()[0], "decision": "granted"}
    )
    assert (answer["type"], answer.get("state")) == ("ack", "granted"), answer
    await person.until(lambda: any(words in visitor.page.text() for words in (CONFIRMED, PERHAPS)))
    bought = person.lab.query("SELECT email FROM demo_booking WHERE session_id = ?", visitor.session)
    assert bought in ([], [("ada@example.org",)])
    _is_edited_once(person, asked)


def _is_edited_once(person: Outbox, asked: str) -> None:
    """Both versions are kept, each was drawn and closed once, and one edit and one decision stand in the history."""
    lab, session = person.lab, person.visitor.session
    ((edited, *stands),) = lab.query(
        "SELECT a.approval_id, a.version, a.state, v.version, v.asked_as, v.cause FROM envelopes_approval a"
        " JOIN envelopes_approvalversion v ON v.approval_id = a.id JOIN envelopes_session s ON s.id = a.session_id"
        " WHERE s.public_id = ?",
        session,
    )
    assert stands == [2, "granted", 1, asked, "edited"]
    drawn = {"createSurface": Counter[str](), "deleteSurface": Counter[str]()}
    for row in lab.log_of(session):
        for message in row.data["part"]["data"]["messages"] if row.part_type == "a2ui-surface" else ():
            for verb, surfaces in drawn.items():
                if message.get(verb, {}).get("surfaceId", "").startswith("beach:approval:"):
                    surfaces[message[verb]["surfaceId"]] += 1
    each = dict.fromkeys((f"beach:approval:{asked}", f"beach:approval:{edited}"), 1)
    assert drawn == {"createSurface": each, "deleteSurface": each}
    told = lab.query("SELECT kind, approval_id FROM envelopes_auditentry WHERE session_id = ?", session)
    happened = Counter(told)
    assert happened["edited", edited] == happened["decided", edited] == 1
    assert {approval for kind, approval in told if kind in ("edited", "decided", "executed")} == {edited}


Scene = Callable[[Outbox], Awaitable[None]]
SCENES: dict[str, Scene] = {
    "three answers": three_answers,
    "a job": a_job,
    "an approval": an_approval,
    "a memory": a_memory,
    "an edit": an_edit,
}


async def begun(lab: Lab) -> Outbox:
    return Outbox(lab, await (await Visitor.arrive(lab.server)).connect())


async def is_whole(lab: Lab, people: Sequence[Outbox], *, more: int = 0) -> None:
    """Nothing acknowledged is lost, nothing is doubled, numbers have no gap, every page is what a reload shows. So many
    ``more`` turns were begun than messages came."""
    await _has_settled(lab)
    lab.log_is_gap_free()
    for person in people:
        _is_whole(lab, person, more)
        await _page_is_whole(person)
        await person.visitor.drop()


async def _has_settled(lab: Lab) -> None:
    open_turns = "SELECT count(*) FROM envelopes_turn WHERE status <> 'settled'"
    deadline = time.monotonic() + 30
    while lab.query(open_turns) != [(0,)]:
        assert time.monotonic() < deadline, lab.query("SELECT id, status, attempt FROM envelopes_turn")
        await asyncio.sleep(0.05)


def _is_whole(lab: Lab, person: Outbox, more: int) -> None:
    session = person.visitor.session
    rows = lab.log_of(session)
    said = Counter(row.data["id"] for row in rows if row.kind == "message")
    acknowledged = [ack["id"] for ack in person.acks if "decision" not in ack and "state" not in ack]
    assert said == Counter(acknowledged), (said, acknowledged)
    assert Counter(row.turn for row in rows if row.kind == "settled") == Counter(
        range(1, len(said) + more + 1)
    )

    # That nobody knows whether something was done is said as an error.
    answers = Counter(
        (row.turn, row.data["part"].get("text")) for row in rows if row.part_type in ("response", "error")
    )
    answered = {turn for turn, _ in answers}
    # What was said while a turn was at work may have been answered there.
    joined = {row.turn for row in rows if row.kind == "settled" and "joined" in row.data}
    assert set(range(1, len(said) + 1)) - joined <= answered <= set(range(1, len(said) + more + 1)), answers
    assert max(answers.values()) == 1, answers
    asked = [row.data["part"]["metadata"] for row in rows if row.part_type == "approval-request"]
    assert sum("replaces" not in about for about in asked) == len(_calls(lab, session))
    edits = lab.query(
        "SELECT a.version FROM envelopes_approval a JOIN envelopes_session s ON s.id = a.session_id"
        " WHERE s.public_id = ? ORDER BY a.id",
        session,
    )
    assert sum("replaces" in about for about in asked) == sum(version - 1 for (version,) in edits) <= 1
    for state, bookings in _calls(lab, session):
        assert (
            bookings == 1 if state == "succeeded" else (state, bookings) in {("unknown", 0), ("unknown", 1)}
        )

    texts = [json.dumps(row.data) for row in rows]
    for name, least in ((TOLD, 1), (UNKNOWN, 0)):
        for line in lab.gates.notes(name):
            told_in, word = line.split()[:2]
            if told_in == session:
                assert least <= sum(f'"{word}"' in text for text in texts) <= 1, line


def _calls(lab: Lab, session: str) -> list[tuple[str, int]]:
    """Each call of a tool that must not run twice: its state, and how often it has taken effect."""
    return [
        (state, bookings)
        for state, bookings in lab.query(
            "SELECT c.state, (SELECT count(*) FROM demo_booking b WHERE b.call_id = c.call_id)"
            " FROM envelopes_toolcall c JOIN envelopes_session s ON s.id = c.session_id"
            " WHERE c.name = 'book_flight' AND s.public_id = ?",
            session,
        )
    ]


async def _page_is_whole(person: Outbox) -> None:
    fresh = await person.visitor.load()
    await person.until(lambda: person.visitor.page.markup() == fresh.markup(), seconds=15)
