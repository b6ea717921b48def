"""Sally's forms and cards on the real runtime: what they let through, and what becomes of them when things change."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from beachsite.demo.errors import BadDate
from beachsite.demo.research import researcher
from beachsite.demo.sally import SALLY
from beachsite.demo.script import sally
from beachsite.demo.surfaces.passenger import AGAIN, REPLACED
from beachsite.demo.tools import SearchFlights, search_flights
from envelopes import intake
from envelopes.errors import BeachError
from envelopes.registries.tools import Tool
from tests.beachsite.demo.stage import Context
from tests.desk import Desk, desk
from tests.envelopes.transports.panel.talk import Page, words
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)

SEARCH = "Find flights from London Gatwick to Corfu on 15 August for 2"


@asynccontextmanager
async def travel_desk(**tools: Tool) -> AsyncIterator[Desk]:
    """Sally, with some of her tools replaced."""
    async with desk(sally, *(tools.get(tool.name, tool) for tool in SALLY.tools)) as d:
        yield d


async def page(d: Desk) -> Page:
    return Page(await d.html())


async def buttons(d: Desk, label: str) -> list[str]:
    """The ids of the buttons with these words on them or as their name, in order."""
    found = [
        element for element in (await page(d)).root.iter("button") if element.get("data-act") is not None
    ]
    return [str(b.get("id")) for b in found if label in (words(b), b.get("aria-label"))]


async def fields(d: Desk, kind: str) -> list[str]:
    """The ids of the fields of a kind, in order."""
    return [str(e.get("id")) for e in (await page(d)).root.iter() if e.get("data-in") == kind]


async def cards(d: Desk) -> list[str]:
    return [words(card) for card in (await page(d)).select("b-surface__body")]


async def refused(d: Desk, target: str) -> str:
    """Click what must not do anything; returns what the person is told."""
    before = len(await d.turns())
    with pytest.raises(BeachError) as caught:
        await d.act(target)
    assert len(await d.turns()) == before
    return caught.value.message


async def select(d: Desk, number: int) -> None:
    rows = [b for b in (await page(d)).root.iter("button") if re.search("Select", b.get("aria-label") or "")]
    await d.act(str(rows[number].get("id")))


async def fill(d: Desk, form: int = 0) -> str:
    """Fill in a passenger form; returns its button."""
    texts, checks = await fields(d, "text"), await fields(d, "check")
    # The last two texts and the last tick belong to the newest form.
    places = texts[len(texts) - 2 * (form + 1) :]
    await d.edit(places[0], "Ada Lovelace")
    await d.edit(places[1], "ada@example.org")
    await d.edit(checks[-1 - form], True)
    return (await buttons(d, "Continue to booking"))[-1 - form]


# -- replaced ---------------------------------------------------------------------------------------------------------


async def test_p21_choosing_another_flight_replaces_the_form_of_the_first() -> None:
    async with travel_desk() as d:
        await d.say(SEARCH)
        await select(d, 0)
        first = await fill(d)
        await select(d, 1)

        told = await refused(d, first)

        assert "gone" in told
        assert await d.approvals() == []
        assert any("Replaced: you have chosen another flight since." in card for card in await cards(d))
        # The second one works.
        await d.act(await fill(d))
        (asked,) = await d.approvals()
        assert asked.args["flight"] == "Meridia Air ME 718"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Book the easyJet one for Ada Lovelace", AGAIN),
        ("Book the easyJet one", AGAIN),
        ("Book EJ4521 for Ada Lovelace", AGAIN),
        ("Book ME 718 for Ada Lovelace", REPLACED),
        ("Book ME 718", REPLACED),
        ("Book EJ4521 on 16 August for Ada Lovelace", REPLACED),
    ],
)
async def test_a_form_says_whether_it_was_another_flight_that_replaced_it(words: str, told: str) -> None:
    async with travel_desk() as d:
        await d.say(SEARCH)
        await select(d, 0)
        assert any("easyJet EJ4521" in card for card in await cards(d))

        await d.say(words)

        said = [text for text in (AGAIN, REPLACED) for card in await cards(d) if text in card]
        assert said == [told]
        asked = [approval.args["flight"] for approval in await d.approvals()]
        flight = "easyJet EJ4521" if told == AGAIN or "EJ4521" in words else "Meridia Air ME 718"
        assert asked == ([flight] if "Ada" in words else [])


async def test_a_form_whose_flight_is_selected_again_speaks_of_no_other() -> None:
    async with travel_desk() as d:
        await d.say(SEARCH)
        await select(d, 0)
        await select(d, 0)

        shown = " ".join(await cards(d))
        assert AGAIN in shown and REPLACED not in shown


async def test_p21_a_newer_search_replaces_the_lists_and_forms_before_it() -> None:
    async with travel_desk() as d:
        await d.say(SEARCH)
        (old_search,) = await buttons(d, "Search again")
        old_select = (await buttons(d, "Select"))[0]
        await select(d, 0)
        old_form = await fill(d)
        await d.say("Find flights from Lisbon to Copenhagen tomorrow")

        assert await refused(d, old_select) == "Replaced by a newer search."
        for button in (old_search, old_form):
            assert "gone" in await refused(d, button)
        assert sum("Replaced by a newer search." in card for card in await cards(d)) == 3
        assert len(await buttons(d, "Search again")) == 1


async def test_p21_searching_again_in_the_form_replaces_what_was_chosen() -> None:
    async with travel_desk() as d:
        await d.say(SEARCH)
        await select(d, 0)
        chosen = await fill(d)
        await d.act((await buttons(d, "Search again"))[0])

        await refused(d, chosen)

        assert "Replaced by a newer search. Nothing was booked from this form." in (await cards(d))[-1]


async def test_p21_a_form_sent_after_it_was_replaced_asks_for_nothing() -> None:
    """Two windows: in one another flight is chosen, and before anything of that shows, the other sends the form."""
    async with travel_desk() as d:
        await d.say(SEARCH)
        await select(d, 0)
        form = await fill(d)
        another = (await buttons(d, "Select"))[1]

        await _at_once(d, another, form)

        assert await d.approvals() == []
        assert any("has been replaced, so I have not booked anything" in text for text in await d.texts())


async def test_p21_a_form_sent_from_two_windows_asks_once() -> None:
    async with travel_desk() as d:
        await d.say(SEARCH)
        await select(d, 0)
        form = await fill(d)

        await _at_once(d, form, form)

        assert len(await d.approvals()) == 1
        assert any("sent already" in text for text in await d.texts())


async def test_p21_another_flight_cannot_be_chosen_while_an_approval_waits() -> None:
    async with travel_desk() as d:
        await d.say(SEARCH)
        await select(d, 0)
        await d.act(await fill(d))

        await select(d, 1)

        assert (await d.texts())[-1].startswith("A booking is waiting for your approval above.")
        assert await buttons(d, "Continue to booking") == []
        # A denial opens the form again: it can be sent once more, or another flight be chosen.
        await d.decide("denied")
        (again,) = await buttons(d, "Continue to booking")
        await d.act(again)
        assert len(await d.approvals()) == 2
        await d.decide("denied")
        await select(d, 1)
        assert len(await buttons(d, "Continue to booking")) == 1
        assert len(await d.approvals()) == 2


async def _at_once(d: Desk, *targets: str) -> None:
    """Clicks that the server takes before it has answered any of them: its runner is in this loop, which waits."""

    def post() -> None:
        for target in targets:
            intake.post_action(d.session, d.owner, d.id(), target)

    assert together(post) == [None]
    await d.quiet()


# -- refused ----------------------------------------------------------------------------------------------------------


async def test_p22_passengers_are_a_whole_number_from_one_to_nine() -> None:
    async with travel_desk() as d:
        await d.say(SEARCH)
        (search,) = await buttons(d, "Search again")
        (passengers,) = await fields(d, "number")
        for given in ("1.5", "0", "10", "-2", "2e0", ""):
            await d.edit(passengers, given)

            await refused(d, search)

            assert "Enter a whole number from 1 to 9." in (await cards(d))[-1], given


async def test_p22_a_day_that_is_not_on_sale_holds_the_button() -> None:
    past, ahead = "Choose today or a later date.", "or an earlier date"
    async with travel_desk() as d:
        await d.say(SEARCH)
        (search,) = await buttons(d, "Search again")
        (field,) = await fields(d, "date")
        for days, sentence in ((-1, past), (-4000, past), (500, ahead)):
            day = timezone.localdate() + timedelta(days=days)
            try:
                await d.edit(field, day.isoformat())
            except BeachError:
                pytest.fail("The day stayed what it was, and the search would be for that one.")

            await refused(d, search)

            assert sentence in (await cards(d))[-1]
            with pytest.raises(BadDate, match=sentence):
                await search_flights(Context(), SearchFlights(origin="Lisbon", destination="Corfu", date=day))


async def test_p22_the_passenger_form_refuses_what_the_booking_would() -> None:
    wrong_name, wrong_email = "Enter the passenger’s full name.", "Enter a valid email address."
    async with travel_desk() as d:
        await d.say(SEARCH)
        await select(d, 0)
        go = await fill(d)
        name, email = (await fields(d, "text"))[-2:]
        for given, address, sentence in (
            ("  ", "ada@example.org", wrong_name),
            (" A ", "ada@example.org", wrong_name),
            ("A" * 121, "ada@example.org", wrong_name),
            ("Ada Lovelace", "ada@example", wrong_email),
            ("Ada Lovelace", f"{'a' * 250}@example.org", wrong_email),
        ):
            await d.edit(name, given)
            await d.edit(email, address)

            await refused(d, go)

            assert sentence in (await cards(d))[-1], (given, address)


# -- broken off -------------------------------------------------------------------------------------------------------


class Steps:
    """The time between the sections of a research: it ends after so many of them, in one way or another."""

    def __init__(self, after: int, how: str) -> None:
        self.after, self.how = after, how
        self.taken = 0
        self.there, self.release = asyncio.Event(), asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.taken += 1
        if self.taken == self.after + 1:
            self.there.set()
            if self.how == "failed":
                raise RuntimeError("The library is closed.")
            await self.release.wait()


@pytest.mark.parametrize(("after", "how"), [(0, "stopped"), (2, "stopped"), (1, "failed"), (2, "expired")])
async def test_p14_research_that_ended_early_says_so_and_goes_on_where_it_was(after: int, how: str) -> None:
    steps = Steps(after, how)
    tool = next(tool for tool in SALLY.tools if tool.name == "research_destination")
    tool = replace(tool, run=researcher(steps), timeout=3 if how == "expired" else None)
    async with travel_desk(research_destination=tool) as d:
        await d.say("Research Corfu for me", wait=False)
        await asyncio.wait_for(steps.there.wait(), 10)
        if how == "stopped":
            await _until(d, "waiting")
            await sync_to_async(intake.stop)(d.session, d.owner, "stop")
            steps.release.set()
        await _until(d, "settled")
        await d.quiet()

        (card,) = await cards(d)

        assert f"Stopped at {after} of 5 sections" in card
        assert "…" not in card
        assert card.count("Not looked up: the research was stopped.") == 5 - after
        assert "Sources (0)" not in card
        if how == "stopped":
            (progress,) = (await page(d)).select("b-progress")
            assert f"Stopped at {after} of 5" in words(progress)

        (go_on,) = await buttons(d, "Continue the research")
        await d.act(go_on)
        await _until(d, "settled")
        await d.quiet()

        (card,) = await cards(d)
        assert "Stopped" not in card
        assert "Not looked up" not in card
        assert "Sources (5)" in card
        # Each section was done once, but for the one that was broken off.
        assert steps.taken == 6
        assert len((await page(d)).select("b-progress")) == 2


async def _until(d: Desk, status: str) -> None:
    for _ in range(1500):
        if (await d.turns())[-1].status == status:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"The turn is not {status}.")
