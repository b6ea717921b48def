"""64 people at four processes decide one approval at the same moment, through every door: one decision, one execution,
63 honest answers."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from websockets.exceptions import ConnectionClosed

from envelopes.types import JsonObject
from tests.faults.conftest import Lab, database, make_lab, make_sibling
from tests.faults.scenes import BOOK, BOOKED
from tests.long.racing import (
    LATE,
    Answer,
    Mailed,
    Typed,
    by_admin,
    by_button,
    by_link,
    by_posted_mail,
    client,
    insist,
    mails,
    own_mail,
    sign_in,
    with_doors,
)
from tests.visitor import Visitor

__all__ = ["database", "make_lab", "make_sibling"]

EACH = 2
"""Deciders of a door at one process."""
DOORS = 8
DENIED = "I have not booked it"


async def by_socket(tab: Visitor, approval: str, word: str) -> Answer:
    frame = {
        "type": "decide",
        "id": f"race-{secrets.token_hex(8)}",
        "approval": approval,
        "decision": word,
    }
    answer = await _answered(tab, frame)
    if answer["type"] == "ack":
        return "won", answer["state"]
    if answer.get("retry"):
        return await by_socket(tab, approval, word)
    assert answer["code"] == "already_decided", answer
    return "late", answer["message"]


async def _answered(tab: Visitor, frame: JsonObject) -> JsonObject:
    """What answers ``frame``, which is sent again over a new socket where the one before has ended, as a page does: on
    a machine with more to do either side may give up a connection whose pings are not answered in time."""

    def answers() -> list[JsonObject]:
        return [found for found in tab.frames if found.get("id") == frame["id"]]

    while True:
        with contextlib.suppress(ConnectionClosed):
            await tab.send(frame)
        # All of them wait for one lock, on a machine that may have more to do.
        await tab.until(lambda: bool(answers()) or not tab.is_connected, seconds=120)
        if found := answers():
            return found[0]
        await tab.drop()
        await tab.connect()


async def by_http(lab: Lab, here: Visitor, path: str, body: dict[str, Any], word: str) -> Answer:
    async with client(lab, here.cookies) as http:
        headers = {"X-CSRFToken": here.cookies["csrftoken"], "Prefer": "respond-async"}
        answer = await insist(
            lambda: http.post(f"/api/sessions/{here.session}/{path}", json=body, headers=headers)
        )
    if answer.status_code in (200, 202):
        return "won", word
    assert (answer.status_code, answer.json()["code"]) == (409, "already_decided"), answer.text
    return "late", answer.json()["message"]


async def test_who_decides_over_a_socket_that_ends_hears_of_it_over_the_next_one(
    make_lab: Callable[..., Lab],
) -> None:
    lab = await asyncio.to_thread(make_lab)
    here = await (await Visitor.arrive(lab.server)).connect()
    await here.say(BOOK)
    await here.until(lambda: len(here.approvals()) == 1)
    (approval,) = here.approvals()
    process = lab.server.process
    assert process is not None
    # Silent for longer than a connection is kept whose ping nobody answers.
    process.send_signal(signal.SIGSTOP)
    deciding = asyncio.create_task(by_socket(here, approval, "denied"))
    await here.until(lambda: not here.is_connected, seconds=60)
    process.send_signal(signal.SIGCONT)

    assert await asyncio.wait_for(deciding, 60) == ("won", "denied")
    assert lab.query("SELECT decision FROM envelopes_decision") == [("denied",)]
    await here.drop()


async def test_sixty_four_deciders_at_four_processes_and_one_decision(
    database: dict[str, str], make_lab: Callable[..., Lab], make_sibling: Callable[[Lab], Lab]
) -> None:
    # Staff: by the admin, by a link, by a mail that is posted, by one on standard input, by a button.
    count = 5 * 4 * EACH
    lab = await asyncio.to_thread(make_lab, with_doors(database, count))
    labs = [lab, *[await asyncio.to_thread(make_sibling, lab) for _ in range(3)]]
    signed_in = await sign_in(lab, count)
    here = await (await Visitor.arrive(lab.server)).connect()
    await here.say(BOOK)
    await here.until(lambda: len(here.approvals()) == 1)
    (approval,) = here.approvals()
    ((pk, digest),) = lab.query("SELECT id, digest FROM envelopes_approval WHERE approval_id = ?", approval)
    sent = await mails(lab, count)
    tabs = [[await here.tab(one.server).connect() for _ in range(EACH)] for one in labs]
    typing = [await Typed.begun(lab, own_mail(sent[3 * 4 * EACH + number])) for number in range(4 * EACH)]

    deciders: list[Coroutine[Any, Any, Answer]] = []
    for place, one in enumerate(labs):
        for number in range(EACH):
            word = ("granted", "denied")[(place + number) % 2]
            part = {
                "metadata": {"partType": "approval-response"},
                "data": {"approvalId": approval, "decision": word},
            }
            click = {
                "surfaceId": f"beach:approval:{approval}",
                "componentId": {"granted": "approve", "denied": "deny"}[word],
            }
            at = place * EACH + number
            people: list[Mailed] = [sent[kind * 4 * EACH + at] for kind in range(5)]
            deciders += [
                by_socket(tabs[place][number], approval, word),
                by_http(one, here, "messages", {"parts": [part]}, word),
                by_http(one, here, "actions", click, word),
                by_admin(one, signed_in[at], pk, approval, word),
                by_link(one, people[1].link, word),
                by_posted_mail(one, people[2], word),
                typing[at].ended(word),
                by_button(one, people[4].name, f"{word}:{approval}:{digest}", word),
            ]
    assert len(deciders) == DOORS * 4 * EACH == 64
    answers = await asyncio.gather(*deciders)

    assert Counter(kind for kind, _ in answers) == {"won": 1, "late": 63}
    ((_, won),) = [answer for answer in answers if answer[0] == "won"]
    told = [text for kind, text in answers if kind == "late"]
    assert all((found := LATE.search(text)) and _word(found[2]) == won for text in told), told
    await here.shows(BOOKED if won == "granted" else DENIED, seconds=120)
    rows = lab.log_of(here.session)
    stands = [row.data["part"]["data"]["decision"] for row in rows if row.part_type == "approval-response"]
    assert stands == [won]
    late = Counter(row.data["source"] for row in rows if row.kind == "late-decision")
    ((source,),) = lab.query("SELECT source FROM envelopes_approval WHERE approval_id = ?", approval)
    late[source] += 1
    each = 4 * EACH
    doors = {"chat": each, "http": 2 * each, "admin": each, "link": each, "mail": 2 * each, "webhook": each}
    assert late == doors
    assert lab.query("SELECT decision FROM envelopes_decision") == [(won,)]
    assert lab.count("demo_booking") == lab.gates.reached("booking-before") == (won == "granted")
    # Each try stands in the history, which nobody has bent.
    tried = lab.query("SELECT kind, count(*) FROM envelopes_auditentry GROUP BY kind")
    assert (dict(tried)["decided"], dict(tried)["refused"]) == (1, 63)
    await asyncio.to_thread(lab.server.manage, "beach", "verify-audit")
    lab.log_is_gap_free()
    for tab in [here, *(tab for many in tabs for tab in many)]:
        await tab.drop()


def _word(said: str) -> str:
    return {"approved": "granted", "denied": "denied"}[said]
