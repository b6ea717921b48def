"""Doors for approvals outside of the chat, in a browser: the page behind a link, and how a tab says that one waits."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.axe import findings
from tests.browser.conftest import Desk
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.envelopes.transports.panel.talk import Talk
from tests.liveserver import Server

LINK = """
from django.contrib.auth.models import User
from envelopes.approvals.links import token_for
from tests import factories
grace = User.objects.get(username="grace")
session = factories.make_session(actor="sally")
for note in ("The cup inside was broken.", "word " * 900):
    approval = factories.make_approval(session, {"order": "A17", "amount": 40, "note": note})
    print("/approve/" + token_for(approval, grace))
"""
NOTIFICATIONS = """
window.notified = [];
window.Notification = class {
  static permission = 'default';
  static asked = 0;
  static async requestPermission() { this.asked += 1; return this.permission = 'granted'; }
  constructor(title, options) { notified.push([title, options.body]); }
};
"""


def test_a_link_is_answered_with_keys_without_script_and_on_a_phone(
    open_desk: Callable[..., Desk], site: Server
) -> None:
    short, long = site.manage("shell", "-v", "0", "-c", LINK).split()
    plain = open_desk(java_script_enabled=False, viewport={"width": 320, "height": 640}).page()
    plain.goto(site.url + short)
    expect(plain.get_by_role("heading", name="Your approval is needed")).to_be_visible()
    # What has the focus is the least permissive, and Enter is the answer that it gives.
    expect(plain.get_by_role("button", name="Deny")).to_be_focused()
    plain.get_by_label("Reason").fill("Ask the shop first.")
    plain.get_by_role("button", name="Deny").press("Enter")
    expect(plain.get_by_role("heading", name="Denied")).to_be_visible()
    expect(plain.locator("body")).to_contain_text("Ask the shop first.")
    expect(plain.get_by_role("button")).to_have_count(0)

    page = open_desk(viewport={"width": 320, "height": 640}, color_scheme="dark").page()
    page.goto(site.url + long)
    expect(page.get_by_role("button", name="Deny")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert findings(page) == []
    # Nothing is folded that would run.
    assert page.locator(".b-approval").inner_text().count("word") >= 900
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="Approved")).to_be_visible()
    assert findings(page) == []


def test_a_tab_says_that_a_question_waits_and_notifies_whoever_asked_for_it(desk: Desk) -> None:
    talk = Talk(locale="en-GB")
    talk.me("Book it")
    talk.turn(1)
    desk.context.add_init_script(FAKE_SOCKET)
    desk.context.add_init_script(NOTIFICATIONS)
    with serving(lambda: render(talk, notices="web")) as url:
        stage = Stage(desk.page(), url, talk)
        page = stage.page
        stage.open()
        plain = page.title()
        icon = page.locator("link[rel=icon]")
        stage.row(talk.ask("a"))
        expect(page).to_have_title(f"(1) Approval needed · {plain}")
        expect(icon).to_have_attribute("href", re.compile("mark-waiting"))
        # Nobody is asked before they have clicked, and nobody notified who looks at the page.
        assert page.evaluate("[Notification.asked, notified.length]") == [0, 0]
        page.get_by_role("button", name="Settings").click()
        choice = page.get_by_role("button", name="Notify me when an approval is needed")
        choice.click()
        expect(choice).to_have_attribute("aria-pressed", "true")
        page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
        stage.row(talk.ask("b", question="Cancel the other one?"))
        expect(page).to_have_title(f"(2) Approval needed · {plain}")
        assert page.evaluate("notified") == [["Approval needed", "Cancel the other one?"]]
        # The server names the conversation meanwhile.
        page.evaluate("document.getElementById('tab').textContent = 'Corfu · Beach'")
        expect(page).to_have_title("(2) Approval needed · Corfu · Beach")
        stage.row(talk.decide("denied", "a"))
        stage.row(talk.decide("denied", "b"))
        expect(page).to_have_title("Corfu · Beach")
        expect(icon).to_have_attribute("href", re.compile(r"mark\.svg"))
        choice.click()
        expect(choice).to_have_attribute("aria-pressed", "false")
