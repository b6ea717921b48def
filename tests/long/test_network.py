"""Connections that are slow, stall without closing, or come and go: said as it is, and nothing is lost or doubled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk
from tests.browser.proxy import Proxy, proxied
from tests.browser.test_main_job import SEARCH, SLOW, connected, say, settled, thread
from tests.liveserver import Server

STATES = """
window.states = [];
const status = document.getElementById('status');
new MutationObserver(() => states.push(status.dataset.state)).observe(status, { attributeFilter: ['data-state'] });
"""
SILENCE = 28_500
"""Milliseconds until a silent connection is given up: a ping after 20 seconds, and 8 for its answer."""


@pytest.fixture
def proxy(site: Server) -> Iterator[Proxy]:
    with proxied(site.port) as proxy:
        yield proxy


def open_chat(page: Page, place: Proxy | Server) -> None:
    page.goto(f"{place.url}/")
    expect(page.get_by_role("heading", name="Where would you like to go?")).to_be_visible()


def everything_once(page: Page, *texts: str) -> None:
    for text in texts:
        expect(page.locator("#thread > .b-me > .b-me__text", has_text=re.compile(f"^{text}$"))).to_have_count(
            1, timeout=30_000
        )
    expect(page.locator("#tail .b-me")).to_have_count(0)
    settled(page, seconds=30)
    before = thread(page)
    assert page.locator(".b-turn").count() == len(texts)
    page.reload()
    connected(page)
    assert thread(page) == before


def test_a_connection_that_stalls_without_closing_is_given_up(
    proxy: Proxy, open_desk: Callable[..., Desk]
) -> None:
    desk = open_desk()
    # Minutes pass in a moment: what is opened meanwhile may be given up before it is open.
    desk.allow("closed before the connection is established")
    page = desk.page()
    page.clock.install()
    open_chat(page, proxy)
    say(page, "Hello")
    settled(page)
    assert proxy.stall()
    page.fill("#msg", "Thank you")
    page.keyboard.press("Enter")
    expect(page.locator("#tail .b-me")).to_contain_text("Sending")
    page.clock.fast_forward(11_000)
    # Not answered: that is said beside the message.
    expect(page.locator("#tail .b-me")).to_have_attribute("data-state", "slow")
    page.evaluate(STATES)
    page.clock.run_for(SILENCE)
    connected(page)
    assert "reconnecting" in page.evaluate("states")
    everything_once(page, "Hello", "Thank you")


def test_a_network_that_comes_and_goes_loses_and_doubles_nothing(
    proxy: Proxy, open_desk: Callable[..., Desk]
) -> None:
    desk = open_desk()
    desk.allow(r"WebSocket|ERR_|Failed to (load|fetch)")
    page = desk.page()
    open_chat(page, proxy)
    say(page, "Hello")
    settled(page)
    for number in range(6):
        desk.context.set_offline(True)
        # An open socket does not notice by itself.
        proxy.cut()
        page.fill("#msg", f"Line {number}")
        page.keyboard.press("Enter")
        page.wait_for_timeout(60 * number)
        desk.context.set_offline(False)
        page.wait_for_timeout(300 - 40 * number)
    connected(page)
    everything_once(page, "Hello", *(f"Line {number}" for number in range(6)))


def test_a_server_that_is_replaced_in_the_middle_of_an_answer(
    make_server: Callable[..., Server], desk: Desk
) -> None:
    server = make_server(environ=SLOW)
    desk.allow(r"WebSocket|ERR_|Failed to load")
    page = desk.page()
    open_chat(page, server)
    page.fill("#msg", SEARCH)
    page.keyboard.press("Enter")
    expect(page.locator(".b-live__text")).to_be_visible(timeout=20_000)
    said = page.locator(".b-live__text").first.inner_text()
    server.stop()
    expect(page.locator("#status")).to_have_attribute("data-state", "reconnecting")
    expect(page.locator("#note")).to_contain_text("can’t be reached", use_inner_text=True, timeout=20_000)
    # What was read is still there, and what is written now waits.
    assert said[:20] in thread(page)
    page.fill("#msg", "Thank you")
    page.keyboard.press("Enter")
    expect(page.locator("#note")).to_contain_text("Messages wait here", use_inner_text=True)
    server.start()
    connected(page)
    expect(page.locator("#note")).to_be_hidden()
    everything_once(page, SEARCH, "Thank you")
    assert thread(page).count("EJ4521 is the cheapest") == 1
