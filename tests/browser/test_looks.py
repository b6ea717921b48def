"""How surfaces look, measured: nothing sticks out, all of it can be read, pictures keep their shape, and right to left
is the mirror image. One page of surfaces each, with the stylesheets as they are and without a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from a2ui import Engine
from a2ui.safety.markdown import render
from envelopes.client import finders
from envelopes.transports.panel.presenter.data import Sheet
from tests.a2ui.programs import components, create, data, path, row

ORIGIN = "http://looks.test"
DESK, PHONE, SMALL = (1280, 800), (390, 844), (320, 640)
GO: dict[str, Any] = {"event": {"name": "go"}}
OVERRIDE = "\N{RIGHT-TO-LEFT OVERRIDE}"
# 32 by 18 pixels.
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180" preserveAspectRatio="none" viewBox="0 0 1 1">'
    '<rect width="1" height="1"/></svg>'
)
# Strong, weak, light and dark ones; those that browsers draw far outside of what was asked for are the blue ones.
COLOURS = [
    "#000000",
    "#ffffff",
    "#808080",
    "#d32f2f",
    "#ffeb3b",
    "#00ff00",
    "#0000ff",
    "#6200ee",
    "#ff00ff",
    "#00ffff",
    "#0b6a7f",
    "#fdf6e3",
]

Row = dict[str, Any]


def text(name: str, words: Any, variant: str = "body", **more: Any) -> Row:
    return row(name, "Text", text=words, variant=variant, **more)


def button(name: str, label: str, variant: str = "default", **more: Any) -> list[Row]:
    return [
        row(name, "Button", child=f"{name}t", action=GO, variant=variant, **more),
        text(f"{name}t", label),
    ]


def failing(message: str) -> list[dict[str, Any]]:
    return [{"condition": False, "message": message}]


OPTIONS = [
    {"label": "Economy", "value": "e"},
    {"label": "Premium economy, with a label that takes two lines on a phone", "value": "p"},
]


def form() -> list[Row]:
    """Every input in every variant, well and failing."""
    rows: list[Row] = []
    for n, checks in enumerate(({}, {"checks": failing("This is missing, and somebody has to fill it in.")})):
        rows += [
            row(f"{variant}{n}", "TextField", label=variant, variant=variant, value=path("/t"), **checks)
            for variant in ("shortText", "longText", "number", "obscured")
        ]
        for variant in ("multipleSelection", "mutuallyExclusive"):
            for style in ("checkbox", "chips"):
                given = {"variant": variant, "displayStyle": style, "filterable": n == 0, **checks}
                rows.append(
                    row(
                        f"{variant}{style}{n}",
                        "ChoicePicker",
                        label=style,
                        options=OPTIONS,
                        value=path("/v"),
                        **given,
                    )
                )
        rows.append(row(f"check{n}", "CheckBox", label="I agree", value=path("/b"), **checks))
        rows.append(row(f"slide{n}", "Slider", label="Budget", max=500, value=path("/n"), **checks))
        rows.append(
            row(f"date{n}", "DateTimeInput", label="Date", enableDate=True, value=path("/d"), **checks)
        )
    return [row("root", "Column", children=[each["id"] for each in rows]), *rows]


def pieces() -> list[Row]:
    """Everything that is no input."""
    markdown = (
        "# One\n\nWords with `code`, **bold** and [a link](https://example.org).\n\n- a\n  - b\n\n> quote\n\n"
        "| Airport | Price |\n| --- | --- |\n| Copenhagen Kastrup International | €1,186.40 |\n\n"
        f"```\n{'code ' * 60}\n```"
    )
    buttons = [
        *button("b1", "Default"),
        *button("b2", "Primary", "primary"),
        *button("b3", "Borderless", "borderless"),
        *button("b4", "Default, off", checks=failing("First the name.")),
        *button("b5", "Primary, off", "primary", checks=failing("First the name.")),
        *button("b6", "Borderless, off", "borderless", checks=failing("First the name.")),
    ]
    return [
        row("root", "Column", children=["h", "m", "c", "bs", "tabs", "modal", "list", "card", "no", "u"]),
        text("h", "A heading", "h1"),
        text("m", markdown),
        text("c", "A caption", "caption"),
        row("bs", "Row", children=["b1", "b2", "b3", "b4", "b5", "b6"]),
        *buttons,
        row("tabs", "Tabs", tabs=[{"title": f"Tab number {n}", "child": "c"} for n in range(9)]),
        row("modal", "Modal", trigger="mt", content="c"),
        text("mt", "Open"),
        row("list", "List", direction="horizontal", children={"path": "/items", "componentId": "item"}),
        row("item", "Card", child="words"),
        text("words", path("name")),
        row("card", "Card", child="inner"),
        row("inner", "Card", child="no2"),
        row("no", "Image", url="https://elsewhere.example/a.png", description="What it would show"),
        row("no2", "Image", url="https://elsewhere.example/a.png", variant="avatar"),
        row("u", "Hologram"),
    ]


def crowded() -> list[Row]:
    """What does not fit."""
    word = "Donaudampfschifffahrtsgesellschaftskapitänsmütze" * 4
    deep = [row(f"deep{n}", "Card", child=f"deep{n + 1}") for n in range(20)]
    return [
        row("root", "Column", children=["h", "t", "b", "r", "w", "f", "icon", "deep0", "s", "wb"]),
        text("h", word, "h1"),
        text("t", f"See https://example.org/{'path/' * 80}"),
        *button("b", f"{word} and many words more than a button is made for"),
        row("r", "Row", children=["r1", "r2", "r3"]),
        text("r1", word),
        text("r2", "short"),
        *button("r3", word),
        row("w", "Row", children=["w1", "w2", "w3", "w4"]),
        text("w1", word, weight=2),
        *[text(f"w{n}", "€850,000,000.00", weight=1) for n in (2, 3, 4)],
        row("f", "Row", children=["f1", "f2"]),
        row("f1", "TextField", label=word, value=path("/t"), weight=1),
        row("f2", "ChoicePicker", label="Chips", displayStyle="chips", value=[], options=[
            {"label": word, "value": "x"}
        ]),
        row("icon", "Row", children=["i1", "i2"]),
        row("i1", "Icon", name="home"),
        text("i2", "Words beside an icon that go on until they need another line, on any screen. " * 3),
        *deep,
        text("deep20", "The bottom"),
        row("s", "Slider", label=word, max=10, value=path("/n")),
        row("wb", "Row", children=["wb1", "wb2"]),
        *button("wb1", "One", weight=1),
        *button("wb2", "Two, with a longer label", "primary", weight=2),
    ]  # fmt: skip


MODEL = {
    "t": "Ines",
    "v": ["e"],
    "b": True,
    "n": 5,
    "d": "2026-03-12",
    "items": [{"name": f"Item {n}"} for n in range(9)],
}


def surface(rows: list[Row], *, colour: str = "", **more: Any) -> str:
    theme = {"theme": {"primaryColor": colour}} if colour else {}
    surfaces = Engine().surfaces()
    for message in (create(**theme), components(*rows), data(MODEL | more)):
        assert not [problem for problem in surfaces.apply(message) if problem.refused]
    only = surfaces.get("", "s")
    assert only is not None
    # Ids are those of one page: several surfaces of it need different ones.
    number = next(_NUMBERS)
    return f'<section class="b-surface"><div class="b-surface__body">{only.html()}</div></section>'.replace(
        '"a1', f'"s{number}a1'
    )


def _count() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


_NUMBERS = _count()
Show = Callable[..., Page]


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    """A page with these surfaces in the chat's column."""
    contexts = []

    def open_one(
        *surfaces: str, size: tuple[int, int] = DESK, direction: str = "ltr", **options: Any
    ) -> Page:
        context = chromium.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        contexts.append(context)
        page = context.new_page()
        links = '<link rel="stylesheet" href="/beach/chat.css">'
        body = "".join(surfaces)

        def serve(route: Route) -> None:
            name = route.request.url.removeprefix(ORIGIN + "/")
            if name.endswith(".css"):
                route.fulfill(path=finders.built(name) / name, content_type="text/css")
            elif name.endswith(".svg"):
                route.fulfill(body=PICTURE, content_type="image/svg+xml")
            else:
                route.fulfill(
                    content_type="text/html",
                    body=f'<!doctype html><html lang="en" dir="{direction}"><meta charset="utf-8">'
                    f'<meta name="viewport" content="width=device-width">{links}<main class="b-thread">'
                    f'<div class="b-turn"><div class="b-turn__parts">{body}</div></div></main></html>',
                )

        page.route(f"{ORIGIN}/**", serve)
        page.goto(ORIGIN + "/")
        # What the page's module does.
        page.evaluate(
            "() => document.querySelectorAll('[data-theme-primary]').forEach(el => "
            "el.style.setProperty('--a2-primary', el.dataset.themePrimary))"
        )
        return page

    yield open_one
    for context in contexts:
        context.close()


# -- room -------------------------------------------------------------------------------------------------------------

STICKS_OUT = """() => {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls');
  for (const body of document.querySelectorAll('.b-surface__body')) {
    const room = body.getBoundingClientRect();
    for (const el of body.querySelectorAll('*')) {
      const box = el.getBoundingClientRect();
      if (!box.width || (box.left >= room.left && box.right <= room.right)) continue;
      let at = el.parentElement;
      while (at !== body && !/auto|scroll/.test(getComputedStyle(at).overflowX)) at = at.parentElement;
      if (at === body) found.push(`${el.localName}.${el.className} ${el.textContent.slice(0, 40)}`);
    }
    // Words may stick out of a box that does not.
    const words = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    for (let node = words.nextNode(); node; node = words.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const button = node.parentElement.closest('button, .a2-chip, .a2-card');
      if (!button || !node.data.trim() || node.parentElement.closest('pre, .a2-list--across')) continue;
      const outer = button.getBoundingClientRect();
      for (const box of range.getClientRects())
        if (box.left < outer.left - 1 || box.right > outer.right + 1) found.push(`words: ${node.data.slice(0, 40)}`);
    }
  }
  return [...new Set(found)];
}"""


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_nothing_sticks_out(show: Show, direction: str) -> None:
    page = show(surface(form()), surface(pieces()), surface(crowded()), direction=direction)

    for width, height in (DESK, PHONE, SMALL):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(STICKS_OUT) == [], width


def test_a_share_of_the_width_does_not_cut_a_number_in_two(show: Show) -> None:
    rows = [
        row("root", "Row", children=["name", "price", "change", "cap"]),
        text("name", "Ethereum", weight=2),
        text("price", "$43,500.25", weight=1),
        text("change", "-0.5%", weight=1),
        text("cap", "$850,000,000,000.00", weight=1.5),
    ]
    page = show(surface(rows), size=PHONE)

    heights = page.evaluate("() => [...document.querySelectorAll('.a2-t')].map(t => t.offsetHeight)")
    assert max(heights) < 30


AMOUNT = "€1,284,912.00"
CUT = r"""() => {
  const found = [];
  const name = card => card.closest('.b-surface').dataset.name;
  for (const body of document.querySelectorAll('.b-surface__body')) {
    const words = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    for (let node = words.nextNode(); node; node = words.nextNode())
      for (const word of node.data.matchAll(/\S*\d\S*/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
        if (lines.size > 1) found.push(`${name(body)} breaks`);
      }
    const boxes = [...body.querySelectorAll('.a2-input, .a2-btn, .a2-t, .a2-h, .a2-check')];
    for (const [n, one] of boxes.entries()) for (const other of boxes.slice(n + 1)) {
      if (one.contains(other) || other.contains(one)) continue;
      const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2) found.push(`${name(body)} overlaps`);
    }
  }
  return [...new Set(found)];
}"""


def crowded_rows() -> dict[str, list[Row]]:
    """Rows of dates and of amounts, with weights and without, bare, in columns and in cards."""
    found: dict[str, list[Row]] = {}
    for weight in ({}, {"weight": 1}):
        mark = "weighted " if weight else ""

        def moment(name: str, **more: Any) -> Row:
            return row(name, "DateTimeInput", label="From", value="2026-08-15T10:30", **more)

        found[f"{mark}dates"] = [
            row("root", "Row", children=["d", "t"]),
            moment("d", **weight),
            row("t", "TextField", label="Guests", value="2", **weight),
        ]
        found[f"{mark}dates in columns"] = [
            row("root", "Row", children=["c0", "c1"]),
            *[row(f"c{n}", "Column", children=[f"d{n}"], **weight) for n in (0, 1)],
            *[moment(f"d{n}") for n in (0, 1)],
        ]
        found[f"{mark}date and button"] = [
            row("root", "Row", children=["d", "b"]),
            moment("d", **weight),
            *button("b", "Check availability", **weight),
        ]
        found[f"{mark}amounts in columns"] = [
            row("root", "Row", children=["c0", "c1", "c2"]),
            *[row(f"c{n}", "Column", children=[f"l{n}", f"a{n}"], **weight) for n in range(3)],
            *[text(f"l{n}", "Revenue", "caption") for n in range(3)],
            *[text(f"a{n}", AMOUNT, "h1") for n in range(3)],
        ]
        found[f"{mark}amounts in cards"] = [
            row("root", "Row", children=["k0", "k1", "k2"]),
            *[row(f"k{n}", "Card", child=f"a{n}", **weight) for n in range(3)],
            *[text(f"a{n}", AMOUNT, "h2") for n in range(3)],
        ]
    found["stretched amounts"] = [
        row("root", "Row", justify="stretch", children=["a0", "a1", "a2"]),
        *[text(f"a{n}", AMOUNT, "h4") for n in range(3)],
    ]
    return found


def test_e7_dates_and_amounts_in_a_row_get_the_room_that_they_need(show: Show) -> None:
    cards = [
        surface(rows).replace("<section ", f'<section data-name="{name}" ', 1)
        for name, rows in crowded_rows().items()
    ]
    for direction in ("ltr", "rtl"):
        page = show(*cards, direction=direction)
        for width in (320, 360, 390, 430, 520, 700, 1000):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(CUT) == [], (direction, width)
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_values_deep_in_data_stand_in_more_than_a_column_of_single_letters(show: Show) -> None:
    data = Sheet().value({"level": {"level": {"level": {"level": "value"}}}}, 0)
    page = show(f'<div class="b-me"><div class="b-me__data">{data}</div></div>', size=PHONE)
    assert page.evaluate("Math.min(...[...document.querySelectorAll('dd')].map(dd => dd.offsetWidth))") > 80


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("wrapped", ["surface", "answer", "quote"])
def test_e8_the_number_of_a_list_item_is_in_sight(show: Show, direction: str, wrapped: str) -> None:
    numbered = "123456789. Long item that goes on until it takes a second line\n123456790. Next"
    short = "1. One\n2. Two\n\n   - a bullet"
    if wrapped == "quote":
        numbered = "\n".join(f"> {line}" for line in numbered.split("\n"))
    rows = [row("root", "Column", children=["n", "s"]), text("n", numbered), text("s", short)]
    card = surface(rows)
    if wrapped == "answer":
        card = f'<div class="b-prose">{render(numbered).html}</div><div class="b-prose">{render(short).html}</div>'
    page = show(card, size=(360, 800), direction=direction)

    # How far the text of an item stands from the edge of its list's room, and how much of that its number needs.
    room, needed, plain = page.evaluate(
        """rtl => {
      const from = list => {
        const range = document.createRange(), edge = list.parentElement.getBoundingClientRect();
        range.selectNodeContents(list.querySelector('li'));
        const first = range.getClientRects()[0];
        const inner = parseFloat(getComputedStyle(list.parentElement).paddingInlineStart);
        return (rtl ? edge.right - first.right : first.left - edge.left) - inner;
      };
      const [long, short] = document.querySelectorAll('ol');
      const probe = Object.assign(document.createElement('span'), { textContent: '123456790.' });
      long.parentElement.append(probe);
      const needed = probe.getBoundingClientRect().width;
      probe.remove();
      return [from(long), needed, from(short)];
    }""",
        direction == "rtl",
    )
    assert room >= needed
    assert plain < 40
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_what_goes_on_beyond_an_edge_fades_there_and_only_there(show: Show) -> None:
    tabs = [{"title": f"Tab number {n}", "child": "c"} for n in range(9)]
    rows = [row("root", "Tabs", tabs=tabs), text("c", "Content")]
    ends = """() => {
      const shown = getComputedStyle(document.querySelector('.a2-tabs'));
      return ['--a2-before', '--a2-after'].map(end => parseFloat(shown.getPropertyValue(end)) > 1);
    }"""
    page = show(surface(rows), size=PHONE)

    assert page.evaluate(ends) == [False, True]
    page.evaluate("document.querySelector('.a2-tabs').scrollLeft = 10000")
    page.wait_for_timeout(100)
    assert page.evaluate(ends) == [True, False]
    page.set_viewport_size({"width": 1280, "height": 800})
    few = show(surface([row("root", "Tabs", tabs=tabs[:2]), text("c", "Content")]), size=PHONE)
    assert few.evaluate(ends) == [False, False]


def test_text_and_cards_end_at_one_edge(show: Show) -> None:
    words = "Words that go on and on until they have to take another line, on any screen there is. " * 4
    page = show(f'<div class="b-prose"><p>{words}</p></div>', surface([text("root", "A card")]))

    edges = page.evaluate(
        "() => ['.b-prose', '.b-surface'].map(s => document.querySelector(s).getBoundingClientRect().right)"
    )
    assert edges[0] == edges[1]


def test_pictures_are_cut_and_not_stretched(show: Show) -> None:
    variants = ["icon", "avatar", "smallFeature", "mediumFeature", "largeFeature", "header"]
    rows = [
        row("root", "Column", children=variants),
        *[row(name, "Image", url="/p.svg", variant=name) for name in variants],
    ]
    page = show(surface(rows))
    page.wait_for_function("[...document.images].every(image => image.complete)")

    found = page.evaluate(
        "() => [...document.images].map(i => [getComputedStyle(i).objectFit, i.offsetWidth, i.offsetHeight])"
    )
    assert {fit for fit, _, _ in found} == {"cover"}
    assert [[width, height] for _, width, height in found[:4]] == [[24, 24], [40, 40], [100, 100], [320, 180]]
    assert [height for _, _, height in found[4:]] == [400 if found[4][1] * 9 / 16 > 400 else found[4][2], 200]


def test_a_row_far_down_that_is_gone_to_is_in_sight(show: Show) -> None:
    """It is not where rows are laid out only when they come near (`content-visibility`), however fast that is."""
    rows = [
        row("root", "List", children={"path": "/many", "componentId": "item"}),
        row("item", "Row", children=["name", "go"]),
        text("name", path("name")),
        *button("go", "Choose"),
    ]
    page = show(surface(rows, many=[{"name": f"Item {n}"} for n in range(200)]), size=PHONE)

    buttons = page.get_by_role("button", name="Choose")
    expect(buttons).to_have_count(200)
    for number in (199, 100, 45):
        buttons.nth(number).focus()
        page.wait_for_timeout(100)
        expect(buttons.nth(number)).to_be_in_viewport(ratio=1)


# -- colours ----------------------------------------------------------------------------------------------------------

MEASURE = """
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const known = new Map();
  function rgba(colour) {
    if (!known.has(colour)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      known.set(colour, [...context.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(colour);
  }
  function ground(el) {
    const layers = [];
    for (let at = el; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3]) layers.push(colour);
      if (colour[3] === 255) break;
    }
    return layers.reduceRight((under, [r, g, b, a]) =>
      [r, g, b].map((channel, i) => channel * a / 255 + under[i] * (1 - a / 255)), [255, 255, 255]);
  }
  const linear = c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r / 255) + .7152 * linear(g / 255) + .0722 * linear(b / 255);
  function contrast(a, b) {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + .05) / (low + .05);
  }
"""
PALE_WORDS = (
    "() => {"
    + MEASURE
    + """
  const found = [];
  for (const body of document.querySelectorAll('.b-surface__body')) {
    const words = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    for (let node = words.nextNode(); node; node = words.nextNode()) {
      const el = node.parentElement;
      if (!node.data.trim() || !el.offsetParent) continue;
      const ratio = contrast(rgba(getComputedStyle(el).color), ground(el));
      const theme = el.closest('.a2-surface').dataset.themePrimary;
      if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${theme} ${node.data.slice(0, 20)}`);
    }
  }
  return found;
}"""
)
PALE_MARKS = (
    "() => {"
    + MEASURE
    + """
  const found = [];
  const check = (el, what, colour) => {
    const ratio = contrast(rgba(colour), ground(el.closest('.b-surface__body')));
    if (ratio < 3) found.push(`${ratio.toFixed(2)} ${el.closest('.a2-surface').dataset.themePrimary} ${what}`);
  };
  for (const el of document.querySelectorAll('.a2-input, .a2-chip > span'))
    check(el, `${el.className || 'chip'}`, getComputedStyle(el).borderTopColor);
  for (const el of document.querySelectorAll('.a2-tab[aria-selected=true]'))
    check(el, 'tab', getComputedStyle(el, '::after').backgroundColor);
  for (const el of document.querySelectorAll('input[type=range], input[type=checkbox], input[type=radio]'))
    if (getComputedStyle(el).opacity !== '0') check(el, el.type, getComputedStyle(el).accentColor);
  for (const el of document.querySelectorAll('.a2-btn--primary:not(:disabled)'))
    check(el, 'primary', getComputedStyle(el).borderTopColor);
  return found;
}"""
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_words_and_marks_can_be_seen(show: Show, scheme: str) -> None:
    coloured = [surface(rows, colour=colour) for colour in COLOURS for rows in (pieces(), form()[:9])]
    # Reduced motion: nothing is measured on its way from one colour to the next.
    page = show(surface(form()), surface(pieces()), *coloured, color_scheme=scheme, reduced_motion="reduce")

    assert page.evaluate(PALE_WORDS) == []
    assert page.evaluate(PALE_MARKS) == []


def test_nothing_moves_for_those_who_do_not_want_it(show: Show) -> None:
    rows = [row("root", "Column", children=["missing"])]

    assert show(surface(rows)).evaluate("document.getAnimations().length") > 0
    assert show(surface(rows), reduced_motion="reduce").evaluate("document.getAnimations().length") == 0


def test_what_has_the_focus_shows_it(show: Show) -> None:
    page = show(surface(form()), surface(pieces()))
    stops = 0
    while True:
        page.keyboard.press("Tab")
        shown = page.evaluate("""() => {
          const el = document.activeElement;
          if (el === document.body) return null;
          const ring = getComputedStyle(el.closest('.a2-chip') ? el.nextElementSibling : el);
          return [el.outerHTML.slice(0, 80), ring.outlineStyle, parseFloat(ring.outlineWidth)];
        }""")
        if shown is None:
            break
        stops += 1
        assert shown[1] != "none", shown
        assert shown[2] >= 1, shown
    assert stops > 30


# -- right to left ----------------------------------------------------------------------------------------------------

BOXES = """() => [...document.querySelectorAll(
    '.a2-card, .a2-btn, .a2-icon, .a2-noimg, .a2-input, .a2-chip, .a2-check > input, .a2-tab, .a2-slider output')]
  .map(el => [el.className.baseVal ?? el.className, el.getBoundingClientRect()])
  .filter(([, box]) => box.width)
  .map(([name, box]) => [name, Math.round(box.left), Math.round(box.right), Math.round(box.top)])"""


def test_right_to_left_is_the_mirror_image(show: Show) -> None:
    all_of_it = [surface(rows) for rows in (form(), pieces(), crowded())]
    pages = show(*all_of_it), show(*all_of_it, direction="rtl")

    for width, height in (DESK, PHONE):
        for page in pages:
            page.set_viewport_size({"width": width, "height": height})
        straight, mirrored = (page.evaluate(BOXES) for page in pages)
        assert len(straight) > 60
        for (name, left, right, top), (_, *found) in zip(straight, mirrored, strict=True):
            wanted = [width - right, width - left, top]
            assert all(abs(a - b) <= 2 for a, b in zip(wanted, found, strict=True)), (name, wanted, found)


def test_arrows_point_where_reading_goes(show: Show) -> None:
    rows = [
        row("root", "Row", children=["on", "play"]),
        row("on", "Icon", name="arrowForward"),
        row("play", "Icon", name="fastForward"),
    ]
    tips = """() => [...document.querySelectorAll('.a2-icon')].map(icon => {
      const path = icon.querySelector('path'), box = icon.getBoundingClientRect();
      const tip = path.getPointAtLength(path.getTotalLength()).matrixTransform(path.getScreenCTM());
      return tip.x > box.left + box.width / 2;
    })"""

    assert show(surface(rows)).evaluate(tips)[0] is True
    assert show(surface(rows), direction="rtl").evaluate(tips)[0] is False
    play = show(surface(rows), direction="rtl").locator(".a2-icon").nth(1)
    assert play.locator(".b-icon--flip").count() == 0


def test_directions_do_not_leak(show: Show) -> None:
    """Each text goes its own way, and nobody's control characters turn what stands around them."""
    rows = [
        row("root", "Column", children=["arabic", "english", "nasty", "pick", "field"]),
        text("arabic", "السعر 12 euros"),
        text("english", "Price: שקל 12"),
        text("nasty", f"name {OVERRIDE}exe.jpg{OVERRIDE} (end)"),
        row(
            "pick",
            "ChoicePicker",
            label=f"Class {OVERRIDE}",
            value=[],
            options=[{"label": f"a{OVERRIDE}b", "value": "a"}, {"label": "درجة (A)", "value": "b"}],
        ),
        row("field", "TextField", label="After", value=path("/t")),
    ]
    page = show(surface(rows), locale="en-GB")
    page.get_by_label("After").fill(f"x{OVERRIDE}yz")

    order = page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(
        '.a2-t, .a2-label, .a2-check > span')].map(el => {
      const node = el.firstChild, range = document.createRange();
      const at = i => {
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        return range.getBoundingClientRect().left;
      };
      return [node.data, at(0) < at(node.data.length - 1)];
    }))""")
    assert order == {
        "السعر 12 euros": False,
        "Price: שקל 12": True,
        "name exe.jpg (end)": True,
        "Class ": True,
        "ab": True,
        "درجة (A)": False,
        "After": True,
    }


# -- for those who do not see it --------------------------------------------------------------------------------------


def test_names_roles_and_states(show: Show) -> None:
    rows = [
        row("root", "Column", children=["f", "c", "one", "many", "s", "b", "i", "tabs", "m"]),
        row("f", "TextField", label="Name", value=path("/none"), checks=failing("Who?")),
        row("c", "CheckBox", label="I agree", value=path("/b")),
        row(
            "one", "ChoicePicker", label="Class", options=OPTIONS[:1], value=path("/v"), displayStyle="chips"
        ),
        row(
            "many",
            "ChoicePicker",
            label="Extras",
            options=OPTIONS[:1],
            value=[],
            variant="multipleSelection",
            checks=failing("One."),
        ),
        row("s", "Slider", max=10, value=path("/n")),
        *button("b", "Save", "primary", checks=failing("First the name.")),
        row("i", "Button", child="ii", action=GO),
        row("ii", "Icon", name="delete"),
        row("tabs", "Tabs", tabs=[{"title": "Chart", "child": "t1"}, {"title": "Fares", "child": "t2"}]),
        text("t1", "First"),
        text("t2", "Second"),
        row("m", "Modal", trigger="mt", content="t1"),
        text("mt", "Details"),
    ]
    page = show(surface(rows))

    expect(page.locator(".a2-surface")).to_match_aria_snapshot("""
      - textbox "Name" [invalid]
      - paragraph: Who?
      - checkbox "I agree" [checked]
      - radiogroup "Class":
        - radio "Economy" [checked]
      - group "Extras":
        - checkbox "Economy" [invalid]
        - paragraph: One.
      - slider "Value": "5"
      - button "Save" [disabled]
      - button "delete"
      - tablist:
        - tab "Chart" [selected]
        - tab "Fares"
      - tabpanel "Chart": First
      - button "Details"
    """)
    expect(page.get_by_label("Name")).to_have_accessible_description("Who?")

    page.evaluate("document.querySelector('dialog').showModal()")
    expect(page.get_by_role("dialog", name="Details")).to_be_visible()
    expect(page.get_by_role("button", name="Close")).to_be_focused()
