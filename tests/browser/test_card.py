"""The approval card in a real browser: in view when it appears, under the server's clock, nothing approved unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Desk
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.envelopes.transports.panel.talk import Talk

Make = Callable[..., Stage]
DESK, PHONE, KEYBOARD = (1280, 800), (390, 844), (390, 460)
SIZES = pytest.mark.parametrize("size", [DESK, PHONE, KEYBOARD], ids=lambda size: f"{size[0]}x{size[1]}")
BOOKING = {
    "flight": "Nordvind NV 418",
    "date": "2027-08-15",
    "lead_passenger": "Ada Lovelace",
    "email": "",
    "tickets": 2,
    "total": 188,
    "currency": "GBP",
}
FIELDS: list[dict[str, Any]] = [
    {"path": ["flight"], "title": "Flight", "format": "text"},
    {"path": ["date"], "title": "Date", "format": "date", "beside": "flight"},
    {"path": ["lead_passenger"], "title": "Passenger", "format": "text"},
    {"path": ["email"], "title": "Email", "format": "text", "default": [""], "required": False},
    {"path": ["tickets"], "title": "Tickets", "format": "number", "unit": ["ticket", "tickets"]},
    {"path": ["total"], "title": "Total price", "format": "money", "currency": "currency", "sum": True},
    {"path": ["currency"], "title": "Currency", "format": "text"},
]
LONG = {f"k{number}": f"Value number {number}" for number in range(40)}
HIT = """async buttons => {
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  return buttons.map(button => {
    const box = button.getBoundingClientRect(), x = box.x + box.width / 2;
    return [box.top + 2, box.bottom - 2].every(y => button.contains(document.elementFromPoint(x, y)));
  });
}"""
# What the browser takes for now: so many minutes from the server's time, which is that of the last row.
CLOCK = """([start, minutes]) => {
  const Real = Date, now = () => start + minutes * 60000 + performance.now();
  Date = class extends Real { constructor(...given) { super(...(given.length ? given : [now()])); } };
  Date.now = now;
}"""


@pytest.fixture
def make(open_desk: Callable[..., Desk]) -> Iterator[Make]:
    """A page at a size, with a conversation that has begun."""
    with ExitStack() as stack:

        def open_one(size: tuple[int, int] = DESK, minutes: int | None = None, **page: Any) -> Stage:
            width, height = size
            desk = open_desk(viewport={"width": width, "height": height})
            talk = Talk(locale="en-GB")
            talk.me("Book NV 418 on 15 August for Ada Lovelace, 2 tickets")
            talk.turn(1)
            desk.context.add_init_script(FAKE_SOCKET)
            if minutes is not None:
                start = round(talk.at.timestamp() * 1000)
                desk.context.add_init_script(f"({CLOCK})([{start}, {minutes}])")
            url = stack.enter_context(serving(lambda: render(talk, **page)))
            return Stage(desk.page(), url, talk)

        yield open_one


def ask(stage: Stage, args: dict[str, Any] | None = None, **more: Any) -> None:
    """The question comes in, as a row."""
    about = {
        "question": "Buy 2 tickets from London Gatwick to Corfu for £188.00?",
        "fields": FIELDS,
    }
    if args is not None:
        about = {"question": "Run it?"}
    stage.row(stage.talk.ask(args=BOOKING if args is None else args, **about | more))
    stage.row(stage.talk.turn(1, "suspended"))


def button(stage: Stage, name: str) -> Locator:
    return stage.page.locator(".b-approval").get_by_role("button", name=name, exact=True)


def hit(stage: Stage) -> list[bool]:
    """Whether a pointer meets Deny and Approve where they are drawn."""
    found: list[bool] = button(stage, "Deny").or_(button(stage, "Approve")).evaluate_all(HIT)
    return found


def pill(stage: Stage) -> Locator:
    return stage.page.locator("#pill")


# -- in view ----------------------------------------------------------------------------------------------------------


@SIZES
@pytest.mark.parametrize("args", [None, LONG], ids=["short", "long"])
def test_a_card_is_in_view_when_it_appears_whatever_was_said_before(
    make: Make, size: tuple[int, int], args: dict[str, Any] | None
) -> None:
    stage = make(size)
    stage.open()
    stage.page.locator("#msg").click()
    stage.row(stage.talk.part("response", "\n\n".join(f"Paragraph {number}." for number in range(30))))
    ask(stage, args)
    assert hit(stage) == [True, True]
    expect(pill(stage)).to_be_hidden()
    top, bottom, bar, dock = stage.page.evaluate(
        """() => ['.b-approval', '.b-approval', '.b-top', '.b-dock'].map((name, at) =>
          document.querySelector(name).getBoundingClientRect()[['top', 'bottom', 'bottom', 'top'][at]])"""
    )
    # All of it, or its beginning with the answers stuck over the rest.
    assert top >= bar
    assert bottom <= dock + 1 or args is not None or size == KEYBOARD
    # Whoever writes goes on writing, and there is no answer that Enter would give.
    expect(stage.page.locator("#msg")).to_be_focused()


@SIZES
def test_the_answers_stay_in_view_while_a_long_card_is_read(make: Make, size: tuple[int, int]) -> None:
    stage = make(size)
    stage.open()
    ask(stage, LONG)
    for _ in range(40):
        assert hit(stage) == [True, True]
        before = stage.page.evaluate("scrollY")
        stage.page.mouse.wheel(0, 150)
        stage.page.wait_for_timeout(20)
        if stage.page.evaluate("scrollY") == before:
            break
    assert stage.page.locator(".b-facts > div").last.is_visible()
    expect(pill(stage)).to_be_hidden()


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_who_reads_back_is_told_and_taken_to_the_whole_card(make: Make, size: tuple[int, int]) -> None:
    stage = make(size)
    stage.open()
    stage.row(stage.talk.part("response", "\n\n".join(f"Paragraph {number}." for number in range(60))))
    stage.page.evaluate("scrollTo(0, 300)")
    stage.page.wait_for_timeout(50)
    line = stage.page.get_by_text("Paragraph 10.", exact=True)
    before = line.evaluate("e => e.getBoundingClientRect().top")
    ask(stage)
    assert abs(line.evaluate("e => e.getBoundingClientRect().top") - before) <= 1
    told = stage.page.get_by_role("button", name="Approval below")
    # Above the box, and on nothing that is read.
    one, box, dock = (
        found.bounding_box() or {} for found in (told, *map(stage.page.locator, ("#composer", ".b-dock")))
    )
    assert dock["y"] <= one["y"] and one["y"] + one["height"] <= box["y"]
    told.click()
    assert hit(stage) == [True, True]
    expect(pill(stage)).to_be_hidden()


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("args", [None, LONG], ids=["short", "long"])
def test_p5_a_growing_box_never_covers_the_answers(
    make: Make, size: tuple[int, int], args: dict[str, Any] | None
) -> None:
    stage = make(size)
    stage.open()
    stage.row(stage.talk.part("response", "\n\n".join(f"Paragraph {number}." for number in range(20))))
    ask(stage, args)
    stage.page.locator("#msg").click()
    for _ in range(9):
        stage.page.keyboard.type("line")
        stage.page.keyboard.press("Shift+Enter")
        assert hit(stage) == [True, True] or pill(stage).is_visible()
    assert hit(stage) == [True, True]
    # Whatever else makes it higher, such as a note or a file; and a keyboard that takes half of the window.
    stage.page.evaluate("document.querySelector('.b-dock__in').style.paddingBlockStart = '90px'")
    assert hit(stage) == [True, True]
    stage.page.evaluate("document.querySelector('.b-dock__in').style.paddingBlockStart = ''")
    stage.page.fill("#msg", "")
    stage.page.set_viewport_size({"width": size[0], "height": size[1] * 11 // 20})
    assert hit(stage) == [True, True]
    height = stage.page.evaluate("document.querySelector('.b-dock').offsetHeight")
    assert (
        stage.page.evaluate(
            "getComputedStyle(document.querySelector('#panel')).getPropertyValue('--b-dock-h')"
        )
        == f"{height}px"
    )


def test_who_may_not_decide_sees_the_question_and_no_answers(make: Make) -> None:
    stage = make(may_write=False, decides_as=[])
    stage.open()
    ask(stage)
    card = stage.page.locator(".b-approval")
    expect(card.get_by_text("Waiting for approval")).to_be_visible()
    expect(card.get_by_text("Needs your approval")).to_be_hidden()
    expect(button(stage, "Approve")).to_be_hidden()
    expect(pill(stage)).to_be_hidden()


# -- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("minutes", [20, -20], ids=["fast", "slow"])
def test_p4_the_time_left_is_the_servers_and_decides_nothing(make: Make, minutes: int) -> None:
    stage = make(minutes=minutes)
    stage.open()
    ask(stage)
    left = stage.page.locator("[data-expires]")
    expect(left).to_contain_text("Expires in 19:5")
    assert [button(stage, name).is_enabled() for name in ("Deny", "Approve")] == [True, True]
    # Set while the page is open.
    stage.page.evaluate(CLOCK, [round(stage.talk.at.timestamp() * 1000), -minutes])
    stage.page.wait_for_timeout(1200)
    expect(left).to_contain_text("Expires in 19:5")
    # A connection tells the time anew: after a sleep the page has not counted on.
    end = 1773306000000
    stage.push({"type": "welcome", "seq": len(stage.talk.rows), "busy": False, "now": end - 100_000})
    expect(left).to_contain_text("Expires in 01:3")
    stage.push({"type": "welcome", "seq": len(stage.talk.rows), "busy": False, "now": end + 5000})
    expect(left).to_have_text("Time is up")
    # What the page believes holds nobody back; the server answers.
    button(stage, "Approve").click()
    decide = stage.wait_for("decide")
    refusal = {"code": "expired", "message": "This approval expired before it was decided. Nothing was run."}
    stage.push({"type": "error", "id": decide["id"], "retry": False, **refusal})
    expect(stage.page.locator(".b-approval")).to_contain_text("Nothing was run.")
    stage.row(stage.talk.decide("denied", reason="expired", decidedByName="policy:expiry", source="policy"))
    expect(stage.page.locator(".b-approval")).to_have_attribute("data-state", "expired")


# -- nothing unseen ---------------------------------------------------------------------------------------------------


def test_x2_approve_counts_when_what_is_too_long_was_opened(make: Make) -> None:
    stage = make()
    stage.open()
    ask(stage, {"command": "ls" + " " * 300 + "; rm -rf /", "note": "word " * 300, "more": "line\n" * 60})
    card, approve = stage.page.locator(".b-approval"), button(stage, "Approve")
    approve.click(force=True)
    assert [sent for sent in stage.fresh() if sent["type"] == "decide"] == []
    expect(card.locator(".b-long summary").first).to_be_focused()
    expect(card).to_contain_text("300 blanks")
    expect(card.locator(".b-approval__first")).to_contain_text("too long to show whole")
    # Deny never waits.
    expect(button(stage, "Deny")).not_to_have_attribute("aria-disabled", "true")
    stage.page.keyboard.press("Enter")
    expect(approve).to_have_attribute("aria-disabled", "true")
    card.locator(".b-approval__first a").last.click()
    expect(card.locator(".b-long[open]")).to_have_count(2)
    expect(approve).not_to_have_attribute("aria-disabled", "true")
    expect(card.locator(".b-approval__first")).to_be_hidden()
    approve.click()
    assert stage.wait_for("decide")["decision"] == "granted"


def test_the_exact_call_is_one_click_away(make: Make) -> None:
    stage = make()
    stage.open()
    ask(stage)
    card = stage.page.locator(".b-approval")
    box = card.locator(".b-exact__box pre")
    expect(box).to_be_hidden()
    card.get_by_text("Exact call").click()
    expect(box).to_contain_text('"lead_passenger": "Ada Lovelace"')
    expect(card.locator(".b-exact__sum code")).to_contain_text("9f2c41ab 00000000")


# -- names from right to left -----------------------------------------------------------------------------------------

ARABIC = "\u0634\u0631\u0643\u0629 \u0627\u0644\u0633\u0641\u0631."
# Where the words that are asked for stand, from left to right.
PLACES = """(place, words) => words.map(word => {
  const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const at = node.data.indexOf(word);
    if (at < 0) continue;
    range.setStart(node, at);
    range.setEnd(node, at + word.length);
    return range.getBoundingClientRect().left;
  }
})"""


def in_order(place: Locator, *words: str) -> bool:
    """Whether these words of a line stand one behind the other, as they are written here."""
    lefts: list[float] = place.evaluate(PLACES, list(words))
    return lefts == sorted(lefts)


def test_names_from_right_to_left_turn_nothing_around_them(make: Make) -> None:
    stage = make()
    stage.talk.thread.page.actors["sally"] = ARABIC
    stage.open()
    page = stage.page
    ask(stage, {**BOOKING, "flight": ARABIC}, question="Buy it?", fields=FIELDS)
    assert in_order(page.locator(".b-approval__why"), ARABIC, "will run", "once.")
    flight = page.locator(".b-facts dd").first
    assert in_order(flight, ARABIC, "Sunday", "2027")
    # What comes between two values stands on our side of the first one.
    assert flight.locator("> span").first.evaluate("value => getComputedStyle(value).direction") == "ltr"
    stage.row(
        stage.talk.part(
            "artifact", data={"artifactId": "a", "name": f"{ARABIC}pdf", "mimeType": "text/plain"}
        )
    )
    name, meta = (page.locator(f".b-file__{part}") for part in ("name", "meta"))
    assert in_order(page.locator(".b-file"), ARABIC) and abs(_left(name) - _left(meta)) < 2
    stage.row(stage.talk.decide("denied", reason=ARABIC, decidedByName=ARABIC, source="admin"))
    assert in_order(page.locator(".b-approval__said"), ARABIC, "Nothing", "has been", "told")
    assert in_order(page.locator(".b-approval__who"), "Denied", ARABIC, "in the")


def _left(place: Locator) -> float:
    left: float = place.evaluate("""place => {
      const words = document.createRange();
      words.selectNodeContents(place);
      return words.getBoundingClientRect().left;
    }""")
    return left


LINES = """values => {
  const [name, count] = values.children, box = values.getBoundingClientRect();
  const tall = [values, name, count].map(each => each.getBoundingClientRect().height);
  const before = count.getBoundingClientRect().left - parseFloat(getComputedStyle(count, '::before').width) - box.left;
  const cut = getComputedStyle(values).overflowX;
  return { extra: Math.round(tall[0] - tall[1] - tall[2]), before: Math.round(before), cut };
}"""


@pytest.mark.parametrize("name", ["Ada Lovelace", "Wolfeschlegelsteinhausen Bergerdorff " * 2])
def test_the_mark_between_two_values_has_no_line_of_its_own(make: Make, name: str) -> None:
    stage = make(PHONE)
    stage.open()
    fields = [
        field | ({"beside": "lead_passenger"} if field["path"] == ["tickets"] else {}) for field in FIELDS
    ]
    ask(stage, {**BOOKING, "lead_passenger": name}, question="Buy it?", fields=fields)
    values = stage.page.locator(".b-facts dd", has_text="2 tickets")
    found = values.evaluate(LINES)
    assert found["cut"] == "clip"
    if len(name) < 20:
        # On one line, with the mark between them.
        assert found["extra"] < 0 < found["before"]
    else:
        # One under the other, with nothing between them: the mark hangs out of the row.
        assert found["extra"] == 0 > found["before"]
