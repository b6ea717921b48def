"""Data of one slot over turns: one card, brought up to date where it stands, and a later turn leads there."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PLANNER, Desk
from tests.browser.test_main_job import say, settled
from tests.liveserver import Server


def test_a_later_turn_updates_the_card_where_it_stands_and_leads_there_by_keyboard(
    planner: Server, desk: Desk, page: Page
) -> None:
    page.goto(f"{planner.url}/")
    say(page, "Plan a trip")
    settled(page)
    card = page.get_by_role("group", name="Data from Pia")
    expect(card.locator("li")).to_have_text(["Corfu", "Paxos", "Parga <b>"])
    first = card.get_attribute("id")
    say(page, "Plan two days")
    settled(page)

    expect(card.locator("li")).to_have_text(["Corfu", "Paxos"])
    assert card.get_attribute("id") == first
    link = page.get_by_role("link", name="planner.trip")
    expect(page.locator(".b-turn").last).to_contain_text("Updated further up: planner.trip")
    link.focus()
    page.keyboard.press("Enter")
    expect(card).to_be_focused()
    expect(card).to_be_in_viewport()

    page.reload()
    expect(card.locator("li")).to_have_text(["Corfu", "Paxos"])
    expect(page.locator(".b-turn").last).to_contain_text("Updated further up")


def test_the_link_leads_to_a_card_that_the_page_does_not_have(
    make_server: Callable[..., Server], desk: Desk, page: Page
) -> None:
    server = make_server(environ={**PLANNER, "BEACH_WINDOW_ROWS": "8"})
    page.goto(f"{server.url}/")
    for _ in range(11):
        say(page, "Plan a trip")
        settled(page)
    page.reload()
    card = page.get_by_role("group", name="Data from Pia")
    expect(card).to_have_count(0)

    page.get_by_role("link", name="planner.trip").last.click()

    expect(card).to_be_in_viewport()
    expect(card).to_have_count(1)
