"""Back to a page that the browser has kept as it was (the back/forward cache): it goes on from where it was left."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from beachsite.suite import WINDOWED
from tests.browser.conftest import ARGUMENTS, Desk
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.browser.test_modules import FIELDS
from tests.envelopes.transports.panel.talk import Talk

KEPT = "addEventListener('pageshow', event => { window.kept = event.persisted })"


@pytest.fixture
def stage(chromium: Browser) -> Iterator[Stage]:
    """In a browser that keeps pages, as those of people do; Playwright's does not by itself."""
    browser = chromium.browser_type.launch(
        executable_path=str(WINDOWED), args=ARGUMENTS, ignore_default_args=["--disable-back-forward-cache"]
    )
    desk = Desk(browser.new_context(locale="en-GB"))
    desk.context.add_init_script(FAKE_SOCKET)
    desk.context.add_init_script(KEPT)
    talk = Talk()
    talk.me("Hi")
    talk.turn(1)
    talk.part("a2ui-surface", data=FIELDS)
    talk.ask()
    talk.turn(1, "suspended")
    with serving(lambda: render(talk)) as url:
        yield Stage(desk.page(), url, talk)
    browser.close()
    assert not desk.unexpected()


def test_a_page_that_was_kept_connects_catches_up_and_sends_once(stage: Stage) -> None:
    page = stage.page
    stage.open()
    card = page.locator(".b-approval")
    expect(card).to_have_attribute("data-state", "pending")
    page.fill("#msg", "On its way")
    page.keyboard.press("Enter")
    message = stage.wait_for("message")
    stage.label("Q").fill("half an edit")
    page.fill("#msg", "half a thought")
    edit = stage.wait_for("edit")
    page.goto("about:blank")
    missed = stage.talk.decide("denied")
    decided = stage.frame(missed)
    page.go_back(wait_until="commit")
    assert page.evaluate("kept"), "the browser has kept the page"
    assert page.evaluate("stage.sockets.length") == 2
    stage.read = len([m for m in stage.sent() if m["socket"] == 0])
    hello = stage.greet()
    assert hello["after"] == decided["prev"]
    again = [m for m in stage.sent() if m["socket"] == 1 and m["type"] in {"message", "edit"}]
    assert [(m["type"], m["id"]) for m in again] == [("message", message["id"]), ("edit", edit["id"])]
    stage.push(decided)
    expect(card).to_have_attribute("data-state", "denied")
    expect(page.locator("[data-decide]")).to_have_count(0)
    expect(page.locator("#tail .b-me")).to_have_count(1)
    expect(page.locator("#msg")).to_have_value("half a thought")
    expect(stage.label("Q")).to_have_value("half an edit")
    assert stage.status() == "connected"
