"""What a browser styles when more of a conversation comes: that, and not all that is on the page already."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk, login
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.browser.test_main_job import BOOK, say, settled
from tests.envelopes.transports.panel.talk import Talk, surface, update
from tests.liveserver import Server

ROWS = 1_000
CATEGORIES = ["-*", "disabled-by-default-devtools.timeline.invalidationTracking"]
TABLE = surface(
    "s1",
    {"id": "root", "component": "List", "children": {"componentId": "row", "path": "/items"}},
    {"id": "row", "component": "Row", "children": ["name", "price"]},
    {"id": "name", "component": "Text", "text": {"path": "name"}},
    {"id": "price", "component": "Text", "text": {"path": "price"}},
    model={"items": [{"id": n, "name": f"Item {n}", "price": n} for n in range(60)]},
)


def styled(page: Page, act: Callable[[], object]) -> int:
    """How many elements are styled again while it acts, because a style says that what has changed concerns them."""
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, categories=CATEGORIES)
    act()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    why = [
        event["args"]["data"]["reason"]
        for event in events
        if event["name"] == "StyleRecalcInvalidationTracking"
    ]
    # What came at least.
    assert "Node was inserted into tree" in why
    return why.count("Related style rule")


def test_earlier_turns_have_nothing_styled_again_that_is_there(site: Server, desk: Desk) -> None:
    script = f"from tests.long_talk import for_user; print(for_user('grace', {ROWS}))"
    session = site.manage("shell", "-v", "0", "-c", script).strip()
    page = desk.page()
    login(page, site, "grace", "a sound password", then=f"/chat/{session}/")
    expect(page.locator("#status")).to_have_attribute("data-state", "connected")
    there = page.locator("#thread *").count()

    def read_back() -> None:
        page.evaluate("scrollTo(0, 0)")
        expect(page.locator(".b-page")).not_to_have_count(0)

    assert styled(page, read_back) < there / 4


def test_an_update_of_a_card_has_nothing_else_in_it_styled_again(desk: Desk) -> None:
    desk.context.add_init_script(FAKE_SOCKET)
    talk = Talk()
    with serving(lambda: render(talk)) as url:
        stage = Stage(desk.page(), url, talk)
        talk.me("Hi")
        talk.turn(1)
        talk.part("a2ui-surface", data=TABLE)
        stage.open()
        there = stage.page.locator(".b-surface *").count()

        def change() -> None:
            stage.row(talk.part("a2ui-surface", data=update("s1", "/items/5/name", "Changed")))
            expect(stage.page.get_by_text("Changed")).to_be_visible()

        assert styled(stage.page, change) < there / 10


def test_the_list_says_what_the_open_conversation_does_beside_it_and_in_the_drawer(
    page: Page, site: Server
) -> None:
    page.goto(f"{site.url}/?new")
    say(page, BOOK)
    expect(page.locator(".b-approval[data-state=pending]")).to_be_visible(timeout=15_000)
    note = page.locator("[aria-current=page] .b-session__note:visible")
    expect(note).to_have_text(["Waiting for you"])
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("#menu").click()
    inside = page.locator("#drawer [aria-current=page] .b-session__note:visible")
    expect(inside).to_have_text(["Waiting for you"])
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(note).to_have_text(["Waiting for you"])
    page.get_by_role("button", name="Deny", exact=True).click()
    settled(page)
    expect(note).to_have_count(0)
