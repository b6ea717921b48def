"""A long conversation in a real browser: earlier messages come as one reads back, in place, and are in use at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from envelopes.transports.panel.presenter.thread import Thread
from tests.browser.conftest import Desk, login
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.envelopes.transports.panel.talk import Talk
from tests.liveserver import Server

WHERE = """() => {
  const at = document.elementFromPoint(innerWidth / 2, 300).closest('.b-me, .b-turn');
  return [at.id, Math.round(at.getBoundingClientRect().top)];
}"""


def test_reading_back_to_the_first_message_and_using_the_card_there(page: Page, site: Server) -> None:
    script = "from tests.long_talk import for_user; print(for_user('grace', 150))"
    session = site.manage("shell", "-v", "0", "-c", script).strip()
    login(page, site, "grace", "a sound password", then=f"/chat/{session}/")
    expect(page.locator("#status")).to_have_attribute("data-state", "connected")
    gap = page.locator(".b-earlier a")
    expect(gap).to_have_count(1)
    expect(page.locator("#e1")).to_have_count(0)

    # By keyboard: it is a link that says what it does, and what was in sight stays where it was.
    page.evaluate("document.querySelector('.b-earlier a').focus({preventScroll: true})")
    assert gap.inner_text() == "Earlier messages"
    page.evaluate("scrollTo(0, 0)")
    before = json.dumps(page.evaluate(WHERE))
    note = page.get_by_label("Note")
    while not note.count():
        asked_for = gap.get_attribute("data-more") or ""
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-more="{asked_for}"]')).to_have_count(0)
    expect(gap).to_have_count(0)
    # What has the focus is gone; it goes to what came in its place.
    expect(page.locator(".b-page").first).to_be_focused()
    held, was = page.evaluate(WHERE), json.loads(before)
    assert held[0] == was[0]
    assert abs(held[1] - was[1]) <= 2

    note.fill("typed in an earlier message")
    expect(page.locator("#thread .b-surface").first.locator(".a2-t").first).to_have_text(
        "typed in an earlier message"
    )
    # An address that leads to what a page does not have at first.
    page.goto("about:blank")
    page.goto(f"{site.url}/chat/{session}/#e1")
    page.wait_for_url("**/?at=*#e1")
    expect(page.locator("#e1:target")).to_be_in_viewport()
    expect(note).to_have_value("typed in an earlier message")


def test_a_link_with_focus_keeps_it_and_moves_nothing(page: Page, site: Server) -> None:
    """Focus that leaves what is in sight is not followed: following it would ask for the next page, and so on."""
    # Far from the beginning: a page that is at its top for a moment asks for the gap above as well, which has to stay.
    script = "from tests.long_talk import for_user; print(for_user('grace', 1600))"
    session = site.manage("shell", "-v", "0", "-c", script).strip()
    login(page, site, "grace", "a sound password", then=f"/chat/{session}/")
    page.goto(f"{site.url}/chat/{session}/at/400")
    expect(page.locator("#status")).to_have_attribute("data-state", "connected")
    between = page.locator(".b-earlier a").last
    asked = between.get_attribute("data-more")
    between.focus()
    expect(between).not_to_have_attribute("data-more", asked or "")
    held, asked = page.evaluate(WHERE), between.get_attribute("data-more")
    page.keyboard.press("Enter")
    expect(between).not_to_have_attribute("data-more", asked or "")
    assert page.evaluate(WHERE) == held
    expect(between).to_be_focused()
    expect(page.locator(".b-earlier")).to_have_count(2)


def test_a_fragment_that_names_nothing_leads_nowhere(page: Page, site: Server) -> None:
    """Not out of a page that has no conversation yet, nor to another page of this site."""
    script = "from tests.long_talk import for_user; print(for_user('grace', 10))"
    session = site.manage("shell", "-v", "0", "-c", script).strip()
    login(page, site, "grace", "a sound password", then="/gallery/")
    for address in ("/?new#e5", f"/chat/{session}/#../../../gallery/", f"/chat/{session}/#?x"):
        page.goto(f"{site.url}{address}")
        expect(page.locator("#status")).to_have_attribute("data-state", "connected")
        assert page.url == f"{site.url}{address}"


@pytest.fixture
def show(open_desk: Callable[..., Desk]) -> Iterator[Callable[[int, int], Stage]]:
    """A talk of which pages show the last turns, in a window of a size."""
    closing: list[Any] = []

    def shown(width: int, height: int) -> Stage:
        talk = Talk()
        talk.thread = Thread(talk.context, 12)
        for number in range(1, 30):
            talk.me(f"Question {number}")
            talk.turn(number)
            talk.part("response", "The sea is calm today. " * 40, turn=number)
            talk.settle(number)
        desk = open_desk(viewport={"width": width, "height": height})
        desk.context.add_init_script(FAKE_SOCKET)
        served = serving(lambda: render(talk))
        closing.append(served)
        stage = Stage(desk.page(), served.__enter__(), talk)
        stage.open()
        return stage

    yield shown
    for served in closing:
        served.__exit__(None, None, None)


def asked(stage: Stage) -> list[str]:
    """The ids of what was asked for in a gap by now."""
    return list(dict.fromkeys(message["id"] for message in stage.sent() if message["type"] == "show"))


def to_the_gap(stage: Stage) -> None:
    for top in (300, 0, 200, 0):
        stage.page.evaluate(f"scrollTo(0, {top})")
        stage.settle()


def test_scrolling_up_without_a_connection_says_so_in_place_and_asks_once(
    show: Callable[[int, int], Stage],
) -> None:
    stage = show(1280, 800)
    gap = stage.page.locator(".b-earlier a")
    assert gap.inner_text() == "Earlier messages"
    stage.page.evaluate("stage.refuse = 9; drop(1006)")
    to_the_gap(stage)
    assert gap.inner_text() == "Waiting for the connection"
    expect(stage.page.locator(".b-toast")).to_have_count(0)
    assert not asked(stage)
    stage.page.evaluate("stage.refuse = 0")
    stage.greet()
    stage.wait_for("show")
    to_the_gap(stage)
    assert len(asked(stage)) == 1
    assert gap.inner_text() == "Earlier messages"


def test_what_could_not_be_loaded_is_asked_for_again_by_the_person_alone(
    show: Callable[[int, int], Stage],
) -> None:
    stage = show(1280, 800)
    gap = stage.page.locator(".b-earlier a")
    to_the_gap(stage)
    (first,) = asked(stage)
    refusal = {"type": "error", "id": first, "code": "internal", "message": "That failed.", "retry": False}
    stage.push(refusal)
    stage.settle()
    to_the_gap(stage)
    assert gap.inner_text() == "These messages could not be loaded. Try again"
    expect(stage.page.locator(".b-toast")).to_have_count(0)
    assert asked(stage) == [first]
    gap.click()
    assert len(asked(stage)) == 2
    assert gap.inner_text() == "Earlier messages"


LINE = """() => {
  const at = document.elementFromPoint(innerWidth / 2, 150).closest('.b-me, .b-turn');
  return at.id;
}"""


def test_a_phone_that_is_turned_keeps_the_place(show: Callable[[int, int], Stage]) -> None:
    stage = show(390, 844)
    page = stage.page
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight - 2400)")
    page.wait_for_timeout(300)
    read = page.evaluate(LINE)
    for width, height in ((844, 390), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        block = page.locator(f"#{read}").bounding_box()
        assert block is not None
        assert block["y"] < height
        assert block["y"] + block["height"] > 56, "what was read is in sight"


def test_the_conversation_is_as_high_as_what_is_in_it(show: Callable[[int, int], Stage]) -> None:
    """Stretched to what is left of the window it would be laid out twice for each change."""
    for height in (800, 20_000):
        page = show(1280, height).page
        end, last, dock = page.evaluate(
            "[thread.getBoundingClientRect().bottom, [...document.querySelectorAll('.b-turn')].at(-1)"
            ".getBoundingClientRect().bottom, document.querySelector('.b-dock').getBoundingClientRect().top]"
        )
        assert end - last < 100
    assert end < dock - 500


def test_holding_on_to_what_is_read_looks_at_a_dozen_points(show: Callable[[int, int], Stage]) -> None:
    stage = show(1280, 800)
    # At one time: others come later, once nothing has moved for a while.
    stage.page.evaluate(
        "window.looks = []; let begun = false; const real = document.elementFromPoint.bind(document);"
        "document.elementFromPoint = (...at) => {"
        "  if (!begun) { begun = true; looks.push(0); queueMicrotask(() => { begun = false; }); }"
        "  looks[looks.length - 1]++; return real(...at); }; null"
    )
    stage.row(stage.talk.me("And now?"))
    stage.page.wait_for_function("() => looks.length > 0")
    assert max(stage.page.evaluate("looks")) <= 13
