"""Staff read along, take a conversation over and hand it back, with its visitor at another browser; and look back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.conftest import QUICK, Desk, login
from tests.browser.focus import hidden, step, tab_to
from tests.browser.test_main_job import SEARCH, card, connected, say, settled
from tests.liveserver import PASSWORD, Server

PEOPLE = """
from django.contrib.auth.models import User
User.objects.filter(username="ann").update(first_name="Ann", last_name="Smith", email="ann.smith@example.org")
User.objects.filter(username="grace").update(first_name="Grace", last_name="Hopper")
"""
SOON = 20_000
"""Milliseconds: what comes by way of the server and another browser."""
READ = """root => {
  if (!root.isConnected) return null;
  const fields = [...root.querySelectorAll('input, select, textarea')];
  const values = fields.map(field => /checkbox|radio/.test(field.type) ? field.checked : field.value);
  // Which day it was then, a visitor's page calls today; staff look at it on any day.
  const ours = [...root.querySelectorAll('.b-day, legend')].map(element => element.innerText);
  return [ours.reduce((text, piece) => text.replace(piece, ''), root.innerText).replace(/\\s+/g, ' ').trim(), values];
}"""


@dataclass(frozen=True)
class Seen:
    """What stood on the visitor's page once it had row ``seq``: its words, and what its fields held."""

    seq: int
    what: list[object]


class Story:
    """The visitor's page, and every moment of it that is to be looked back at."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.moments: list[Seen] = []

    @property
    def seq(self) -> int:
        return int(self.page.locator("#panel").get_attribute("data-seq") or 0)

    def remember(self) -> None:
        settled(self.page)
        self.moments.append(Seen(self.seq, self.page.locator("#thread").evaluate(READ)))


def seen(page: Page) -> list[object]:
    """What the desk shows of the conversation. What is being replaced just now has no style, and is another text."""
    while (found := page.locator(".dk-seen").evaluate(READ)) is None:
        pass
    shown: list[object] = found
    return shown


def shows(page: Page, what: list[object]) -> None:
    """Until that is what the desk shows."""
    deadline = time.monotonic() + 20
    while seen(page) != what and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert seen(page) == what


def at(page: Page, row: int) -> None:
    """Until the desk shows that row."""
    expect(page.locator(".dk-time")).to_have_attribute("data-at", str(row), timeout=SOON)


def write(page: Page, text: str) -> None:
    """Write to staff: no answer of an agent begins."""
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("#thread > .b-me").last).to_contain_text(text)
    expect(page.locator("#tail > .b-me")).to_have_count(0, timeout=SOON)


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^Message to"))


def test_a_visitor_is_found_answered_by_staff_and_handed_back_and_every_moment_can_be_seen_again(
    make_server: Callable[..., Server], open_desk: Callable[..., Desk]
) -> None:
    server = make_server(environ=QUICK)
    server.manage("shell", "-v", "0", "-c", PEOPLE)
    hers, theirs = open_desk(), open_desk()
    for one in (hers, theirs):
        one.allow(r"ERR_CONNECTION|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|WebSocket")
    ann, grace = hers.page(), theirs.page()

    # A visitor writes, and fills something in.
    login(ann, server, "ann", PASSWORD)
    say(ann, SEARCH)
    settled(ann)
    story = Story(ann)
    story.remember()
    before = story.seq
    card(ann, "Refine this search").get_by_label("Passengers").fill("3")
    expect(card(ann, "Refine this search")).to_contain_text("3 passengers")
    expect(ann.locator("#panel")).not_to_have_attribute("data-seq", str(before))
    story.remember()

    # Staff find her by her e-mail.
    login(grace, server, "grace", PASSWORD, then="/admin/envelopes/session/")
    search = grace.get_by_role("searchbox")
    search.fill("ann.smith@example.org")
    search.press("Enter")
    rows = grace.locator(".dk-table tbody tr")
    expect(rows).to_have_count(1)
    rows.get_by_role("link").first.click()
    expect(grace.get_by_text("You are reading along. The visitor cannot see you.")).to_be_visible()
    expect(grace.get_by_text("ann.smith@example.org")).to_be_visible()
    address = grace.url.partition("#")[0]
    shows(grace, story.moments[-1].what)
    assert findings(grace) == []
    # What is edited on her page, and said by nobody, is seen there without a reload.
    card(ann, "Refine this search").get_by_label("Passengers").fill("4")
    expect(grace.locator(".dk-seen")).to_contain_text("4 passengers", timeout=SOON)
    story.remember()
    shows(grace, story.moments[-1].what)

    # They take over; she is told at once.
    grace.get_by_text("Take over…").click()
    assert findings(grace) == []
    grace.get_by_role("button", name="Take over", exact=True).click()
    expect(box(grace)).to_be_focused()
    expect(ann.get_by_text("Grace Hopper joined. Sally is not answering for now.")).to_be_visible(
        timeout=SOON
    )
    # The box says to whom she writes, and so does one that comes with the page; what she has begun stays in it.
    message = ann.get_by_label("Message", exact=True)
    expect(message).to_have_attribute("placeholder", "Write to Grace Hopper")
    message.fill("Half a que")
    ann.reload()
    connected(ann)
    expect(message).to_have_attribute("placeholder", "Write to Grace Hopper")
    expect(message).to_have_value("Half a que")
    message.fill("")
    story.remember()

    # The words of a draft survive a reload; sent, she reads them under the name of whoever wrote them.
    box(grace).press_sequentially("I can hold both seats")
    grace.reload()
    expect(box(grace)).to_have_value("I can hold both seats")
    box(grace).press("Enter")
    said = ann.get_by_role("article", name="Grace Hopper, staff")
    expect(said).to_contain_text("I can hold both seats", timeout=SOON)
    expect(box(grace)).to_have_value("")
    story.remember()
    write(ann, "Until when?")
    expect(grace.locator(".dk-seen")).to_contain_text("Until when?", timeout=SOON)
    expect(box(grace)).to_be_focused()
    story.remember()
    assert findings(grace) == []

    # Killed and started again: it is still theirs, and what they wrote meanwhile is not lost.
    server.kill()
    box(grace).press_sequentially("Until noon.")
    box(grace).press("Enter")
    expect(grace.get_by_role("alert")).to_contain_text("Not sent. What you wrote is still here.")
    expect(box(grace)).to_have_value("Until noon.")
    assert findings(grace) == []
    server.start()
    connected(ann)
    grace.reload()
    expect(box(grace)).to_have_value("Until noon.")
    box(grace).press("Enter")
    expect(said).to_have_count(2, timeout=SOON)
    expect(said.last).to_contain_text("Until noon.")
    write(ann, SEARCH.replace("Corfu", "Lisbon"))
    expect(grace.locator(".dk-seen")).to_contain_text("Lisbon", timeout=SOON)
    story.remember()
    expect(grace.locator(".dk-seen .b-turn").last).to_contain_text("Until noon.")

    # Somebody hands it back while they write: the words stand there still, and after a reload too.
    box(grace).press_sequentially("Half a sent")
    other = theirs.page()
    other.goto(address)
    other.get_by_role("button", name="Hand back to Sally").click()
    expect(grace.get_by_text("You are reading along.")).to_be_visible(timeout=SOON)
    for _ in range(2):
        expect(grace.get_by_role("textbox", name="What you wrote")).to_have_value("Half a sent")
        assert findings(grace) == []
        grace.reload()
    # The agent goes on with what nobody had answered.
    expect(ann.get_by_text("Grace Hopper left. Sally answers again.")).to_be_visible(timeout=SOON)
    expect(message).to_have_attribute("placeholder", "Write to Sally")
    expect(ann.locator(".b-turn").last).to_have_attribute("aria-label", re.compile("Sally"), timeout=SOON)
    expect(ann.locator("#thread")).to_contain_text("London Gatwick to Lisbon", timeout=SOON)
    story.remember()

    # The slider shows each moment as she saw it.
    assert len({moment.seq for moment in story.moments}) == len(story.moments) > 6
    slider = grace.get_by_role("slider", name="Point in time")
    for moment in (*story.moments[::-1], *story.moments):
        slider.fill(str(moment.seq))
        at(grace, moment.seq)
        shows(grace, moment.what)
    # It can be dragged: what comes meanwhile does not take it out of the hand.
    bounds = slider.bounding_box()
    assert bounds is not None
    middle = bounds["y"] + bounds["height"] / 2
    grace.mouse.move(bounds["x"] + bounds["width"] - 7, middle)
    grace.mouse.down()
    passed = set()
    for part in (0.8, 0.6, 0.4, 0.2):
        grace.mouse.move(bounds["x"] + bounds["width"] * part, middle)
        at(grace, int(slider.input_value()))
        passed.add(slider.input_value())
    grace.mouse.up()
    assert len(passed) == 4
    assert findings(grace) == []


@pytest.fixture
def begun(site: Server, open_desk: Callable[..., Desk]) -> str:
    """The path of a conversation in the desk."""
    page = open_desk().page()
    page.goto(f"{site.url}/?new")
    say(page, "hello there")
    settled(page)
    public_id = page.url.rstrip("/").rpartition("/")[2].partition("#")[0]
    asked = f"from envelopes.models import Session; print(Session.objects.get(public_id={public_id!r}).pk)"
    return f"/admin/envelopes/session/{site.manage('shell', '-v', '0', '-c', asked).strip()}/conversation/"


def test_the_page_of_a_conversation_is_used_with_keys_alone(
    site: Server, desk: Desk, page: Page, begun: str
) -> None:
    desk.allow("404")
    login(page, site, "grace", PASSWORD, then=begun)
    slider = page.get_by_role("slider", name="Point in time")
    last = int(page.locator(".dk-time").get_attribute("data-last") or 0)

    # Time: one row by an arrow, one step by its links, which keep the focus at either end.
    tab_to(page, slider)
    page.keyboard.press("Home")
    at(page, 1)
    expect(slider).to_be_focused()
    page.keyboard.press("ArrowRight")
    at(page, 2)
    page.keyboard.press("End")
    at(page, last)
    back = page.get_by_role("link", name="One step back")
    tab_to(page, back, "Shift+Tab")
    for _ in range(4):
        page.keyboard.press("Enter")
        page.wait_for_timeout(150)
        expect(back).to_be_focused()
    expect(back).to_have_attribute("aria-disabled", "true")
    forward = page.get_by_role("link", name="One step forward")
    tab_to(page, forward)
    page.keyboard.press("Enter")
    expect(page.locator(".dk-time")).not_to_have_attribute("data-at", "1")
    expect(forward).to_be_focused()
    # What the runtime did, behind a switch.
    tab_to(page, page.get_by_role("switch", name="Runtime rows"))
    page.keyboard.press("Space")
    fold = page.locator(".dk-fold > summary").first
    tab_to(page, fold)
    page.keyboard.press("Enter")
    expect(page.locator(".dk-fold[open] li").first).to_be_visible()
    assert findings(page) == []

    # Notes, claim, take over, write, hand back: each goes on where it was pressed.
    note = page.get_by_role("textbox", name="New note")
    tab_to(page, note)
    page.keyboard.type("Asked for a quiet seat.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".dk-note")).to_contain_text("Asked for a quiet seat.")
    expect(note).to_be_focused()
    expect(note).to_have_value("")
    tab_to(page, page.get_by_role("button", name="Claim", exact=True), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Release")).to_be_focused()
    assert not hidden(page)
    assert findings(page) == []
    tab_to(page, page.locator("#take"))
    page.keyboard.press("Enter")
    for _ in range(2):
        assert not (found := step(page)), found
    page.keyboard.press("Enter")
    expect(box(page)).to_be_focused()
    assert not hidden(page)
    page.keyboard.type("Hello, this is Grace.")
    page.keyboard.press("Enter")
    expect(page.locator(".dk-seen")).to_contain_text("Hello, this is Grace.")
    expect(box(page)).to_be_focused()
    assert findings(page) == []
    tab_to(page, page.get_by_role("button", name="Hand back to Sally"), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#take")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    tab_to(page, page.get_by_role("button", name="Release"), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Claim", exact=True)).to_be_focused()

    # The log, and the history of what was done here.
    for name in ("change", "history"):
        page.goto(f"{site.url}{begun.replace('conversation', name)}")
        assert findings(page) == [], name
    # What is not there stands in the desk too.
    page.goto(f"{site.url}/admin/envelopes/session/999999/conversation/")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(page.get_by_role("navigation", name="Desk")).to_be_visible()
    assert findings(page) == []


def test_nothing_of_the_page_is_wider_than_the_window(site: Server, page: Page, begun: str) -> None:
    login(page, site, "grace", PASSWORD, then=begun)
    for width in (320, 390, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        page.locator(".dk-take").evaluate("details => { details.open = true; }")
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        inner = page.locator(".dk-time, .dk-over").evaluate_all(
            "found => found.map(one => one.scrollWidth - one.clientWidth)"
        )
        assert (over, max(inner)) <= (0, 0), width
