"""kill -9 while an interface waits for its agent: the log alone says what is pending, and the value comes once."""

from __future__ import annotations

from a2ui.functions.pending import PENDING_TEXT
from tests.faults.conftest import Lab
from tests.visitor import Visitor

WAITING = f"It costs {PENDING_TEXT}."
VALUE = "It costs 22 euros for A1."


async def _asks(lab: Lab) -> Visitor:
    lab.gates.shut("price")
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say("Prices, please")
    await lab.gates.wait("price")
    await visitor.settles()
    await visitor.shows(WAITING)
    return visitor


async def test_a_call_that_is_pending_is_run_again_after_the_restart_and_answered_once(lab: Lab) -> None:
    visitor = await _asks(lab)
    await lab.kill()
    await visitor.drop()
    await lab.start()
    await visitor.connect()
    await lab.gates.wait("price", 2)
    # Whoever comes now sees that it is waited for, as whoever was there does.
    late = await visitor.tab().connect()
    assert WAITING in late.page.text()

    lab.gates.open("price")
    await visitor.shows(VALUE)
    await late.shows(VALUE)

    assert late.page.markup() == visitor.page.markup()
    await late.drop()
    assert lab.count("envelopes_agentcall") == 0
    assert lab.count("envelopes_event", "kind = 'agent-call'") == 1
    assert lab.count("envelopes_event", "kind = 'agent-answer'") == 1
    lab.log_is_gap_free()
    await visitor.is_as_reloaded()
    await visitor.drop()


async def test_a_value_that_has_come_stands_after_a_kill_and_is_not_asked_again(lab: Lab) -> None:
    visitor = await _asks(lab)
    lab.gates.open("price")
    await visitor.shows(VALUE)
    await lab.kill()
    await visitor.drop()
    await lab.start()
    await visitor.connect()

    assert VALUE in visitor.page.text()
    await visitor.say("Count to three")
    await visitor.settles(2)
    assert lab.gates.reached("price") == 1
    await visitor.is_as_reloaded()
    await visitor.drop()
