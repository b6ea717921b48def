"""Two processes on one database, without Redis: each sees what the other wrote by polling, and no turn runs twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.faults.conftest import Lab
from tests.visitor import Visitor

BOOK = "Book easyJet EJ4521 on 15 August for Ada Lovelace, 2 tickets"


async def test_a_turn_of_one_shows_at_the_other(lab: Lab, make_sibling: Callable[[Lab], Lab]) -> None:
    other = await asyncio.to_thread(make_sibling, lab)
    here = await (await Visitor.arrive(lab.server)).connect()
    there = await here.tab(other.server).connect()
    for number, (tab, words) in enumerate(((here, "hello"), (there, "Count to three"), (here, "thanks")), 1):
        await tab.say(words)
        await here.settles(number)
        await there.settles(number)
    assert here.rows == there.rows
    await there.is_as_reloaded()
    assert lab.query("SELECT DISTINCT attempt FROM envelopes_turn") == [(1,)]
    for tab in (here, there):
        await tab.drop()


async def test_a_decision_of_a_management_command_shows_and_resumes_the_turn(lab: Lab) -> None:
    here = await (await Visitor.arrive(lab.server)).connect()
    await here.say(BOOK)
    await here.until(lambda: len(here.approvals()) == 1)
    await lab.shell(
        "from envelopes.approvals.service import decide; from envelopes.access import Principal;"
        "from django.contrib.auth.models import User;"
        "boss = User.objects.create_superuser('boss', password='pw');"
        f"decide({here.approvals()[0]!r}, 'denied', Principal(user=boss, name='boss'), reason='too dear',"
        "source='admin')"
    )
    await here.shows("I have not booked it", "too dear")
    await here.settles(2)
    assert lab.count("demo_booking") == 0
    await here.is_as_reloaded()
    await here.drop()


async def test_many_turns_are_shared_out_and_each_runs_once(
    lab: Lab, make_sibling: Callable[[Lab], Lab]
) -> None:
    other = await asyncio.to_thread(make_sibling, lab)
    visitors = await asyncio.gather(*(Visitor.arrive((lab, other)[n % 2].server) for n in range(10)))
    await asyncio.gather(*(visitor.connect() for visitor in visitors))
    for number in (1, 2):
        await asyncio.gather(*(visitor.say("Count to three") for visitor in visitors))
        await asyncio.gather(*(visitor.settles(number) for visitor in visitors))
    assert lab.query("SELECT DISTINCT status, finalized_by, attempt FROM envelopes_turn") == [
        ("settled", "complete", 1)
    ]
    lab.log_is_gap_free()
    for one in (lab, other):
        assert "database is locked" not in one.server.log.read_text()
    await asyncio.gather(*(visitor.drop() for visitor in visitors))


async def test_when_one_dies_the_other_takes_over(lab: Lab, make_sibling: Callable[[Lab], Lab]) -> None:
    lab.gates.shut("words")
    other = await asyncio.to_thread(make_sibling, lab)
    here = await (await Visitor.arrive(lab.server)).connect()
    there = await here.tab(other.server).connect()
    await here.say("Count to three")
    await lab.gates.wait("words")
    runner = "SELECT lease_owner FROM envelopes_turn"
    dead, alive = (lab, other) if f":{_pid(lab)}:" in lab.query(runner)[0][0] else (other, lab)
    await dead.kill()
    lab.gates.open("words")
    watching, lost = (there, here) if alive is other else (here, there)
    await watching.settles()
    await lost.drop()
    await lost.connect(alive.server)
    await lost.until(lambda: lost.seq == watching.seq)
    assert lost.page.markup() == watching.page.markup()
    await watching.is_as_reloaded()
    assert lab.query("SELECT attempt FROM envelopes_turn") == [(2,)]
    lab.log_is_gap_free()
    for tab in (watching, lost):
        await tab.drop()


def _pid(lab: Lab) -> int:
    assert lab.server.process is not None
    return lab.server.process.pid
