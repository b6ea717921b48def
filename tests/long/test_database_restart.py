"""The database's server goes away under load, and comes back: nothing acknowledged is lost, nothing comes twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from tests.faults.conftest import Lab, make_lab, make_sibling
from tests.faults.lab.telling import TOLD
from tests.faults.outbox import Outbox
from tests.faults.own_postgres import OwnPostgres, own_postgres
from tests.faults.scenes import begun, is_whole

__all__ = ["make_lab", "make_sibling"]

pytestmark = pytest.mark.postgres

ALL = "All is told."


@pytest.fixture
async def server() -> AsyncIterator[OwnPostgres]:
    manager = own_postgres()
    made = await asyncio.to_thread(manager.__enter__)
    try:
        yield made
    finally:
        await asyncio.to_thread(manager.__exit__, None, None, None)


async def _talks(person: Outbox, going: asyncio.Event) -> int:
    """A job that says words, and turns beside it as long as the others go on; how many turns."""
    await person.say("Tell 150 times at 40")
    said = 1
    while going.is_set():
        await person.say("hello")
        said += 1
        await asyncio.sleep(0.5)
    await person.until(lambda: ALL in person.visitor.page.text(), seconds=90)
    return said


async def test_the_server_of_the_database_restarts_and_crashes_under_load(
    server: OwnPostgres, make_lab: Callable[..., Lab], make_sibling: Callable[[Lab], Lab]
) -> None:
    # A page that was loaded again would have the last turns only.
    lab = await asyncio.to_thread(make_lab, {"DATABASE_URL": server.url, "LAB_WINDOW_ROWS": "10000"})
    other = await asyncio.to_thread(make_sibling, lab)
    for one in (lab, other):
        # That the database is away is logged.
        one.server.may_fail = True
    people = [await begun(place) for place in (lab, other, lab, other)]
    going = asyncio.Event()
    going.set()
    talking = [asyncio.create_task(_talks(person, going)) for person in people]
    for end, pause in ((server.shut_down, 0.0), (server.crash, 2.0)):
        enough = len(lab.gates.notes(TOLD)) + 80
        while len(lab.gates.notes(TOLD)) < enough:
            await asyncio.sleep(0.02)
            assert not any(task.done() for task in talking), [task for task in talking if task.done()]
        await asyncio.to_thread(end)
        await asyncio.sleep(pause)
        await asyncio.to_thread(server.start)
    going.clear()
    said = await asyncio.gather(*talking)

    assert min(said) > 1
    assert all(person.deaths == 0 for person in people)
    await is_whole(lab, people)
