"""Forms of the demo in real tabs: what another window has replaced meanwhile, and what a field does not let through."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Desk
from tests.browser.test_main_job import SEARCH, card, connected, open_chat, say, settled
from tests.liveserver import Server

# A tab to which rows come late: they are held until `release()`.
LATE = """
const Real = WebSocket;
let held = [];
window.late = false;
window.WebSocket = class extends Real {
  set onmessage(take) {
    super.onmessage = event => window.late && 'ops' in JSON.parse(event.data) ? held.push([take, event]) : take(event);
  }
};
window.release = () => { window.late = false; for (const [take, event] of held.splice(0)) take(event); };
"""
SIZES = [{"width": 1280, "height": 800}, {"width": 390, "height": 844}]


@pytest.fixture
def server(site: Server) -> Server:
    return site


def select(page: Page, number: int) -> None:
    card(page, "London Gatwick to Corfu").get_by_role("button", name=re.compile("^Select")).nth(
        number
    ).click()
    settled(page)


def fill(form: Locator) -> Locator:
    form.get_by_label(re.compile("Lead passenger")).fill("Ada Lovelace")
    form.get_by_label(re.compile("Email")).fill("ada@example.org")
    form.get_by_label(re.compile("I have read")).check()
    proceed = form.get_by_role("button", name="Continue to booking")
    expect(proceed).to_be_enabled()
    return proceed


@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone"])
def test_p21_a_click_on_a_form_that_another_tab_has_replaced_tells_why(
    server: Server, open_desk: Callable[..., Desk], size: dict[str, int]
) -> None:
    desk = open_desk(viewport=size)
    desk.context.add_init_script(LATE)
    one = desk.page()
    open_chat(one, server)
    say(one, SEARCH)
    settled(one)
    select(one, 0)
    proceed = fill(card(one, "Lead passenger"))
    two = desk.page()
    two.goto(one.url)
    connected(two)
    one.evaluate("window.late = true")
    select(two, 1)
    replaced = "Replaced: you have chosen another flight"
    expect(two.locator(".b-surface", has_text=replaced)).to_be_visible()

    proceed.click()

    expect(one.locator("#toasts")).to_contain_text("This button is gone")
    one.evaluate("release()")
    expect(one.locator(".b-surface", has_text=replaced)).to_be_visible()
    expect(one.get_by_label(re.compile("Lead passenger"))).to_have_count(1)
    expect(one.locator(".b-approval")).to_have_count(0)


def test_p22_the_search_waits_until_its_fields_can_be_searched(server: Server, page: Page) -> None:
    open_chat(page, server)
    say(page, SEARCH)
    settled(page)
    form = card(page, "Refine this search")
    search = form.get_by_role("button", name="Search again")
    day = form.get_by_label("Day")
    good = day.input_value()

    day.fill("2020-01-01")
    expect(form).to_contain_text("Choose today or a later date")
    expect(search).to_be_disabled()
    day.fill(good)
    expect(search).to_be_enabled()
    form.get_by_label("Passengers").fill("1.5")
    expect(form).to_contain_text("Enter a whole number from 1 to 9")
    expect(search).to_be_disabled()
    form.get_by_label("Passengers").fill("3")
    expect(search).to_be_enabled()


def test_p14_stopped_research_goes_on_from_its_card(make_server: Callable[..., Server], page: Page) -> None:
    server = make_server(environ={"BEACH_SCRIPT_PACE": "6000", "BEACH_DEMO_PACE": "1"})
    open_chat(page, server)
    page.get_by_role("button", name=re.compile("Research Corfu")).click()
    expect(page.locator(".b-step[data-state=done]")).to_have_count(1, timeout=20_000)
    page.get_by_role("button", name="Stop").click()
    settled(page)

    dashboard = card(page, "Corfu, Greece")
    expect(dashboard).to_contain_text(re.compile(r"Stopped at [1-4] of 5 sections"))
    expect(dashboard).not_to_contain_text("Sources (0)")
    expect(page.locator(".b-progress")).to_contain_text("Stopped at")
    dashboard.get_by_role("button", name="Continue the research").click()
    settled(page, seconds=30)

    expect(dashboard).not_to_contain_text("Stopped at")
    expect(dashboard).to_contain_text("Sources (5)")
    expect(page.locator(".b-cite").first).to_be_visible()
