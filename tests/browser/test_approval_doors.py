"""Doors for approvals outside of the chat, in a browser: the page behind a link, and how a tab says that one waits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.axe import findings
from tests.browser.conftest import Desk
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.envelopes.transports.panel.talk import Talk
from tests.liveserver import PASSWORD, Server

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


def test_who_has_approved_as_one_of_two_has_nothing_more_to_press_and_is_not_called(desk: Desk) -> None:
    talk = Talk(locale="en-GB")
    talk.me("Book it")
    talk.turn(1)
    desk.context.add_init_script(FAKE_SOCKET)
    with serving(lambda: render(talk, notices="web")) as url:
        stage = Stage(desk.page(), url, talk)
        page = stage.page
        stage.open()
        plain = page.title()
        stage.row(talk.ask("a", deciders=["owner", "group:Managers"], needed=2))
        card = page.locator(".b-approval")
        expect(page).to_have_title(f"(1) Approval needed · {plain}")
        expect(card.get_by_role("button", name="Approve")).to_be_visible()

        grant = {"approvalId": "a", "by": "x", "name": "", "role": "owner", "source": "chat", "reason": ""}
        stage.row(talk.row("grant", {**grant, "given": 1, "needed": 2}, turn=1))
        told = card.get_by_text("You approved this. 1 more person has to approve before it runs.")
        for _ in range(2):
            expect(told).to_be_visible()
            expect(card.get_by_role("button", name="Approve")).to_be_hidden()
            expect(card.get_by_text("Needs your approval")).to_be_hidden()
            expect(card.get_by_text("Waiting for approval")).to_be_visible()
            expect(page).to_have_title(plain)
            assert findings(page) == []
            page.reload()

        # Asked anew, everybody decides again; where whoever asked may not, there is nothing for them to press.
        stage.row(talk.ask("b", deciders=["owner", "group:Managers"], fourEyes=True))
        other = page.locator(".b-approval").last
        expect(other.get_by_text("Only the person in this conversation")).to_be_visible()
        expect(other.get_by_role("button", name="Approve")).to_be_hidden()
        expect(page).to_have_title(plain)


DOORS = """
import json
from datetime import timedelta
from django.contrib.auth.models import User
from django.test import override_settings
from django.utils import timezone
from envelopes.approvals.links import token_for
from envelopes.approvals.service import decide
from envelopes.models import Approval
from envelopes.registries.policies import Ask
from envelopes.transports.email.message import request_for
from tests import factories

grace, ann, alma = (User.objects.get(username=name) for name in ("grace", "ann", "alma"))
made = {}

def asked(name, **more):
    session = factories.make_session(ann, actor="sally")
    approval = made[name] = factories.make_approval(session, {"order": name, "amount": 40}, **more)
    return approval

links = {}
for name in ("plain", "login", "decided", "expired", "edited", "old", "mine"):
    rule = factories.asking(Ask(login=True)) if name == "login" else None
    approval = asked(name, **({"tool": rule} if rule else {}))
    links[name] = "/approve/" + token_for(approval, grace, seconds=-1 if name == "old" else None)
links["no right"] = "/approve/" + token_for(made["plain"], alma)
decide(made["decided"].approval_id, "denied", factories.make_principal(grace))
Approval.objects.filter(pk=made["expired"].pk).update(expires_at=timezone.now() - timedelta(seconds=1))
Approval.objects.filter(pk=made["edited"].pk).update(digest="0" * 64)
arabic = "\\u0627\\u0644\\u0645\\u0628\\u0644\\u063a"
hostile = {arabic: arabic, "order": "<b>x</b>" + "y" * 380,
           "n" * 200: "1", **{f"argument {number}": "word " * number for number in range(40)}}
mail = factories.make_approval(factories.make_session(ann, actor="sally"), hostile)
with override_settings(BEACH_SITE_URL="http://127.0.0.1"):
    html = request_for(mail, grace, "0" * 32).alternatives[0][0]
print(json.dumps({"links": links, "desk": made["plain"].pk, "html": html}))
"""
HEADINGS: dict[str, str | re.Pattern[str]] = {
    "decided": "Denied",
    "expired": re.compile("Expired|Your approval is needed"),
    "edited": "The question has changed",
    "old": "This link cannot be used",
    "no right": "This link cannot be used",
    "unknown": "This link cannot be used",
}


def test_every_page_of_a_link_the_desks_form_and_mails_with_and_without_script(
    open_desk: Callable[..., Desk], site: Server
) -> None:
    made = json.loads(site.manage("shell", "-v", "0", "-c", DOORS).splitlines()[-1])
    links = made["links"] | {"unknown": "/approve/nothing"}
    small = {"width": 390, "height": 844}
    plain, scripted = (open_desk(java_script_enabled=on, viewport=small) for on in (False, True))
    for one in (plain, scripted):
        # What a browser says of any page that is not there.
        one.allow("Failed to load resource: the server responded with a status of 4")
    page, page_without = scripted.page(), plain.page()
    for name, heading in HEADINGS.items():
        page_without.goto(site.url + links[name])
        expect(page_without.get_by_role("heading", name=heading)).to_be_visible()
    # One of each template that has no card.
    for name in ("edited", "unknown"):
        page.goto(site.url + links[name])
        assert findings(page) == [], name
    assert page.get_by_role("link", name="Open Beach").is_visible()

    # Who has to sign in is led there and back, and decides, all without script.
    page_without.goto(site.url + links["login"])
    expect(page_without.get_by_role("heading", name="Sign in")).to_be_visible()
    page_without.get_by_label("Username").fill("grace")
    page_without.get_by_label("Password").fill(PASSWORD)
    page_without.get_by_role("button", name="Sign in").click()
    expect(page_without.get_by_role("heading", name="Your approval is needed")).to_be_visible()
    page_without.get_by_role("button", name="Approve").click()
    expect(page_without.get_by_role("heading", name="Approved")).to_be_visible()
    # So does the desk.
    page_without.goto(f"{site.url}/admin/envelopes/approval/{made['desk']}/change/")
    page_without.get_by_label("Reason").fill("Not today.")
    page_without.get_by_role("button", name="Deny").click()
    expect(page_without.get_by_text("Denied. Nothing ran.")).to_be_visible()
    expect(page_without.locator(".dk-history")).to_contain_text("Not today.")
    # Its link tells so from now on, and one that stood open decides nothing any more.
    page.goto(site.url + links["plain"])
    expect(page.locator("main")).to_contain_text("You denied this on")

    page.goto(site.url + links["mine"])
    page_without.goto(site.url + links["mine"])
    page_without.get_by_role("button", name="Approve").click()
    expect(page_without.get_by_role("heading", name="Approved")).to_be_visible()
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_role("alert")).to_contain_text("Your decision was not applied. You approved this on")
    assert findings(page) == []

    # A mail program has no script: what stands in it is drawn by styles alone, and nothing is wider than a phone.
    letter = scripted.page()
    letter.set_content(made["html"])
    for scheme in ("light", "dark"):
        letter.emulate_media(color_scheme=scheme)
        assert findings(letter) == [], scheme
        assert letter.evaluate("document.documentElement.scrollWidth") == 390
    # Labels stand below each other, whatever they are written in.
    left = "cells => new Set(cells.map(cell => cell.nextElementSibling.getBoundingClientRect().left)).size"
    assert letter.locator("th").evaluate_all(left) == 1
