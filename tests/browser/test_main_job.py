"""The main job in a real browser: search, refine, book, approve or deny; reload, second tab, restart; all of Sally."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import QUICK, Desk, login
from tests.liveserver import Server

SLOW = {"BEACH_SCRIPT_PACE": "300", "BEACH_DEMO_PACE": "0.5"}
SEARCH = "Find flights from London Gatwick to Corfu on 15 August for 2"
BOOK = "Book easyJet EJ4521 on 15 August for Ada Lovelace, 2 tickets"


def open_chat(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/")
    expect(page.get_by_role("heading", name="Where would you like to go?")).to_be_visible()


def say(page: Page, text: str) -> None:
    # Its module listens to Enter, and has run by then.
    page.wait_for_load_state("load")
    page.get_by_label("Message", exact=True).fill(text)
    messages = page.locator("#thread > .b-me")
    before = (messages.last.get_attribute("id") or "") if messages.count() else ""
    page.keyboard.press("Enter")
    # The page draws a message at the end at once; then it comes back as a row, and with a turn after it. Before that
    # nothing is busy, and what waits for the end of the answer would not wait at all. The one before may have the same
    # text.
    expect(messages.last).not_to_have_id(before, timeout=20_000)
    expect(messages.last).to_contain_text(text, timeout=20_000)
    expect(page.locator("#thread > .b-me + #tail")).to_have_count(0, timeout=20_000)


def settled(page: Page, *, seconds: float = 20) -> None:
    expect(page.locator("#panel")).to_have_attribute("data-busy", "false", timeout=seconds * 1000)
    expect(page.locator(".b-live__text")).to_have_count(0)


def answer(page: Page) -> Locator:
    """The last thing that Sally said."""
    return page.locator(".b-turn .b-prose").last


def connected(page: Page) -> None:
    expect(page.locator("#status")).to_have_attribute("data-state", "connected", timeout=20_000)


def same_thread(one: Page, two: Page) -> None:
    """Both tabs show the same as soon as both have everything."""
    seq = two.locator("#panel").get_attribute("data-seq") or ""
    expect(one.locator("#panel")).to_have_attribute("data-seq", seq)
    assert thread(one) == thread(two)


def thread(page: Page) -> str:
    """What the conversation says, without what belongs to one browser."""
    return re.sub(r"\s+", " ", page.locator("#thread").inner_text())


def card(page: Page, title: str) -> Locator:
    return page.locator(".b-surface", has_text=title).last


def bookings(site: Server, passenger: str) -> int:
    asked = f"print(Booking.objects.filter(lead_passenger={passenger!r}).count())"
    return int(site.manage("shell", "-v", "0", "-c", f"from beachsite.demo.models import Booking; {asked}"))


def test_search_refine_select_approve(site: Server, page: Page) -> None:
    open_chat(page, site)
    page.get_by_role("button", name=re.compile("Find a flight")).click()
    settled(page)
    expect(answer(page)).to_contain_text("EJ4521 is the cheapest at £94")
    flights = card(page, "London Gatwick to Corfu")
    expect(flights.get_by_role("button", name="Select")).to_have_count(4)

    form = card(page, "Refine this search")
    passengers = form.get_by_label("Passengers")
    passengers.fill("3")
    # What depends on a field follows while it is edited, and the field keeps its focus.
    expect(form).to_contain_text("3 passengers")
    expect(passengers).to_be_focused()
    form.get_by_label("Direct flights only").check()
    form.get_by_role("button", name="Search again").click()
    settled(page)
    expect(flights.get_by_role("button", name="Select")).to_have_count(3)

    flights.get_by_role("button", name="Select").first.click()
    settled(page)
    passenger = card(page, "Lead passenger")
    proceed = passenger.get_by_role("button", name="Continue to booking")
    expect(proceed).to_be_disabled()
    passenger.get_by_label(re.compile("Lead passenger")).fill("Ada Lovelace")
    passenger.get_by_label(re.compile("Email")).fill("ada@example.org")
    passenger.get_by_label(re.compile("I have read")).check()
    expect(proceed).to_be_enabled()
    proceed.click()

    approval = page.locator(".b-approval")
    expect(approval).to_have_attribute("data-state", "pending", timeout=20_000)
    expect(approval).to_contain_text("Ada Lovelace")
    approve, deny = (
        approval.get_by_role("button", name="Approve"),
        approval.get_by_role("button", name="Deny"),
    )
    expect(deny).to_be_visible()
    approve.click()
    expect(approval).to_have_attribute("data-state", "done", timeout=20_000)
    settled(page)
    expect(answer(page)).to_contain_text("Booked")
    reference = re.search(r"BCH-\w+", approval.inner_text())
    assert reference
    expect(card(page, "Reference")).to_contain_text(reference[0])

    before = thread(page)
    page.reload()
    connected(page)
    assert thread(page) == before
    expect(page.locator(".b-approval [data-decide]")).to_have_count(0)


def test_deny_runs_nothing_and_is_said_everywhere(site: Server, desk: Desk) -> None:
    one = desk.page()
    open_chat(one, site)
    say(one, BOOK.replace("Ada Lovelace", "Grace Hopper"))
    expect(one.locator(".b-approval")).to_have_attribute("data-state", "pending", timeout=20_000)
    two = desk.page()
    two.goto(one.url)
    connected(two)
    expect(two.locator(".b-approval")).to_have_attribute("data-state", "pending")
    one.get_by_role("button", name="Deny").click()
    for page in (one, two):
        expect(page.locator(".b-approval")).to_have_attribute("data-state", "denied")
        expect(page.locator("[data-decide]")).to_have_count(0)
    settled(two)
    assert "not" in answer(two).inner_text().lower()
    assert bookings(site, "Grace Hopper") == 0
    # And she goes on answering.
    say(two, "Thank you")
    settled(two)
    same_thread(one, two)


def test_staff_decide_in_the_admin_and_the_chat_shows_it(
    site: Server, open_desk: Callable[..., Desk], desk: Desk
) -> None:
    chat = desk.page()
    open_chat(chat, site)
    say(chat, BOOK.replace("2 tickets", "7 tickets"))
    expect(chat.locator(".b-approval")).to_have_attribute("data-state", "pending", timeout=20_000)
    admin = open_desk().page()
    login(admin, site, "grace", "a sound password", then="/admin/envelopes/approval/")
    admin.get_by_role("link", name=re.compile("Buy 7 tickets")).click()
    expect(admin.locator("body")).to_contain_text("Ada Lovelace")
    admin.get_by_label(re.compile("Reason")).fill("Within budget")
    admin.get_by_role("button", name=re.compile("^Approve")).click()
    expect(chat.locator(".b-approval")).to_have_attribute("data-state", "done", timeout=20_000)
    expect(chat.locator(".b-approval")).to_contain_text("grace")
    expect(answer(chat)).to_contain_text("Booked")


def test_reload_in_the_middle_of_an_answer(make_server: Callable[..., Server], desk: Desk) -> None:
    server = make_server(environ=SLOW)
    page = desk.page()
    open_chat(page, server)
    say(page, SEARCH)
    expect(page.locator(".b-live__text")).to_be_visible(timeout=20_000)
    page.reload()
    connected(page)
    settled(page, seconds=40)
    assert thread(page).count("EJ4521 is the cheapest") == 1
    watcher = desk.page()
    watcher.goto(page.url)
    connected(watcher)
    assert thread(watcher) == thread(page)


def test_two_tabs_show_the_same_and_either_may_write(site: Server, desk: Desk) -> None:
    one = desk.page()
    open_chat(one, site)
    say(one, "Hello")
    settled(one)
    two = desk.page()
    two.goto(one.url)
    connected(two)
    say(two, SEARCH)
    settled(two)
    settled(one)
    expect(card(one, "London Gatwick to Corfu")).to_be_visible()
    card(one, "Refine this search").get_by_label("Passengers").fill("5")
    expect(card(two, "Refine this search")).to_contain_text("5 passengers")
    expect(card(two, "Refine this search").get_by_label("Passengers")).to_have_value("5")
    same_thread(one, two)


def test_the_server_dies_in_the_middle_of_an_answer(make_server: Callable[..., Server], desk: Desk) -> None:
    server = make_server(environ=SLOW)
    desk.allow("WebSocket|ERR_CONNECTION|Failed to (load|fetch)")
    page = desk.page()
    open_chat(page, server)
    say(page, SEARCH)
    expect(page.locator(".b-live__text")).to_be_visible(timeout=20_000)
    server.kill()
    expect(page.locator("#status")).to_have_attribute("data-state", re.compile("reconnecting|offline"))
    page.get_by_label("Message", exact=True).fill("And hotels in Lisbon for 3 nights")
    page.keyboard.press("Enter")
    expect(page.locator(".b-me").last).to_contain_text("hotels in Lisbon")
    server.start()
    connected(page)
    expect(page.locator(".b-surface", has_text="Lisbon").first).to_be_visible(timeout=60_000)
    settled(page, seconds=60)
    assert thread(page).count("EJ4521 is the cheapest") == 1
    assert thread(page).count("And hotels in Lisbon for 3 nights") == 1
    before = thread(page)
    page.reload()
    connected(page)
    assert thread(page) == before


def test_an_approval_outlives_the_server_and_its_old_button_works(
    make_server: Callable[..., Server], desk: Desk
) -> None:
    server = make_server(environ=QUICK)
    desk.allow("WebSocket|ERR_CONNECTION|Failed to (load|fetch)")
    page = desk.page()
    open_chat(page, server)
    say(page, BOOK)
    expect(page.locator(".b-approval")).to_have_attribute("data-state", "pending", timeout=20_000)
    server.restart()
    connected(page)
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".b-approval")).to_have_attribute("data-state", "done", timeout=20_000)
    settled(page)
    expect(answer(page)).to_contain_text("Booked")


def test_research_fills_a_card_while_it_runs_and_the_chat_goes_on(site: Server, page: Page) -> None:
    open_chat(page, site)
    page.get_by_role("button", name=re.compile("Research Corfu")).click()
    progress = page.locator(".b-progress")
    expect(progress).to_be_visible(timeout=20_000)
    # Until the job has begun, what is written is read beside the result of the tool that begins it (D66).
    expect(page.locator(".b-step[data-state=done]").first).to_be_visible(timeout=20_000)
    say(page, "Hello")
    expect(page.locator(".b-turn").last).to_contain_text("I am Sally", timeout=20_000)
    expect(page.locator(".b-step[data-state=done]")).to_have_count(5, timeout=30_000)
    settled(page, seconds=30)
    expect(progress).to_have_count(1)
    dashboard = page.locator(".b-surface", has=page.get_by_role("tab")).last
    tabs = dashboard.get_by_role("tab")
    assert tabs.count() >= 2
    tabs.nth(1).click()
    expect(tabs.nth(1)).to_have_attribute("aria-selected", "true")
    expect(dashboard.get_by_role("tabpanel")).to_have_count(1)
    tabs.nth(1).press("ArrowLeft")
    expect(tabs.nth(0)).to_be_focused()
    expect(page.locator(".b-cite").first).to_be_visible()
    page.locator(".b-cite").first.click()
    expect(page.locator(".b-pop:popover-open")).to_be_visible()


def test_a_question_back_and_a_polite_failure(site: Server, page: Page) -> None:
    open_chat(page, site)
    page.get_by_role("button", name=re.compile("Somewhere on Friday")).click()
    question = page.locator(".b-clarify")
    expect(question).to_be_visible(timeout=20_000)
    question.get_by_role("button").first.click()
    expect(question.first).to_have_attribute("data-state", "answered")
    settled(page)
    say(page, "Fly me to Atlantis")
    settled(page)
    expect(page.locator(".b-error").last).to_be_visible()
    say(page, "Hello")
    settled(page)
    expect(answer(page)).to_contain_text("I am Sally")


def test_a_link_button_opens_a_page_outside(site: Server, desk: Desk) -> None:
    page = desk.page()
    open_chat(page, site)
    say(page, SEARCH)
    settled(page)
    desk.allow("ERR_|Failed to load")
    # Nothing waits for an answer from outside.
    desk.context.route("https://example.com/**", lambda route: route.abort())
    # Without an opener nothing of the new tab can be seen from here but what it asked for first.
    with desk.context.expect_event("request", lambda request: "example" in request.url) as asked:
        page.get_by_role("button", name="About Corfu").click()
    assert asked.value.url == "https://example.com/corfu"
    assert asked.value.is_navigation_request()


def test_stop_keeps_what_was_read_and_says_so(make_server: Callable[..., Server], page: Page) -> None:
    server = make_server(environ={"BEACH_SCRIPT_PACE": "120", "BEACH_DEMO_PACE": "0.5"})
    open_chat(page, server)
    say(page, "Hello")
    expect(page.locator(".b-live__text")).to_contain_text("Hello", timeout=20_000)
    page.get_by_role("button", name="Stop").click()
    settled(page)
    expect(page.locator(".b-cut")).to_contain_text("You stopped this answer")
    say(page, "Thank you")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_everything_without_scrolling_sideways(
    site: Server, open_desk: Callable[..., Desk], theme: str
) -> None:
    desk = open_desk(viewport={"width": 390, "height": 844}, has_touch=True, color_scheme=theme)
    page = desk.page()
    open_chat(page, site)
    say(page, SEARCH)
    settled(page)
    say(page, BOOK)
    expect(page.locator(".b-approval")).to_have_attribute("data-state", "pending", timeout=20_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Conversations").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_theme_changes_at_once_and_stays(site: Server, page: Page) -> None:
    open_chat(page, site)
    page.emulate_media(color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    for name, is_dark in (("Dark", True), ("Light", False), ("Auto", True)):
        page.get_by_role("button", name="Settings").click()
        choice = page.get_by_role("button", name=name, exact=True)
        choice.click()
        expect(choice).to_have_attribute("aria-pressed", "true")
        expect(page.locator("button[name=theme][aria-pressed=true]")).to_have_count(1)
        page.keyboard.press("Escape")
        assert (page.evaluate(paper) == dark) is is_dark
        page.reload()
        assert (page.evaluate(paper) == dark) is is_dark


def test_a_new_conversation_is_in_the_list_with_its_first_words(site: Server, page: Page) -> None:
    open_chat(page, site)
    say(page, "Hello there")
    entry = page.locator("#sessions [aria-current=page]")
    expect(entry).to_contain_text("Hello there")
    assert page.title() == "Hello there · Beach"


def test_somebody_else_does_not_see_it(site: Server, open_desk: Callable[..., Desk], desk: Desk) -> None:
    page = desk.page()
    open_chat(page, site)
    say(page, "Hello")
    settled(page)
    stranger = open_desk()
    stranger.allow("404")
    other = stranger.page()
    other.goto(page.url)
    expect(other.get_by_role("heading", name="Page not found")).to_be_visible()
