"""Our own components in a real browser: sorting, a form that says what it needs, charts that move, small screens."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk
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

    form.get_by_label("Name").press_sequentially("x")
    form.get_by_label("Name").press("Backspace")
    form.get_by_label("E-mail").focus()
    expect(form.get_by_text("This is required.").first).to_be_visible()


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
