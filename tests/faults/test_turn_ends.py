"""kill -9 while one actor asks another, while the time of a turn is up and while one is to be tried again: each happens
once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import product

import pytest

from tests.a2ui.strategies import FUZZ
from tests.faults.conftest import Lab
from tests.faults.lab.dying import When
from tests.faults.scenes import begun, is_whole
from tests.visitor import Visitor

MIDDLE = "This sentence is the second of three"
END = "That was the helper."
WHENS: tuple[When, When] = ("before", "after")
LAST = [*product(WHENS, (1, 2, 3))] if FUZZ > 1 else [("after", 1), ("before", 3)]
"""The last commit of a process, by its number; all of them only where there is time."""

ENDS = "SELECT turn FROM envelopes_event WHERE kind = 'settled' ORDER BY seq"


def _stores(lab: Lab, sql: str) -> None:
    """Another process than the servers, which may have been told to die at a commit."""
    with closing(sqlite3.connect(lab.server.data / "beach.sqlite3", timeout=20)) as connection, connection:
        connection.execute(sql)


async def test_an_actor_that_was_asked_is_carried_on_and_its_words_stand_once(lab: Lab) -> None:
    lab.gates.shut("words")
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say("Ask the helper")
    await lab.gates.wait("words")
    await visitor.until(lambda: any(words.startswith(MIDDLE) for words in visitor.streamed.values()))
    await lab.kill()
    await visitor.drop()
    await lab.start()
    await visitor.connect()
    await lab.gates.wait("words", 2)
    await visitor.until(lambda: sum(words.startswith(MIDDLE) for words in visitor.streamed.values()) == 2)
    assert visitor.page.text().count(MIDDLE) == 1
    late = await visitor.tab().connect()
    # Streamed text comes behind the welcome.
    await late.until(lambda: MIDDLE in late.page.text())
    assert late.page.text().count(MIDDLE) == 1
    lab.gates.open("words")
    await visitor.shows(END)

    await lab.holds(ENDS, (2,), (1,))
    assert visitor.page.text().count(MIDDLE) == visitor.page.text().count(END) == 1
    assert lab.query("SELECT actor, status, attempt FROM envelopes_turn ORDER BY number") == [
        ("lab", "settled", 2),
        ("helper", "settled", 2),
    ]
    assert lab.count("envelopes_injection", "kind = 'delegated'") == 1
    lab.log_is_gap_free()
    for page in (visitor, late):
        await page.is_as_reloaded()
        await page.drop()


@pytest.mark.parametrize(("when", "number"), LAST)
async def test_the_answer_comes_back_once_whichever_commit_is_the_last(
    when: When, number: int, lab: Lab
) -> None:
    lab.gates.shut("words")
    person = await begun(lab)
    await person.say("Ask the helper")
    await lab.gates.wait("words")
    lab.dying.order(when, number)
    lab.gates.open("words")
    await person.until(lambda: END in person.visitor.page.text())
    assert person.deaths == 1
    await is_whole(lab, [person], more=1)
    assert lab.query(ENDS) == [(2,), (1,)]
    assert lab.count("envelopes_injection", "kind = 'delegated'") == 1
    text = person.visitor.page.text()
    assert text.count(MIDDLE) == text.count(END) == 1


async def test_a_turn_whose_time_is_up_when_nobody_runs_it_says_so_once(lab: Lab) -> None:
    lab.gates.shut("words")
    visitor = await (await Visitor.arrive(lab.server)).connect()
    await visitor.say("Count to three")
    await lab.gates.wait("words")
    await lab.kill()
    await visitor.drop()
    _stores(lab, "UPDATE envelopes_turn SET deadline = 1")
    await lab.start()
    await lab.holds("SELECT finalized_by FROM envelopes_turn", ("timeout",))
    await lab.restart()
    await visitor.connect()
    await visitor.shows("This took too long")
    await visitor.settles()
    assert lab.count("envelopes_event", "part_type = 'error'") == 1
    assert lab.query("SELECT finalized_by, status FROM envelopes_turn") == [("timeout", "settled")]
    lab.log_is_gap_free()
    await visitor.is_as_reloaded()
    await visitor.drop()


@pytest.mark.parametrize("when", ["before", "after"])
async def test_what_is_to_be_tried_again_is_tried_once(when: When, lab: Lab) -> None:
    person = await begun(lab)
    # The first is what was said, with the claim of its turn; the second its end, with the turn that tries again.
    lab.dying.order(when, 2)
    await person.say("Is the line up?")
    await person.until(lambda: "Tries again at" in person.visitor.page.text())
    await lab.holds("SELECT status FROM envelopes_turn ORDER BY number", ("settled",), ("waiting",))
    # Its hour has come, and whoever begins it dies of that.
    lab.dying.order(when, 1)
    _stores(lab, "UPDATE envelopes_turn SET due_at = 1 WHERE due_at IS NOT NULL")
    await person.until(lambda: "The line is up again." in person.visitor.page.text())
    await is_whole(lab, [person], more=1)
    assert person.deaths == 2
    assert lab.query(ENDS) == [(1,), (2,)]
    assert lab.count("envelopes_event", "part_type = 'error'") == 1
    assert person.visitor.page.text().count("The line is up again.") == 1
