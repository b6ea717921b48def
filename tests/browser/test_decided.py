"""A question that two people answer at the same moment: one answer counts, and the other page says what happened."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk, login
from tests.browser.focus import hidden
from tests.browser.test_main_job import BOOK, connected, open_chat, same_thread, say, settled
from tests.liveserver import Server

FOCUS = "document.activeElement.closest('.b-approval') ? 'card' : document.activeElement.localName"
HOLD = """
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (text) {
  if (window.holding) window.holding.push(() => send.call(this, text));
  else send.call(this, text);
};
"""


def asked(page: Page, server: Server) -> None:
    open_chat(page, server)
    say(page, BOOK)
    expect(page.locator(".b-approval")).to_have_attribute("data-state", "pending", timeout=20_000)


def outcome(page: Page) -> str:
    card = page.locator(".b-approval")
    expect(card).to_have_attribute("data-state", re.compile("done|denied"), timeout=20_000)
    expect(page.locator("[data-decide]")).to_have_count(0)
    return card.get_attribute("data-state") or ""


def test_two_tabs_answer_in_the_same_moment(desk: Desk, site: Server) -> None:
    desk.context.add_init_script(HOLD)
    one = desk.page()
    asked(one, site)
    two = desk.page()
    two.goto(one.url)
    connected(two)
    expect(two.locator(".b-approval")).to_have_attribute("data-state", "pending")
    pages = [(one, "Approve"), (two, "Deny")]
    for page, name in pages:
        page.evaluate("window.holding = []")
        page.bring_to_front()
        page.locator(".b-approval").get_by_role("button", name=name, exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.locator(".b-approval")).to_have_attribute("data-state", "deciding")
    # Both are on the wire before either has an answer.
    for page, _ in pages:
        page.evaluate("() => { for (const go of holding.splice(0)) go(); window.holding = null; }")
    # Said first: it goes by itself after eight seconds.
    expect(two.locator("#toasts")).to_contain_text(re.compile("already", re.IGNORECASE), timeout=20_000)
    for page, _ in pages:
        assert outcome(page) == "done"
        settled(page)
    for page, _ in pages:
        assert page.evaluate(FOCUS) == "card"
        page.bring_to_front()
        assert not (found := hidden(page)), found
        assert page.locator("#toasts .b-toast").count() == (page is two)
    same_thread(one, two)


def test_the_admin_and_the_chat_answer_in_the_same_moment(
    open_desk: Callable[..., Desk], desk: Desk, site: Server
) -> None:
    chat = desk.page()
    asked(chat, site)
    admin = open_desk().page()
    login(admin, site, "grace", "a sound password", then="/admin/envelopes/approval/")
    # The one that was asked last expires last; other tests of this site have left some.
    admin.get_by_role("link", name=re.compile("Buy 2 tickets")).last.click()
    expect(admin.locator("body")).to_contain_text("Ada Lovelace")
    # The admin's answer is on its way while the chat still has the buttons.
    chat.get_by_role("button", name="Deny").focus()
    chat.keyboard.press("Enter")
    admin.get_by_role("button", name=re.compile("^Approve")).click()
    assert outcome(chat) == "denied"
    settled(chat)
    expect(admin.locator("body")).to_contain_text(re.compile("already", re.IGNORECASE))
    assert chat.evaluate(FOCUS) == "card"


def test_a_button_that_has_the_focus_goes_and_the_focus_stays_at_its_card(desk: Desk, site: Server) -> None:
    one = desk.page()
    asked(one, site)
    two = desk.page()
    two.goto(one.url)
    connected(two)
    two.locator(".b-approval").get_by_role("button", name="Approve").focus()
    one.get_by_role("button", name="Deny").click()
    assert outcome(two) == "denied"
    settled(two)
    assert two.evaluate(FOCUS) == "card"
    # A key that was already on its way answers nothing.
    two.keyboard.press("Enter")
    two.wait_for_timeout(300)
    assert outcome(two) == "denied"
