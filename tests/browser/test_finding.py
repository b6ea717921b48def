"""The search in a conversation, by hand and by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_main_job import say, settled
from tests.liveserver import Server

BUTTON = "Search this conversation"
WORDS = "Words in this conversation"


@pytest.fixture
def talked(page: Page, site: Server) -> Page:
    """A conversation of two turns, begun on this page, which has not been loaded since."""
    page.goto(f"{site.url}/?new")
    for text in ("hello there", "what can you do here"):
        say(page, text)
        settled(page)
    return page


def ask(page: Page, words: str) -> Locator:
    """Open the search and look for ``words``; the box."""
    page.get_by_role("button", name=BUTTON).click()
    box = page.get_by_role("searchbox", name=WORDS)
    expect(box).to_be_focused()
    box.press_sequentially(words)
    return box


def test_a_conversation_can_be_searched_on_the_page_on_which_it_began(page: Page, site: Server) -> None:
    page.goto(f"{site.url}/?new")
    button = page.get_by_role("button", name=BUTTON)
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    expect(button).to_have_count(0)
    say(page, "hello there")
    expect(button).to_be_visible()
    settled(page)
    ask(page, "hello")
    hit = page.locator(".b-find__hit", has_text="hello there")
    expect(hit).to_have_count(1)
    hit.click()
    expect(page.locator("#e1:target")).to_be_in_viewport()


def test_enter_leads_to_what_is_found_and_tab_from_there_to_the_next(talked: Page) -> None:
    box = ask(talked, "here")
    box.press("Enter")
    hits = talked.locator(".b-find__hit")
    expect(hits.first).to_be_focused()
    assert hits.count() > 1
    # What typing has asked for comes after it, and takes the focus from nothing.
    talked.wait_for_timeout(400)
    expect(hits.first).to_be_focused()
    talked.keyboard.press("Tab")
    expect(hits.nth(1)).to_be_focused()
    talked.keyboard.press("Shift+Tab")
    talked.keyboard.press("Shift+Tab")
    expect(box).to_be_focused()
    talked.keyboard.press("Tab")
    talked.keyboard.press("Enter")
    talked.wait_for_url("**#*")
    expect(talked.locator(":target")).to_be_in_viewport()


def test_enter_for_what_is_nowhere_stays_at_the_words(talked: Page) -> None:
    box = ask(talked, "nowhereatall")
    box.press("Enter")
    expect(talked.locator("#found")).to_contain_text("No message here has these words.")
    expect(box).to_be_focused()


@pytest.mark.parametrize("words", ["hello", "שלום"])
@pytest.mark.parametrize("page_runs", ["ltr", "rtl"])
def test_the_sign_of_the_search_covers_nothing_whichever_way_words_run(
    talked: Page, words: str, page_runs: str
) -> None:
    talked.evaluate("way => { document.documentElement.dir = way; }", page_runs)
    box = ask(talked, words)
    sign = talked.locator("#find .b-icon").bounding_box()
    assert sign is not None
    talked.mouse.click(sign["x"] + sign["width"] / 2, sign["y"] + sign["height"] / 2)
    expect(box).to_have_value(words)
    expect(box).to_be_focused()


def test_on_a_page_of_its_own_enter_searches(talked: Page) -> None:
    page = talked.context.new_page()
    page.goto(f"{talked.url.partition('#')[0]}find")
    page.get_by_role("searchbox", name=WORDS).fill("hello")
    page.keyboard.press("Enter")
    expect(page.locator(".b-find__hit")).not_to_have_count(0)
    expect(page.get_by_role("searchbox", name=WORDS)).to_have_value("hello")
