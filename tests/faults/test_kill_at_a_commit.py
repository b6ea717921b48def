"""kill -9 inside of a commit and right after it: what was not committed is gone, what was is there, and nobody is told
anything else. ``tests/long/test_fault_walk.py`` does it at every commit, on both databases."""

from __future__ import annotations

import asyncio
import functools

import pytest

from tests.faults.conftest import Lab
from tests.faults.lab.dying import When
from tests.faults.lab.telling import TOLD
from tests.faults.scenes import begun, is_whole


async def test_while_the_last_block_of_a_turn_is_held(lab: Lab) -> None:
    """It is complete and read, and waits 50 ms at most for the end of its reply: it is written again, and stands
    once."""
    person = await begun(lab)
    lab.gates.make_fatal("complete")
    await person.say("Count to three")
    process = lab.server.process
    assert process is not None
    await asyncio.to_thread(process.wait, 20)
    said = functools.partial(lab.count, "envelopes_event", "part_type = 'response'")
    assert said() == 2
    # The text itself may have reached the page before.
    await person.until(lambda: person.deaths == 1 and said() == 3)
    await person.until(lambda: "third of three and long enough" in person.visitor.page.text())
    assert person.deaths == 1
    assert lab.query("SELECT attempt FROM envelopes_turn") == [(2,)]
    assert said() == 3
    await is_whole(lab, [person])


@pytest.mark.parametrize("when", ["before", "after"])
async def test_in_a_group_of_what_jobs_say(when: When, lab: Lab) -> None:
    """Before: inside of the group, whose rows are in the transaction. After: between commit and frame."""
    people = [await begun(lab) for _ in range(3)]
    await asyncio.gather(*(person.say("Tell 40 times at 40") for person in people))
    await people[0].until(lambda: len(lab.gates.notes(TOLD)) > 20)
    lab.dying.order(when, 5, "group")
    await asyncio.gather(
        *(person.until(lambda page=person.visitor.page: "All is told." in page.text()) for person in people)
    )
    assert sum(person.deaths for person in people) == 1
    await is_whole(lab, people)
