"""Files and sources on the real page, with a real server: what is seen, downloaded and reached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk
from tests.browser.test_main_job import say, settled
from tests.liveserver import Server

# What may be pressed of a mark: it is larger than what is seen of it.
TARGET = """each => {
  const around = getComputedStyle(each, '::after'), box = each.getBoundingClientRect();
  return [box.width - 2 * parseFloat(around.left), box.height - 2 * parseFloat(around.top)];
}"""


def _asked(server: Server, page: Page) -> None:
    page.goto(f"{server.url}/")
    say(page, "A brochure, please")
    settled(page)


def test_a_file_in_pieces_is_one_card_and_a_picture_is_shown_and_both_are_downloaded(
    planner: Server, page: Page
) -> None:
    _asked(planner, page)
    for _ in range(2):
        expect(page.locator(".b-file")).to_have_count(1)
        expect(page.locator(".b-file")).to_contain_text("brochure.csv")
        expect(page.locator(".b-file")).to_contain_text("CSV, 27 bytes")
        picture = page.get_by_role("img", name="Two islands in the sea")
        expect(picture).to_be_visible()
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("async image => { await image.decode(); return image.naturalWidth }") == 640
        expect(page.locator("#thread")).to_contain_text("Here is your brochure, with a map.")
        expect(page.locator(".b-prose")).to_have_count(1)
        page.reload()
    with page.expect_download() as started:
        page.get_by_role("link", name="Download brochure.csv").click()
    assert started.value.suggested_filename == "brochure.csv"
    assert Path(started.value.path()).read_bytes() == b"name,beds\nCorfu,12\nPaxos,4\n"


def test_an_opened_picture_is_a_download_and_no_page(
    planner: Server, open_desk: Callable[..., Desk], page: Page
) -> None:
    _asked(planner, page)
    address = page.get_by_role("img", name="Two islands in the sea").get_attribute("src") or ""
    with page.expect_download() as started:
        page.evaluate("address => { location.href = address }", address)
    assert started.value.suggested_filename == "map.png"
    assert open_desk().context.request.get(f"{planner.url}{address}").status == 404


@pytest.mark.parametrize("way", ["keyboard", "touch"])
def test_the_mark_at_a_value_opens_its_source(
    planner: Server, open_desk: Callable[..., Desk], way: str
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    page = open_desk(**phone if way == "touch" else {}).page()
    _asked(planner, page)
    marks = page.locator(".b-surface .b-cite")
    expect(marks).to_have_text(["1", "1"])
    expect(page.locator(".b-cites .b-cite")).to_have_text(["1"])
    pop = page.locator(".b-cites .b-pop")
    expect(pop).to_be_hidden()
    mark = marks.nth(1)
    expect(mark).to_have_accessible_name("Source 1: Island guide")
    assert "187" in (mark.locator("xpath=..").text_content() or "")
    if way == "touch":
        mark.tap()
    else:
        mark.focus()
        page.keyboard.press("Enter")
    expect(pop).to_be_visible()
    expect(pop).to_contain_text("187 a night")
    # By the mark that was pressed, and within the window.
    box, at = pop.bounding_box(), mark.bounding_box()
    assert box is not None and at is not None
    assert box["x"] >= 0 and box["x"] + box["width"] <= (page.viewport_size or {})["width"]
    assert min(abs(box["y"] - at["y"] - at["height"]), abs(box["y"] + box["height"] - at["y"])) < 40
    page.keyboard.press("Escape")
    expect(pop).to_be_hidden()
    if way == "keyboard":
        expect(mark).to_be_focused()
    assert min(mark.evaluate(TARGET)) >= 24
