"""What has the focus stays in sight: in windows of any height, and when something around it has grown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Desk
from tests.browser.focus import hidden, tab_to
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.browser.test_card import LONG
from tests.envelopes.transports.panel.talk import Talk, surface

ZOOM4, SMALL, PHONE = (320, 200), (320, 568), (390, 844)
SHORT = pytest.mark.parametrize("size", [ZOOM4, SMALL], ids=["zoom4", "small"])
READ = "I have read the conditions of this fare, those of the airport and those of the bank"
Open = Callable[..., Stage]


@pytest.fixture
def show(open_desk: Callable[..., Desk]) -> Iterator[Open]:
    """Open the page of a conversation in a window of a size."""
    with ExitStack() as stack:

        def shown(talk: Talk, size: tuple[int, int]) -> Stage:
            desk = open_desk(viewport={"width": size[0], "height": size[1]})
            desk.context.add_init_script(FAKE_SOCKET)
            stage = Stage(desk.page(), stack.enter_context(serving(lambda: render(talk))), talk)
            stage.open()
            return stage

        yield shown


def filling(*more: dict[str, Any]) -> Talk:
    """A conversation that ends with a form: a date, a text, a tick."""
    talk = Talk()
    talk.me("Book it")
    talk.turn(1)
    talk.part("response", "Gladly. " * 60)
    names = ["when", "name", "read", *(piece["id"] for piece in more)]
    form = surface(
        "s1",
        {"id": "root", "component": "Column", "children": names},
        {
            "id": "when",
            "component": "DateTimeInput",
            "label": "When",
            "value": {"path": "/w"},
            "enableDate": True,
        },
        {"id": "name", "component": "TextField", "label": "Name", "value": {"path": "/n"}},
        {"id": "read", "component": "CheckBox", "label": READ, "value": {"path": "/r"}},
        *more,
        model={"w": "2027-08-15", "n": "", "r": False},
    )
    talk.part("a2ui-surface", data=form)
    talk.part("response", "That is all that I need. " * 20)
    talk.settle()
    return talk


def in_sight(stage: Stage) -> None:
    assert not (found := hidden(stage.page)), found


def to_lower_edge(stage: Stage, selector: str) -> None:
    """Scroll until something ends right above the composer."""
    stage.page.evaluate(
        "selector => scrollBy(0, document.querySelector(selector).getBoundingClientRect().bottom + 8"
        " - document.querySelector('.b-dock').getBoundingClientRect().top)",
        selector,
    )
    stage.page.wait_for_timeout(50)


NAME = "[data-in=text] input"
GROW = "document.getElementById('msg').value = 'one\\ntwo\\nthree'"


def test_a_tick_comes_into_sight_with_its_words(show: Open) -> None:
    stage = show(filling(), ZOOM4)
    stage.page.evaluate("scrollTo(0, 0)")
    stage.page.locator(".b-top button").first.focus()
    tab_to(stage.page, stage.label(READ))


def test_a_date_that_is_come_to_from_below_is_clear_of_the_bar(show: Open) -> None:
    stage = show(filling(), SMALL)
    stage.label("Name").focus()
    stage.page.evaluate(
        "selector => scrollBy(0, document.querySelector(selector).getBoundingClientRect().top"
        " - Math.max(0, document.querySelector('.b-top').getBoundingClientRect().bottom) + 10)",
        "[data-in=date] input",
    )
    stage.page.wait_for_timeout(50)
    tab_to(stage.page, stage.label("When"), "Shift+Tab", most=1)


@SHORT
def test_what_grows_above_or_below_covers_no_focus(show: Open, size: tuple[int, int]) -> None:
    stage = show(filling(), size)
    stage.label("When").fill("2027-08-16")
    stage.label("Name").focus()
    to_lower_edge(stage, NAME)
    in_sight(stage)
    # What the server has against the field above it.
    edit = stage.wait_for("edit")
    stage.push(
        {
            "type": "error",
            "id": edit["id"],
            "code": "VALIDATION_FAILED",
            "message": "There is no flight. " * 5,
        }
    )
    expect(stage.page.get_by_role("alert")).to_be_visible()
    in_sight(stage)
    # The composer takes more room.
    to_lower_edge(stage, NAME)
    stage.page.evaluate(GROW)
    in_sight(stage)
    # The window loses height.
    stage.page.set_viewport_size({"width": size[0], "height": max(200, size[1] - 150)})
    in_sight(stage)
    expect(stage.label("Name")).to_be_focused()


def test_a_field_in_use_stays_in_sight_while_an_answer_grows_at_the_end(show: Open) -> None:
    talk = filling()
    stage = show(talk, PHONE)
    stage.page.evaluate("scrollTo(0, 1e9)")
    stage.label("Name").click()
    stage.page.keyboard.type("Ada")
    stage.row(talk.me("Hello"))
    stage.row(talk.turn(2))
    for _ in range(6):
        stage.row(talk.part("response", "A line.\n\n" * 12, turn=2))
    in_sight(stage)
    expect(stage.page.get_by_role("button", name="New messages")).to_be_visible()
    stage.page.keyboard.type(" Lovelace")
    expect(stage.label("Name")).to_have_value("Ada Lovelace")


PAINTED = """() => new Promise(done => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));
})"""


def test_who_has_scrolled_away_from_the_focus_is_not_taken_back(show: Open) -> None:
    talk = filling()
    stage = show(talk, SMALL)
    stage.label("Name").focus()
    # What takes the focus into sight comes with the next frame, and so does what is heard of scrolling.
    stage.page.evaluate(PAINTED)
    stage.page.evaluate("scrollTo(0, 0)")
    stage.page.evaluate(PAINTED)
    stage.row(talk.me("Hello"))
    stage.page.evaluate(GROW)
    stage.page.evaluate(PAINTED)
    assert stage.page.evaluate("scrollY") == 0


def test_what_is_folded_in_a_card_is_clear_of_the_answers_that_stick_over_it(show: Open) -> None:
    talk = filling()
    stage = show(talk, SMALL)
    stage.row(talk.turn(2))
    stage.row(talk.ask(args=LONG, question="Run it?", turn=2))
    stage.row(talk.turn(2, "suspended"))
    stage.page.locator("#msg").focus()
    for key in ("Shift+Tab", "Tab"):
        for _ in range(8):
            stage.page.keyboard.press(key)
            in_sight(stage)


@SHORT
def test_the_page_stops_at_the_beginning_of_an_answer_in_a_low_window_too(
    show: Open, size: tuple[int, int]
) -> None:
    talk = filling()
    stage = show(talk, size)
    stage.page.fill("#msg", "Go on")
    stage.page.keyboard.press("Enter")
    stage.row(talk.me("Go on", id=stage.wait_for("message")["id"]))
    stage.row(talk.turn(2))
    for _ in range(6):
        stage.row(talk.part("response", "A line.\n\n" * 12, turn=2))
    question, turn, bar = stage.page.evaluate(
        "['.b-me:has(+ #t2-0)', '#t2-0', '.b-top'].map(name => document.querySelector(name).getBoundingClientRect())"
        ".map(({ top, bottom }, at) => at === 2 ? Math.max(0, bottom) : top)"
    )
    # The question is left out where it would fill the window.
    assert 0 <= (turn if size == ZOOM4 else question) - bar <= 24
