"""Two web processes that are told at the same moment, on PostgreSQL, how one approval is decided: one decision stands,
and what it allows is done once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from envelopes.types import JsonObject
from tests.a2ui.strategies import FUZZ
from tests.faults.conftest import Lab, make_lab, make_sibling
from tests.faults.scenes import BOOK, BOOKED
from tests.visitor import Visitor

__all__ = ["make_lab", "make_sibling"]

AT_ONCE, ROUNDS = 3, 2 * FUZZ
DENIED = "I have not booked it"


async def _decided(lab: Lab, other: Lab, number: int) -> tuple[str, str]:
    """One question: at which process it was decided, and how."""
    here = await (await Visitor.arrive(lab.server)).connect()
    there = await here.tab(other.server).connect()
    await here.say(BOOK)
    for tab in (here, there):
        await tab.until(lambda tab=tab: len(tab.approvals()) == 1)
    decide: JsonObject = {"type": "decide", "approval": here.approvals()[0]}
    words = ("granted", ("granted", "denied")[number % 2])
    answers = await asyncio.gather(
        *(tab.ask({**decide, "decision": word}) for tab, word in zip((here, there), words, strict=True))
    )

    assert sorted(answer["type"] for answer in answers) == ["ack", "error"], answers
    won = next(place for place, answer in enumerate(answers) if answer["type"] == "ack")
    assert answers[won]["state"] == words[won]
    assert answers[1 - won]["code"] == "already_decided"
    for tab in (here, there):
        await tab.shows(BOOKED if words[won] == "granted" else DENIED)
    # The turn that was suspended has gone on once, at one of them.
    rows = lab.log_of(here.session)
    stands = [row.data["part"]["data"]["decision"] for row in rows if row.part_type == "approval-response"]
    assert stands == [words[won]]
    assert sum(row.kind == "late-decision" for row in rows) == 1
    for tab in (here, there):
        await tab.until(lambda tab=tab: not tab.busy)
        await tab.is_as_reloaded()
        await tab.drop()
    return ("here", "there")[won], words[won]


async def test_two_processes_decide_the_same_approval_at_once(
    postgres_url: str, make_lab: Callable[..., Lab], make_sibling: Callable[[Lab], Lab]
) -> None:
    lab = await asyncio.to_thread(make_lab, {"DATABASE_URL": postgres_url})
    other = await asyncio.to_thread(make_sibling, lab)
    decided: list[tuple[str, str]] = []
    for number in range(ROUNDS):
        decided += await asyncio.gather(
            *(_decided(lab, other, number * AT_ONCE + place) for place in range(AT_ONCE))
        )

    granted = sum(word == "granted" for _, word in decided)
    assert lab.count("demo_booking") == lab.gates.reached("booking-before") == granted
    states = dict(
        lab.query("SELECT state, count(*) FROM envelopes_toolcall WHERE name = 'book_flight' GROUP BY state")
    )
    assert states == Counter("succeeded" if word == "granted" else "denied" for _, word in decided)
    assert lab.query("SELECT max(attempt) FROM envelopes_turn") <= [(2,)]
    lab.log_is_gap_free()
