"""Our own components in a real browser: sorting, a form that says what it needs, charts that move, small screens."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from a2ui import BEACH_CATALOG, Limits
from tests.browser.conftest import Desk
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.envelopes.transports.panel.talk import Talk, surface, update
from tests.liveserver import Server, running

SAMPLE = "/gallery/?sample=17-own-catalog&step=1"


@pytest.fixture(scope="module")
def own_site(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("own") / "data"
    shutil.copytree(demo_data, data)
    with running(data) as server:
        yield server


@pytest.fixture
def own_page(desk: Desk, own_site: Server) -> Page:
    page = desk.page()
    page.goto(own_site.url + SAMPLE)
    return page


def names(page: Page) -> list[str]:
    return page.locator("tbody[id$=-xr] th").all_inner_texts()


VALUES = "cells => cells.map(cell => cell.dataset.v)"
FORM = [
    {"id": "name", "label": "Name"},
    {"id": "notes", "label": "Notes", "type": "longText"},
    {"id": "fine", "label": "Fine", "type": "checkbox"},
]


@pytest.fixture
def open_many(desk: Desk) -> Iterator[Stage]:
    """A chat with a form, a field outside of it, and a table of 250 rows, which shows some."""
    columns = [
        {"label": "Flight", "value": {"path": "name"}, "rowHeader": True, "sortable": True},
        {
            "label": "Price",
            "value": {"path": "price"},
            "type": "currency",
            "currency": "EUR",
            "sortable": True,
        },
    ]
    rows = [
        {"id": "root", "component": "Column", "children": ["form", "out", "table"]},
        {"id": "out", "component": "TextField", "label": "Outside", "value": {"path": "/out"}},
        {
            "id": "form", "component": "Form", "fields": FORM, "value": {"path": "/who"},
            "action": {"event": {"name": "book"}},
        },
        {"id": "table", "component": "Table", "columns": columns, "rows": {"path": "/flights"}},
    ]  # fmt: skip
    flights = [{"id": at, "name": f"F {at}", "price": at * 7 % 250} for at in range(250)]
    data = surface("s1", *rows, model={"flights": flights, "who": {}, "out": ""})
    data["messages"][0]["createSurface"]["catalogId"] = BEACH_CATALOG.id
    talk = Talk(limits=Limits(list_items=100))
    talk.me("Hi")
    talk.turn(1)
    talk.part("a2ui-surface", data=data)
    desk.context.add_init_script(FAKE_SOCKET)
    with serving(lambda: render(talk)) as url:
        stage = Stage(desk.page(), url, talk)
        stage.open()
        yield stage


def test_a_table_is_sorted_by_its_headings_and_stays_so_while_it_changes(own_page: Page) -> None:
    price = own_page.get_by_role("columnheader", name="Price")
    price.get_by_role("button").focus()
    own_page.keyboard.press("Enter")

    expect(price).to_have_attribute("aria-sort", "ascending")
    assert names(own_page) == ["SL 9", "EJ 3301", "NV 12", "BA 487", "ME 77"]
    expect(price.get_by_role("button")).to_be_focused()
    own_page.keyboard.press("Enter")
    expect(price).to_have_attribute("aria-sort", "descending")
    assert names(own_page) == ["ME 77", "BA 487", "NV 12", "EJ 3301", "SL 9"]

    # What the server sends finds its place.
    own_page.evaluate(
        """() => {
          const cell = [...document.querySelectorAll('tbody[id$=-xr] td')].find(one => one.dataset.v === '98');
          cell.outerHTML = cell.outerHTML.replace('data-v="98"', 'data-v="500"');
        }"""
    )
    expect(own_page.locator("tbody[id$=-xr] th").first).to_have_text("NV 12")
    own_page.get_by_role("columnheader", name="Flight").get_by_role("button").click()
    expect(price).to_have_attribute("aria-sort", "none")
    assert names(own_page) == ["BA 487", "EJ 3301", "ME 77", "NV 12", "SL 9"]


def test_sorting_by_the_keyboard_brings_all_rows_behind_show_more(open_many: Stage) -> None:
    page, talk = open_many.page, open_many.talk
    shown = page.locator("tbody[id$=-xr] tr:not(.a2-table__more)")
    expect(shown).to_have_count(100)
    price = page.get_by_role("columnheader", name="Price")
    page.get_by_role("columnheader", name="Flight").get_by_role("button").focus()
    page.keyboard.press("Tab")
    expect(price.get_by_role("button")).to_be_focused()
    page.keyboard.press("Space")
    ends = time.monotonic() + 20
    while shown.count() < 250 and time.monotonic() < ends:
        open_many.sync(wait=20)
    expect(shown).to_have_count(250)

    found = [float(one) for one in page.locator("tbody[id$=-xr] [data-v]").evaluate_all(VALUES)]
    assert found == sorted(found)
    assert len(found) == 250
    expect(price.get_by_role("button")).to_be_focused()

    # Somebody else's row finds its place while this one types.
    page.get_by_label("Name").press_sequentially("In")
    open_many.row(talk.part("a2ui-surface", data={"messages": [update("s1", "/flights/249/price", 5.5)]}))
    expect(page.locator("tbody[id$=-xr] [data-v]").nth(6)).to_have_text("€5.50")
    page.get_by_label("Name").press_sequentially("es")
    expect(page.get_by_label("Name")).to_have_value("Ines")
    expect(price).to_have_attribute("aria-sort", "ascending")


def test_a_table_that_fits_does_not_go_on_beside_where_its_last_heading_sorts(open_many: Stage) -> None:
    over = "one => one.scrollWidth - one.clientWidth"
    assert open_many.page.locator(".a2-rows .a2-tablewrap").evaluate(over) == 0


def test_a_table_that_goes_on_below_fades_there_up_to_its_last_row(open_many: Stage) -> None:
    page = open_many.page
    fades = """() => {
      const shown = getComputedStyle(document.querySelector('.a2-rows .a2-tablewrap'));
      return parseFloat(shown.getPropertyValue('--a2-below')) > 1;
    }"""
    assert page.evaluate(fades)
    page.evaluate("document.querySelector('.a2-rows .a2-tablewrap').scrollTop = 1e6")
    # Not an expression: those are evaluated anew, which the policy of the page refuses.
    page.wait_for_function(f"() => !({fades})()")


def test_enter_in_a_line_of_text_sends_the_form(open_many: Stage) -> None:
    page = open_many.page
    name = page.get_by_label("Name")
    name.fill("Ines")
    name.press("Enter")
    (edited, clicked) = [one for one in open_many.fresh() if one["type"] in ("edit", "action")]
    assert (edited["type"], edited["value"], clicked["type"]) == ("edit", "Ines", "action")
    assert clicked["target"].endswith("-xs")

    # Neither of these is an end of anything.
    page.get_by_label("Notes").fill("one")
    page.get_by_label("Notes").press("Enter")
    page.get_by_label("Fine").press("Enter")
    page.get_by_label("Outside").fill("x")
    page.get_by_label("Outside").press("Enter")
    # How many edits the first of them is depends on how fast it was typed.
    assert {one["type"] for one in open_many.sync()} == {"edit"}


def test_a_form_says_what_it_needs_and_sends_typed_values(own_page: Page) -> None:
    form = own_page.get_by_role("form", name="Who is travelling")
    expect(form.get_by_role("status")).to_have_text("Still needed: Name, E-mail, The conditions are fine")

    form.get_by_label("E-mail").fill("nobody")
    form.get_by_label("Name").fill("Ines")
    expect(form.get_by_text("This is not an e-mail address.")).to_be_visible()
    expect(form.get_by_label("E-mail")).to_have_attribute("aria-invalid", "true")
    form.get_by_label("E-mail").fill("ines@example.org")
    form.get_by_label("Bags").fill("2")
    form.get_by_label("Seat").select_option("Aisle")
    form.get_by_label("The conditions are fine").check()
    expect(form.get_by_role("status")).to_have_text("")
    own_page.get_by_role("tab", name="To the agent").click()
    form.get_by_role("button", name="Book").click()

    told = own_page.locator("#agent .g-json").first
    expect(told).to_contain_text('"bags": 2')
    expect(told).to_contain_text('"seat": "Aisle"')


def test_what_is_left_empty_is_missing_once_somebody_was_there(own_page: Page) -> None:
    form = own_page.get_by_role("form", name="Who is travelling")
    missing = form.locator(".a2-form__missing").first
    expect(missing).to_be_hidden()

    # What is typed is sent when the field is left at the latest. Until the server says so, the page does by itself.
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    own_page.route("**/gallery/act**", hold)
    form.get_by_label("Name").press_sequentially("x")
    form.get_by_label("Name").press("Backspace")
    form.get_by_label("E-mail").focus()
    expect(missing).to_be_visible()
    own_page.route("**/gallery/act**", lambda route: route.continue_())
    for route in held:
        route.continue_()
    expect(form.locator(".a2-errors").get_by_text("This is required.")).to_be_visible()
    expect(form.get_by_text("This is required.").filter(visible=True)).to_have_count(1)


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
def test_nothing_is_wider_than_the_page_and_a_chart_is_a_table_too(
    own_page: Page, size: tuple[int, int]
) -> None:
    own_page.set_viewport_size({"width": size[0], "height": size[1]})

    assert own_page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    chart = own_page.get_by_role("figure", name=re.compile("Lowest price"))
    expect(chart.get_by_role("img")).to_have_accessible_name(
        re.compile("Bar chart, 12 points from Sep to Aug")
    )
    chart.get_by_text("Show as a table").click()
    expect(chart.get_by_role("row", name="Jan €66 €60")).to_be_visible()


SIDES = """() => {
  const side = element => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const words = range.getClientRects()[0], box = document.querySelector('.a2-formbox').getBoundingClientRect();
    return words.left - box.left < box.right - words.right ? 'left' : 'right';
  };
  return [...document.querySelectorAll('.a2-formbox :is(.a2-h, .a2-label, .a2-hint)')].map(side);
}"""


def test_english_on_a_page_that_runs_from_right_to_left_keeps_its_points_and_forms_one_edge(
    desk: Desk, own_site: Server
) -> None:
    page = desk.page()
    page.goto(f"{own_site.url}{SAMPLE}&locale=ar-EG")
    expect(page.locator(".g-canvas")).to_have_attribute("dir", "rtl")

    # A full stop ends its sentence, and a list has its points where its words begin.
    ways = page.locator(".a2-md, .a2-md :is(p, li, blockquote)").evaluate_all(
        "all => [...new Set(all.map(one => getComputedStyle(one).direction))]"
    )
    assert ways == ["ltr"]
    sides = page.evaluate(SIDES)
    assert len(sides) > 6 and set(sides) == {"right"}
    # What is folded points down, here too: a mark that is mirrored turns the other way.
    turned = "one => getComputedStyle(one, '::after').rotate"
    assert page.locator(".a2-chart__data summary").first.evaluate(turned) == "-90deg"


def test_a_short_name_of_a_row_stays_on_one_line_on_a_phone(desk: Desk, own_site: Server) -> None:
    page = desk.page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(own_site.url + SAMPLE)

    heights = page.locator("tbody[id$=-xr] tr").evaluate_all(
        "rows => rows.map(row => Math.round(row.getBoundingClientRect().height))"
    )
    assert len(heights) == 5 and max(heights) - min(heights) <= 2
