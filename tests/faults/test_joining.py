"""What a person says while a turn is at work is read once, in one turn, whoever dies meanwhile and wherever it came in
(D66)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.faults.conftest import Lab
from tests.faults.lab.dying import When
from tests.faults.scenes import begun
from tests.visitor import Visitor

TOLD = "You also said: and hurry."

TURNS = (
    "SELECT t.number, t.finalized_by, j.number FROM envelopes_turn t"
    " LEFT JOIN envelopes_turn j ON j.id = t.joined_id"
)


async def _is_read_once(lab: Lab, page: Visitor) -> None:
    await page.shows(TOLD)
    await lab.holds(f"{TURNS} ORDER BY t.number", (1, "complete", None), (2, "passed", 1))
    assert lab.query("SELECT turn FROM envelopes_event WHERE kind = 'settled' ORDER BY seq") == [(2,), (1,)]
    text = page.page.text()
    assert text.count(TOLD) == text.count("Added to the request above") == 1
    assert text.index("and hurry") < text.index("It was held.")
    lab.log_is_gap_free()
    await page.is_as_reloaded()
    await page.drop()


async def test_the_server_dies_before_it_is_read(lab: Lab) -> None:
    lab.gates.shut("hold")
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say("Hold on")
    await lab.gates.wait("hold")
    await visitor.say("and hurry")
    await lab.kill()
    await visitor.drop()
    await lab.start()
    lab.gates.open("hold")
    await visitor.connect()
    await _is_read_once(lab, visitor)
    assert lab.query("SELECT attempt FROM envelopes_turn ORDER BY number") == [(2,), (0,)]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_whether_it_has_joined_is_one_commit(when: When, lab: Lab) -> None:
    lab.gates.shut("hold")
    person = await begun(lab)
    await person.say("Hold on")
    await lab.gates.wait("hold")
    await person.say("and hurry")
    # The result of the tool, and the message to the model that has it.
    lab.dying.order(when, 2)
    lab.gates.open("hold")
    await person.until(lambda: TOLD in person.visitor.page.text())
    assert person.deaths == 1
    await _is_read_once(lab, person.visitor)


async def test_it_comes_in_at_another_process(lab: Lab, make_sibling: Callable[[Lab], Lab]) -> None:
    lab.gates.shut("hold")
    other = await asyncio.to_thread(make_sibling, lab)
    here = await (await Visitor.arrive(lab.server)).connect()
    there = await here.tab(other.server).connect()
    await here.say("Hold on")
    await lab.gates.wait("hold")
    ((owner,),) = lab.query("SELECT lease_owner FROM envelopes_turn")
    process = lab.server.process
    assert process is not None
    # At the one that does not run the turn.
    await (there if f":{process.pid}:" in owner else here).say("and hurry")
    lab.gates.open("hold")
    await there.shows(TOLD)
    await here.until(lambda: here.seq == there.seq)
    assert here.page.markup() == there.page.markup()
    await there.drop()
    await _is_read_once(lab, here)
