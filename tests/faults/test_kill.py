"""kill -9 at every awkward moment: the turn goes on after the restart, nothing is lost, nothing comes twice."""

from __future__ import annotations

import pytest

from tests.faults.conftest import Lab
from tests.visitor import Visitor

BOOK = "Book easyJet EJ4521 on 15 August for Ada Lovelace, 2 tickets"
ANSWERS = [f"This sentence is the {n} of three" for n in ("first", "second", "third")]


async def _comes_back(lab: Lab, visitor: Visitor) -> None:
    await visitor.drop()
    await lab.start()
    await visitor.connect()


async def _asks_to_book(lab: Lab) -> Visitor:
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say(BOOK)
    await visitor.until(lambda: len(visitor.approvals()) == 1)
    return visitor


async def _is_whole(lab: Lab, *visitors: Visitor) -> None:
    """Every page is what a reload shows, and so is one that was away all the time."""
    lab.log_is_gap_free()
    assert lab.count("envelopes_turn", "status <> 'settled'") == 0
    for visitor in visitors:
        await visitor.is_as_reloaded()
    late = await visitors[0].tab().connect()
    assert late.page.markup() == visitors[0].page.markup()
    for visitor in (*visitors, late):
        await visitor.drop()


async def test_in_the_middle_of_a_streaming_answer(lab: Lab) -> None:
    lab.gates.shut("words")
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say("Count to three")
    await lab.gates.wait("words")
    # Half a sentence stands on the page.
    await visitor.until(lambda: any(text.startswith(ANSWERS[1]) for text in visitor.streamed.values()))
    await lab.kill()
    await visitor.drop()
    await lab.start()
    # It is written again from its beginning, and what stood there before is gone.
    await lab.holds("SELECT live LIKE '%the second of three%', attempt FROM envelopes_turn", (1, 2))
    await visitor.connect()
    await visitor.until(lambda: sum(text.startswith(ANSWERS[1]) for text in visitor.streamed.values()) == 2)
    assert visitor.page.text().count(ANSWERS[1]) == 1
    lab.gates.open("words")
    await visitor.settles()

    text = visitor.page.text()
    assert [text.count(answer) for answer in ANSWERS] == [1, 1, 1]
    assert sorted(ANSWERS, key=text.index) == ANSWERS
    assert text.count("until it ends.") == 3
    parts = lab.query("SELECT data FROM envelopes_event WHERE part_type = 'response' ORDER BY seq")
    assert len(parts) == 3
    assert lab.query("SELECT attempt FROM envelopes_turn") == [(2,)]
    await _is_whole(lab, visitor)


async def test_three_times_in_one_answer(lab: Lab) -> None:
    lab.gates.shut("words")
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say("Count to three")
    for times in (1, 2, 3):
        await lab.gates.wait("words", times)
        await lab.kill()
        if times == 3:
            lab.gates.open("words")
        await _comes_back(lab, visitor)
    await visitor.settles()
    text = visitor.page.text()
    assert [text.count(answer) for answer in ANSWERS] == [1, 1, 1]
    await _is_whole(lab, visitor)


async def test_while_research_runs_in_the_background(lab: Lab) -> None:
    lab.gates.shut("research")
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say("Research Corfu for me")
    await lab.gates.wait("research")
    await lab.holds("SELECT status FROM envelopes_turn", ("waiting",))
    await lab.kill()
    lab.gates.open("research")
    await _comes_back(lab, visitor)
    await visitor.shows("The card above has the rest.")
    await visitor.settles()

    assert visitor.page.text().count("The card above has the rest") == 1
    (call,) = lab.query("SELECT state, attempt FROM envelopes_toolcall")
    assert call == ("succeeded", 2)
    assert lab.count("envelopes_injection") == 1
    # One dashboard and one progress card, full.
    assert len(visitor.page.select("b-progress")) == 1
    await _is_whole(lab, visitor)


async def test_while_an_approval_is_pending(lab: Lab) -> None:
    visitor = await _asks_to_book(lab)
    (approval,) = visitor.approvals()
    await lab.kill()
    await _comes_back(lab, visitor)
    assert visitor.approvals() == [approval]
    assert lab.query("SELECT status, lease_owner FROM envelopes_turn") == [("suspended", "")]

    # The button that was drawn before the crash.
    answer = await visitor.ask({"type": "decide", "approval": approval, "decision": "granted"})
    assert (answer["type"], answer["state"]) == ("ack", "granted")
    await visitor.shows("Your receipt is above")
    await visitor.settles(2)
    assert lab.count("demo_booking") == 1
    assert visitor.approvals() == []
    await _is_whole(lab, visitor)


async def test_between_decision_and_execution(lab: Lab) -> None:
    visitor = await _asks_to_book(lab)
    (approval,) = visitor.approvals()
    await lab.kill()
    # The decision is stored by a process that runs no turns, and that is gone before anybody can act on it.
    decided = await lab.shell(
        "from envelopes.approvals.service import decide; from envelopes.access import Principal;"
        "from django.contrib.auth.models import User;"
        "User.objects.create_superuser('boss', password='pw');"
        f"print(decide({approval!r}, 'granted', Principal(user=User.objects.get(username='boss'), name='boss'),"
        "source='admin').state)"
    )
    assert decided.strip() == "granted"
    assert lab.count("demo_booking") == 0
    await _comes_back(lab, visitor)
    await visitor.shows("Your receipt is above")
    await visitor.settles(2)
    assert lab.count("demo_booking") == 1
    assert lab.gates.reached("booking-before") == 1
    await _is_whole(lab, visitor)


@pytest.mark.parametrize(("gate", "bookings"), [("booking-before", 0), ("booking-after", 1)])
async def test_inside_a_tool_that_must_not_run_twice(lab: Lab, gate: str, bookings: int) -> None:
    """Nobody knows whether it took effect; that is said, and it is never run again by itself (D19)."""
    lab.gates.shut(gate)
    visitor = await _asks_to_book(lab)
    (approval,) = visitor.approvals()
    await visitor.ask({"type": "decide", "approval": approval, "decision": "granted"})
    await lab.gates.wait(gate)
    await lab.kill()
    lab.gates.open(gate)
    await _comes_back(lab, visitor)
    await visitor.shows("I cannot tell whether they were")
    await visitor.settles(2)

    assert visitor.approvals("unknown") != []
    # And it stays so.
    await lab.kill()
    await _comes_back(lab, visitor)
    again = await visitor.ask({"type": "decide", "approval": approval, "decision": "granted"})
    assert again["code"] == "already_decided"
    await visitor.say("hello")
    await visitor.settles(3)
    assert lab.gates.reached("booking-before") == 1
    assert lab.count("demo_booking") == bookings
    assert lab.query("SELECT state FROM envelopes_toolcall WHERE name = 'book_flight'") == [("unknown",)]
    assert lab.query("SELECT state FROM envelopes_approval") == [("granted",)]
    await _is_whole(lab, visitor)
