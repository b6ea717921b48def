"""The real SDK and a slow model, over real sockets, to the picture of an interface that is being written."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from playwright.sync_api import Page, expect

from envelopes.fakes import FakeMessagesApi, Reply, respond, serving
from tests.browser.test_main_job import say, settled
from tests.envelopes.transports.panel.test_provisional import ROWS, part
from tests.liveserver import Server

PACE = 0.03
"""Seconds for seven characters: the card takes about two in all."""
SEEN = """
window.seen = [];
new MutationObserver(() => {
  const picture = document.querySelector('[id^=vL]');
  if (picture) seen.push([picture.inert, picture.innerText]);
}).observe(document, { subtree: true, childList: true, characterData: true });
"""
"""Keeps what the picture was each time that it changed: it may be done before anybody looks."""


def test_an_interface_grows_while_its_model_writes_it_and_can_be_used_at_its_end(
    page: Page, make_server: Callable[..., Server]
) -> None:
    card = Reply((respond(part(*ROWS)),), pace=PACE)
    with serving(FakeMessagesApi(replies=deque([card]))) as api:
        server = make_server(environ={"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": api.base_url})
        page.add_init_script(SEEN)
        page.goto(f"{server.url}/")
        say(page, "Flights?")

        picture = page.locator("[id^=vL]")
        expect(picture).to_contain_text("Two flights <b>")
        settled(page)

        grown = [(inert, text) for inert, text in page.evaluate("seen") if "Two flights <b>" in text]
        assert grown and all(inert for inert, _ in grown) and "Book" not in grown[0][1], grown
        expect(picture).to_have_count(0)
        expect(page.get_by_role("button", name="Book")).to_be_enabled()
        assert api.problems == [] and len(api.requests) == 1
