"""SIGTERM: what a server runs is free at once, and the next one carries on within a moment."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.faults.conftest import Lab
from tests.visitor import Visitor

# Long enough that a lease which was not given back could not have run out.
PATIENT = {"BEACH_LEASE_SECONDS": "60"}
HELD = "lease_until > strftime('%Y-%m-%d %H:%M:%f', 'now')"


@pytest.mark.parametrize(
    ("gate", "words", "shows"),
    [
        ("words", "Count to three", "third of three"),
        ("research", "Research Corfu for me", "The card above has the rest."),
    ],
)
async def test_leases_are_handed_back_and_the_turn_goes_on(
    make_lab: Callable[..., Lab], gate: str, words: str, shows: str
) -> None:
    lab = make_lab(PATIENT)
    lab.gates.shut(gate)
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say(words)
    await lab.gates.wait(gate)
    assert lab.count("envelopes_turn", HELD) + lab.count("envelopes_toolcall", HELD) > 0
    await lab.stop()
    await visitor.drop()
    assert lab.count("envelopes_turn", HELD) == lab.count("envelopes_toolcall", HELD) == 0

    lab.gates.open(gate)
    await lab.start()
    began = time.monotonic()
    await visitor.connect()
    await visitor.shows(shows)
    assert time.monotonic() - began < 5
    await visitor.settles()
    await visitor.is_as_reloaded()
    await visitor.drop()


async def test_a_tool_that_must_not_run_twice_is_not_run_twice_by_a_redeploy(lab: Lab) -> None:
    lab.gates.shut("booking-before")
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say("Book easyJet EJ4521 on 15 August for Ada Lovelace, 2 tickets")
    await visitor.until(lambda: len(visitor.approvals()) == 1)
    await visitor.ask({"type": "decide", "approval": visitor.approvals()[0], "decision": "granted"})
    await lab.gates.wait("booking-before")
    await lab.stop()
    await visitor.drop()
    lab.gates.open("booking-before")
    await lab.start()
    await visitor.connect()
    await visitor.shows("I cannot tell whether they were")
    assert lab.gates.reached("booking-before") == 1
    assert lab.count("demo_booking") == 0
    await visitor.drop()
