"""The main job with the keyboard alone: from the first prompt to a booked flight, and every focus can be seen."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk
from tests.browser.focus import tab_to
from tests.browser.test_main_job import answer, card, open_chat, settled
from tests.liveserver import Server


def test_p7_the_keyboard_alone_books_a_flight_and_each_focus_is_in_sight(
    site: Server, open_desk: Callable[..., Desk]
) -> None:
    # 1280 by 800 at 400 percent: where it is in sight here it is on a phone. The other sizes are in tests/long.
    book(open_desk(viewport={"width": 320, "height": 200}).page(), site)


def book(page: Page, site: Server) -> None:
    open_chat(page, site)
    tab_to(page, page.get_by_role("button", name=re.compile("Find a flight")), "Shift+Tab")
    page.keyboard.press("Enter")

    flights = card(page, "London Gatwick to Corfu")
    expect(flights).to_be_visible(timeout=20_000)
    settled(page)
    select = flights.get_by_role("button", name="Select").first
    tab_to(page, select, "Shift+Tab")
    page.keyboard.press("Enter")

    passenger = card(page, "Lead passenger")
    expect(passenger).to_be_visible(timeout=20_000)
    settled(page)
    name = passenger.get_by_label(re.compile("Lead passenger"))
    tab_to(page, name)
    page.keyboard.type("Ada Lovelace")
    tab_to(page, passenger.get_by_label(re.compile("Email")))
    page.keyboard.type("ada@example.org")
    tab_to(page, passenger.get_by_label(re.compile("I have read")))
    page.keyboard.press("Space")
    proceed = passenger.get_by_role("button", name="Continue to booking")
    expect(proceed).to_be_enabled()
    tab_to(page, proceed)
    page.keyboard.press("Enter")

    approval = page.locator(".b-approval")
    expect(approval).to_have_attribute("data-state", "pending", timeout=20_000)
    tab_to(page, approval.get_by_role("button", name="Approve"))
    page.keyboard.press("Enter")
    expect(approval).to_have_attribute("data-state", "done", timeout=20_000)
    settled(page)
    expect(answer(page)).to_contain_text("Booked")
