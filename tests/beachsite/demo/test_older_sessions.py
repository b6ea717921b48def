"""Conversations whose surfaces were made in v0.9, before Sally spoke 1.0, go on."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from django.utils import timezone

from beachsite.demo.sally import SALLY
from beachsite.demo.script import sally
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Reply, Say
from envelopes.session_state import live_sessions
from tests.beachsite.demo.test_forms import SEARCH, buttons, cards, fill, page, select
from tests.desk import Desk, desk

pytestmark = pytest.mark.django_db(transaction=True)

RECORDED = Path(__file__).with_name("session_0_9.json")
"""What she said in v0.9 to a search and to a click on its first flight, on a day in November 2026."""


def recorded() -> dict[str, list[dict[str, object]]]:
    """The same for the next 15 August."""
    today = timezone.localdate()
    year = today.year if (today.month, today.day) < (8, 15) else today.year + 1
    text = RECORDED.read_text(encoding="utf-8").replace("2027-08-15", f"{year}-08-15")
    said: dict[str, list[dict[str, object]]] = json.loads(text)
    return said


@asynccontextmanager
async def older_session() -> AsyncIterator[Desk]:
    """Two turns of then are in the log, and a process of today has just begun."""
    said = recorded()
    then = [said["search"], said["select"]]

    def script(request: ModelRequest) -> Reply:
        return Reply([Say(then.pop(0), "complete")]) if then else sally(request)

    async with desk(script, *SALLY.tools) as d:
        await d.say(SEARCH)
        await select(d, 0)
        assert not then
        live_sessions.clear()
        yield d


async def versions(d: Desk) -> list[object]:
    """Of the messages of the last turn, in order."""
    last = (await d.turns())[-1]
    return [
        message["version"]
        for row in await d.rows("part", "a2ui-surface")
        for message in row.data["part"]["data"]["messages"]
        if row.turn == last.number
    ]


async def test_a_form_of_v0_9_is_filled_in_and_sent_as_ever() -> None:
    async with older_session() as d:
        await d.act(await fill(d))

        (asked,) = await d.approvals()
        assert asked.args["flight"] == "easyJet EJ4521"
        assert asked.args["lead_passenger"] == "Ada Lovelace"


async def test_cards_of_v0_9_take_what_sally_says_in_1_0() -> None:
    async with older_session() as d:
        first = await fill(d)

        await select(d, 0)

        assert set(await versions(d)) == {"1.0"}
        marked = [words for words in await cards(d) if "\N{CHECK MARK} Selected" in words]
        assert len(marked) == 1
        assert any(
            "Replaced: you have asked for this flight again since." in words for words in await cards(d)
        )
        assert (await page(d)).find(first) is None


async def test_a_newer_search_retires_what_v0_9_made() -> None:
    async with older_session() as d:
        await d.say("Find flights from Lisbon to Copenhagen tomorrow")

        retired = [words for words in await cards(d) if "Replaced by a newer search." in words]
        assert len(retired) == 3
        assert len(await buttons(d, "Search again")) == 1


async def test_another_process_shows_the_same_of_both_versions() -> None:
    async with older_session() as d:
        await select(d, 0)
        before = await d.html()

        live_sessions.clear()

        assert await d.html() == before
        assert re.search(r"v0\.9", json.dumps([row.data for row in await d.rows("part")]))
