"""A message that comes while a turn is at work, in a real browser: it stays where it came, and the turn goes on below
(D66)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from tests.browser.stage import Stage
from tests.browser.test_shell import show as show  # noqa: PLC0414 - a fixture
from tests.envelopes.transports.panel.talk import Talk

ORDER = """() => [...document.querySelectorAll('#thread > .b-me, #thread > .b-turn')].map(block =>
  block.querySelector('.b-me__text, .b-ack, .b-prose')?.innerText ?? '')"""


def joined(talk: Talk, turn: int, message: int) -> list[Any]:
    data = {"turnState": "passed", "finalizedBy": "passed", "joined": 1, "message": message}
    return talk.row("settled", data, turn=turn, actor="sally")


def test_it_stays_where_it_came_and_the_turn_goes_on_below_it(show: Callable[..., Stage]) -> None:
    talk = Talk()
    talk.me("Find flights to Corfu")
    talk.turn(1)
    talk.part("ack", "Searching")
    stage = show(talk)
    page = stage.page

    page.fill("#msg", "And only direct ones")
    page.keyboard.press("Enter")
    sent = stage.wait_for("message")
    stage.row(talk.me("And only direct ones", id=sent["id"]))
    message = len(talk.rows)
    stage.push({"type": "ack", "id": sent["id"], "seq": message})
    stage.row(talk.turn(2, "queued"))
    bubble = page.locator("#thread .b-me", has_text="only direct")
    expect(bubble).to_have_count(1)
    expect(bubble).not_to_contain_text("Added to the request above")
    assert page.evaluate(ORDER) == ["Find flights to Corfu", "Searching", "And only direct ones"]

    stage.row(joined(talk, 2, message))

    expect(bubble).to_contain_text("Added to the request above")
    # Something moves again, below it, and nowhere else.
    expect(page.locator(".b-typing")).to_have_count(1)
    expect(page.locator("#t1-1 .b-typing")).to_be_visible()
    live = {"live": "1-1-1-0-0", "turn": 1, "partType": "response", "offset": 0}
    stage.push({"type": "delta", **live, "into": talk.thread.container(1), "text": "Two direct"})
    expect(page.locator("#t1-1 .b-live__text")).to_have_text("Two direct")
    stage.row(talk.part("response", "Two direct flights.", live=live["live"]))
    stage.row(
        talk.row("settled", {"turnState": "complete", "finalizedBy": "complete"}, turn=1, actor="sally")
    )
    assert page.evaluate(ORDER) == [
        "Find flights to Corfu",
        "Searching",
        "And only direct ones",
        "Two direct flights.",
    ]
    expect(page.locator(".b-typing")).to_have_count(0)
    expect(page.locator("[data-stop]")).to_be_hidden()
    before = page.evaluate(ORDER)
    page.reload()
    stage.read = 0
    stage.greet()
    assert page.evaluate(ORDER) == before
    expect(bubble).to_contain_text("Added to the request above")
