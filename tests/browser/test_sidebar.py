"""The list of conversations beside the chat, while other conversations go on."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk
from tests.browser.test_main_job import BOOK, open_chat, say, settled
from tests.liveserver import Server


def test_p16_another_conversation_that_begins_to_wait_shows_at_once(site: Server, desk: Desk) -> None:
    here = desk.page()
    open_chat(here, site)
    say(here, "hello")
    settled(here)
    mine = here.locator("#sessions [aria-current=page]")
    expect(mine).to_have_count(1)

    there = desk.page()
    there.goto(f"{site.url}/?new")
    say(there, BOOK)
    other = here.locator("#sessions a", has_text="Book easyJet")
    # New, named by its first words, and waiting; nobody has touched this page meanwhile.
    expect(other).to_contain_text("Waiting for you", timeout=15_000)
    expect(mine).not_to_contain_text("Waiting for you", use_inner_text=True)

    there.get_by_role("button", name="Deny", exact=True).click()
    settled(there)
    expect(other).not_to_contain_text("Waiting for you", timeout=15_000)
    expect(other).not_to_contain_text("Working", timeout=15_000)


def test_the_list_follows_the_conversation_that_is_open(page: Page, site: Server) -> None:
    """When something last happened in it, as a page that comes now has it."""
    page.goto(f"{site.url}/?new")
    say(page, "hello there")
    settled(page)
    at = page.locator("#sessions [aria-current=page] time")
    expect(at).to_have_count(1)
    other = page.context.new_page()
    for text in ("", "what can you do here"):
        if text:
            say(page, text)
            settled(page)
        other.goto(page.url)
        now = other.locator("#sessions [aria-current=page] time").get_attribute("datetime") or ""
        expect(at).to_have_attribute("datetime", now)
