"""A value that an agent gives, in a real browser: its mark, the value that replaces it, and a field that asks anew."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from a2ui.functions.pending import PENDING_TEXT
from tests.browser.test_main_job import open_chat, say, settled
from tests.faults.conftest import LAB
from tests.faults.lab.gates import Gates
from tests.liveserver import Server


def test_a_mark_stands_for_the_value_until_it_comes_and_nothing_else_waits(
    make_server: Callable[..., Server], page: Page
) -> None:
    server = make_server(environ=LAB)
    gates = Gates(server.data)
    gates.shut("price")
    open_chat(page, server)
    say(page, "Prices, please")
    settled(page)
    price = page.locator(".a2-surface .a2-t")
    expect(price).to_have_text(f"It costs {PENDING_TEXT}.")
    field = page.get_by_label("Article")
    field.focus()

    gates.open("price")
    expect(price).to_have_text("It costs 22 euros for A1.")
    # Only the text was drawn: whoever writes in the field goes on writing.
    expect(field).to_be_focused()

    gates.shut("price")
    field.fill("B12")
    expect(price).to_have_text(f"It costs {PENDING_TEXT}.")
    gates.open("price")
    expect(price).to_have_text("It costs 32 euros for B12.")
    page.reload()
    expect(price).to_have_text("It costs 32 euros for B12.")
