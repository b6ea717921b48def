"""kill -9 at every commit of what people go through, right before it and right after it; `tests/faults` has some of
them.

Each step is a conversation of its own in which the server dies once. The walk is over where it does not die any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.faults.conftest import Lab, database, make_lab
from tests.faults.lab.dying import When
from tests.faults.scenes import SCENES, begun, is_whole

__all__ = ["database", "make_lab"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("scene", SCENES)
async def test_a_server_that_dies_at_any_commit_loses_and_doubles_nothing(
    scene: str, when: When, database: dict[str, str], make_lab: Callable[..., Lab]
) -> None:
    lab = await asyncio.to_thread(make_lab, database)
    step = 0
    while True:
        step += 1
        person = await begun(lab)
        lab.dying.order(when, step)
        await SCENES[scene](person)
        over = lab.dying.withdraw()
        while not over and not person.deaths:
            # It was the last commit, and nobody has noticed yet.
            await person.connected()
            await asyncio.sleep(0.05)
        try:
            await is_whole(lab, [person])
        except BaseException as error:
            error.add_note(f"It had died {when} commit {step}.")
            raise
        if over:
            break
    # What was said with the claim of its turn, and at least three times what is answered: each has been the last.
    assert step > 4
