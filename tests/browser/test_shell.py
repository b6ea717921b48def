"""The page around a conversation: bar, dock and composer at every size, what breaks and what stays in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk
from tests.browser.focus import step
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.browser.states import LONG, settled, wordy
from tests.envelopes.transports.panel.talk import Talk

DESK, PHONE, ZOOM2, SMALL, KEYBOARD, ZOOM4 = (
    (1280, 800),
    (390, 844),
    (640, 400),
    (320, 568),
    (390, 460),
    (320, 200),
)
"""``ZOOM2`` and ``ZOOM4`` are 1280 by 800 at 200 and 400 percent."""
ENDS = [DESK, PHONE, ZOOM4]
WIDE = "document.documentElement.scrollWidth"


@pytest.fixture
def show(open_desk: Callable[..., Desk]) -> Iterator[Callable[..., Stage]]:
    """Open the page of a conversation in a window of a size."""
    closing: list[Any] = []

    def shown(talk: Talk, size: tuple[int, int] = DESK, **context: Any) -> Stage:
        desk = open_desk(viewport={"width": size[0], "height": size[1]})
        desk.context.add_init_script(FAKE_SOCKET)
        served = serving(lambda: render(talk, **context))
        closing.append(served)
        stage = Stage(desk.page(), served.__enter__(), talk)
        stage.open()
        return stage

    yield shown
    for served in closing:
        served.__exit__(None, None, None)


def reading(count: int = 12) -> Talk:
    """A conversation long enough to scroll."""
    talk = Talk()
    talk.me("Tell me")
    talk.turn(1)
    talk.part(
        "response", "\n\n".join(f"Paragraph {n}. " + "The sea is calm today. " * 12 for n in range(count))
    )
    return talk


def box(stage: Stage, selector: str) -> dict[str, float]:
    found: dict[str, float] = stage.page.evaluate(
        "selector => { const { top, bottom, height } = document.querySelector(selector).getBoundingClientRect();"
        "return { top, bottom, height } }",
        selector,
    )
    return found


# -- focus ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ENDS)
def test_p7_the_focus_is_never_behind_bar_or_composer(
    show: Callable[..., Stage], size: tuple[int, int]
) -> None:
    stage = show(settled(), size)
    for key in ("Shift+Tab", "Tab"):
        stage.page.locator("#msg").focus()
        seen = []
        for _ in range(22):
            found = step(stage.page, key)
            seen.append(
                stage.page.evaluate("document.activeElement.closest('#thread') && document.activeElement.id")
            )
            assert not found, found
        if key == "Shift+Tab":
            assert len({name for name in seen if name}) >= 4


def test_p7_the_focus_stays_clear_of_a_composer_that_has_grown(show: Callable[..., Stage]) -> None:
    stage = show(settled(), SMALL)
    stage.page.locator("#msg").fill("\n".join("abcdef"))
    # The page tells its styles how high the dock is.
    stage.page.evaluate(
        "document.getElementById('panel').style.setProperty('--b-dock-h', "
        "`${document.querySelector('.b-dock').offsetHeight}px`)"
    )
    stage.page.locator("#msg").focus()
    for _ in range(20):
        assert not (found := step(stage.page, "Shift+Tab")), found


# -- small windows ----------------------------------------------------------------------------------------------------


def test_p8_at_400_percent_there_is_room_to_read(show: Callable[..., Stage]) -> None:
    stage = show(reading(), ZOOM4)
    dock, bar = box(stage, ".b-dock"), box(stage, ".b-top")
    assert bar["bottom"] <= 0, "the bar scrolls away"
    assert dock["height"] <= 60
    assert dock["top"] >= 140, "what is left to read"
    stage.page.evaluate("scrollTo(0, 0)")
    stage.page.wait_for_timeout(50)
    assert box(stage, ".b-dock")["top"] - box(stage, ".b-top")["bottom"] >= 95


@pytest.mark.parametrize("size", [ZOOM2, SMALL, KEYBOARD, ZOOM4])
def test_p8_no_window_is_filled_by_bar_and_composer(
    show: Callable[..., Stage], size: tuple[int, int]
) -> None:
    stage = show(Talk(), size)
    stage.page.locator("#msg").fill("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight")
    assert stage.page.evaluate(WIDE) <= size[0]
    assert box(stage, ".b-dock")["height"] <= size[1] * 0.47
    expect(stage.page.get_by_role("button", name="Send")).to_be_in_viewport()


@pytest.mark.parametrize(("size", "lines"), [(DESK, 6), (PHONE, 6), (KEYBOARD, 3), (ZOOM4, 2)])
def test_the_composer_is_one_line_and_grows(
    show: Callable[..., Stage], size: tuple[int, int], lines: int
) -> None:
    stage = show(Talk(), size)
    message = stage.page.locator("#msg")
    heights = [box(stage, "#msg")["height"]]
    assert box(stage, "#composer")["height"] <= 50
    for count in range(2, 9):
        message.fill("\n".join("x" * count))
        heights.append(box(stage, "#msg")["height"])
    assert [round((height - heights[0]) / 24) for height in heights] == [min(n, lines - 1) for n in range(8)]
    assert box(stage, "#composer")["bottom"] <= size[1]


def test_the_hint_gives_way_to_what_is_written_but_not_when_it_is_too_long(
    show: Callable[..., Stage],
) -> None:
    stage = show(Talk())
    hint = stage.page.locator("#hint")
    assert hint.inner_text() == "Enter to send, Shift+Enter for a new line"
    expect(hint).to_be_visible()
    stage.page.locator("#msg").fill("Hello")
    expect(hint).to_be_hidden()
    stage.page.locator("#msg").fill("x" * 201)
    expect(hint).to_be_visible()
    expect(hint).to_contain_text("201")


def test_who_may_not_write_is_told_instead_of_shown_a_box(show: Callable[..., Stage]) -> None:
    stage = show(settled(), may_write=False)
    expect(stage.page.get_by_text("View only.")).to_be_visible()
    expect(stage.page.get_by_role("textbox", name="Message")).to_have_count(0)
    expect(stage.page.get_by_role("button", name="Send")).to_have_count(0)


# -- long words -------------------------------------------------------------------------------------------------------

STICKS_OUT = """() => [...document.querySelectorAll('body *')].filter(element => {
  const { width, right, left } = element.getBoundingClientRect();
  const scroller = element.parentElement.closest('.b-scroll, .a2-tablewrap, .a2-tabs, pre, .b-sr, .b-status > span');
  return width && !scroller && (right > innerWidth + 1 || left < -1) && !element.matches('.b-sr, .b-skip');
}).map(element => `${element.localName}.${element.className} ${element.textContent.slice(0, 20)}`)"""


def long_title() -> list[Any]:
    session = SimpleNamespace(public_id="cur", title=LONG)
    entry = {
        "session": session,
        "name": LONG,
        "at": "2026-03-12T08:40:00Z",
        "time": "09:40",
        "moment": "Thursday",
    }
    entries = [entry | {"current": current, "waiting": True, "working": False} for current in (True, False)]
    return [{"name": "Today", "entries": entries, "cut": 0}]


@pytest.mark.parametrize("size", [DESK, SMALL])
def test_p9_a_word_of_400_letters_breaks_everywhere(
    show: Callable[..., Stage], size: tuple[int, int]
) -> None:
    stage = show(wordy(), size, groups=long_title(), person=LONG)
    page = stage.page
    # Also what only the page itself puts there: an own copy, a toast, a note under a field.
    page.locator("#msg").fill(LONG)
    page.keyboard.press("Enter")
    stage.push({"type": "error", "code": "x", "message": LONG})
    stage.settle()
    assert page.evaluate(WIDE) <= size[0]
    assert page.evaluate(STICKS_OUT) == []


def test_p9_the_list_of_conversations_is_as_wide_as_ever_with_a_long_title(
    show: Callable[..., Stage],
) -> None:
    stage = show(wordy(), PHONE, groups=long_title(), person=LONG)
    stage.page.get_by_role("button", name="Conversations").click()
    drawer = stage.page.get_by_role("dialog")
    expect(drawer).to_be_visible()
    assert drawer.evaluate("element => element.scrollWidth <= element.clientWidth")
    expect(drawer.get_by_title(LONG).first).to_be_visible()


# -- own words --------------------------------------------------------------------------------------------------------

CODE = "def f(x):\n    if x:\n\treturn  1\n\n    return 2"


def test_p11_what_a_person_pastes_keeps_its_indentation(show: Callable[..., Stage]) -> None:
    talk = Talk()
    talk.me(CODE)
    stage = show(talk)
    stage.page.locator("#msg").fill(CODE)
    stage.page.get_by_role("button", name="Send").click()
    texts = stage.page.locator(".b-me__text")
    expect(texts).to_have_count(2)
    for text in texts.all():
        assert text.inner_text() == CODE
        assert text.evaluate("element => getComputedStyle(element).whiteSpaceCollapse") == "preserve"


# -- what is read stays in place ---------------------------------------------------------------------------------------

WHERE = """text => [...document.querySelectorAll('p')]
  .find(p => p.textContent.startsWith(text)).getBoundingClientRect().top"""


@contextmanager
def stays(page: Page, text: str) -> Iterator[None]:
    before = page.evaluate(WHERE, text)
    assert 60 < before < page.evaluate("innerHeight") - 80, "it is being read"
    yield
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert abs(page.evaluate(WHERE, text) - before) <= 1


SEA = "\n\n".join(f"Paragraph {n}. " + "The sea is calm today. " * 12 for n in range(9))


def researched(talk: Talk, done: int) -> list[Any]:
    ops = []
    for number in range(6):
        state = "done" if number < done else "running"
        data = {"id": str(number), "label": f"Step {number}", "status": state, "group": "Corfu"}
        ops += talk.part("progress", data=data)
    return ops


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_p12_the_page_stays_where_it_is_read_when_research_ends(
    show: Callable[..., Stage], size: tuple[int, int]
) -> None:
    talk = Talk()
    talk.me("Research Corfu")
    talk.turn(1)
    talk.part("ack", "Looking at the map")
    researched(talk, 5)
    talk.part("response", "Some words. " * 40)
    talk.part("thinking", "Reading the climate tables")
    talk.me("Hello")
    talk.turn(2)
    talk.part("response", SEA, turn=2)
    talk.settle(2)
    stage = show(talk, size)
    # The line that goes is behind the bar, below the end of a text that a browser would hold on to.
    stage.page.evaluate(
        "scrollTo(0, document.querySelector('.b-ack[data-live]').getBoundingClientRect().bottom + scrollY - 50)"
    )
    stage.page.wait_for_timeout(100)
    with stays(stage.page, "Paragraph 0"):
        stage.row(researched(talk, 6))
        stage.row(talk.settle())


def test_p12_the_page_stays_where_it_is_read_when_a_card_at_its_upper_edge_is_drawn_again(
    show: Callable[..., Stage],
) -> None:
    talk = Talk()
    talk.me("Research Corfu")
    talk.turn(1)
    talk.part("progress", data={"id": "0", "label": "Step 0", "group": "Corfu"})
    talk.part("response", SEA)
    stage = show(talk)
    stage.page.evaluate(
        "scrollTo(0, document.querySelector('.b-progress').getBoundingClientRect().bottom + scrollY - 90)"
    )
    stage.page.wait_for_timeout(100)
    with stays(stage.page, "Paragraph 0"):
        stage.row(researched(talk, 1))
        stage.row(researched(talk, 6))


SELECT = """words => {
  const texts = document.createTreeWalker(document.getElementById('thread'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const at = texts.currentNode.data.indexOf(words);
    if (at >= 0) return getSelection().setBaseAndExtent(texts.currentNode, at, texts.currentNode, at + words.length);
  }
  throw new Error('not there');
}"""


def streamed(show: Callable[..., Stage], text: str) -> Stage:
    talk = Talk()
    talk.me("Hello")
    talk.turn(1)
    stage = show(talk)
    for offset in range(0, len(text), 7):
        delta = {"type": "delta", "live": "k1", "into": talk.thread.container(1), "partType": "response"}
        stage.push(delta | {"offset": offset, "text": text[offset : offset + 7]})
    stage.settle()
    expect(stage.page.locator("#vk1")).to_be_visible()
    return stage


def test_p12_what_is_selected_in_a_streaming_answer_stays_selected(show: Callable[..., Stage]) -> None:
    text = "The sea is calm and the ferry leaves at nine."
    stage = streamed(show, text)
    page = stage.page
    page.evaluate(SELECT, "the ferry")
    page.evaluate("window.words = getSelection().anchorNode")
    # A piece that comes twice changes nothing before it.
    again = {"type": "delta", "live": "k1", "into": stage.talk.thread.container(1), "partType": "response"}
    stage.push(again | {"offset": 35, "text": text[35:]})
    stage.settle()
    assert page.evaluate("String(getSelection())") == "the ferry"
    stage.row(stage.talk.part("response", text, live="k1"))
    stage.row(stage.talk.settle())
    assert page.evaluate("String(getSelection())") == "the ferry"
    assert page.evaluate("words.isConnected")
    assert page.evaluate(
        "fetch(location).then(page => page.text()).then(text => { const part = words.parentNode.closest('.b-prose');"
        "return new DOMParser().parseFromString(text, 'text/html').getElementById(part.id).isEqualNode(part); })"
    )
    expect(page.locator(".b-turn .b-prose")).to_have_count(1)


# -- without script ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("talk", "size"), [(Talk, DESK), (settled, PHONE)])
def test_p17_without_javascript_the_page_says_what_works(
    open_desk: Callable[..., Desk], size: tuple[int, int], talk: Callable[[], Talk]
) -> None:
    desk = open_desk(java_script_enabled=False, viewport={"width": size[0], "height": size[1]})
    page = desk.page()
    made = talk()
    with serving(lambda: render(made, groups=long_title())) as url:
        page.goto(url)
        said = page.locator("body").inner_text()
        assert "Connecting" not in said and "Ready" not in said
        assert "JavaScript is off. You can read conversations." in said
        expect(page.locator("#msg")).to_be_hidden()
        expect(page.get_by_role("button", name="Find a flight")).to_be_hidden()
        expect(page.get_by_role("link", name="New conversation")).to_be_visible()
        for button in page.locator("[data-act]").all():
            assert button.evaluate("element => getComputedStyle(element).pointerEvents") == "none"


def test_p17_the_page_claims_nothing_before_its_code_runs(show: Callable[..., Stage]) -> None:
    """A blocker or a lost download leaves a page without its code, and no browser says so."""
    stage = show(settled())
    page = stage.page
    page.route("**/beach/panel.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.reload()
    assert page.locator("#status").inner_text().strip() == ""
    expect(page.get_by_role("button", name="Send")).to_be_disabled()


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_suggestion_that_is_alone_stands_in_the_middle(
    show: Callable[..., Stage], size: tuple[int, int]
) -> None:
    stage = show(Talk(), size)
    middles: list[float] = stage.page.evaluate(
        "['#thread', '.b-empty h2', '.b-prompt'].map(each => document.querySelector(each).getBoundingClientRect())"
        ".map(({ left, right }) => (left + right) / 2)"
    )
    assert max(middles) - min(middles) < 1
