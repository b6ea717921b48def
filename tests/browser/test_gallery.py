"""The gallery in a real browser: typing, clicking, stepping, running; the policy holds and the console stays empty."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.a2ui.programs import components, create, row
from tests.browser.conftest import Desk
from tests.liveserver import Server, running


@pytest.fixture(scope="module")
def site(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all: the gallery keeps nothing."""
    data = tmp_path_factory.mktemp("gallery") / "data"
    shutil.copytree(demo_data, data)
    with running(data) as server:
        yield server
    assert "Traceback" not in server.log.read_text(errors="replace")


@pytest.fixture
def open_sample(desk: Desk, site: Server) -> Callable[[str], Page]:
    """The page of a sample; whatever the policy or a script complains about fails the test."""

    def opened(query: str) -> Page:
        page = desk.page()
        page.goto(f"{site.url}/gallery/?sample={query}")
        return page

    return opened


def inspect(page: Page, tab: str) -> None:
    page.get_by_role("tab", name=tab).click()


def test_typing_shows_on_the_surface_in_the_data_and_keeps_the_focus(
    open_sample: Callable[[str], Page],
) -> None:
    page = open_sample("02-form-with-checks")
    inspect(page, "Data")

    page.get_by_label("Name", exact=True).press_sequentially("Ines", delay=30)

    expect(page.locator(".g-line--new")).to_have_count(1)
    expect(page.locator(".g-line--new")).to_have_text(re.compile('"name": "Ines"'))
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    expect(page.locator("#thread").get_by_text("We need something to call you.")).to_have_count(0)


def test_a_click_waits_for_what_was_typed_and_is_told_to_the_agent(
    open_sample: Callable[[str], Page],
) -> None:
    page = open_sample("06-order-with-actions")
    inspect(page, "To the agent")

    page.get_by_label("For the barista").fill("No sugar")
    page.locator(".a2-chip", has_text="Large").click()
    page.get_by_role("button", name="Order", exact=True).click()

    told = page.locator("#agent .g-json")
    expect(told.first).to_contain_text('"size": ["l"]')
    expect(told.nth(1)).to_contain_text("No sugar")


def test_steps_go_back_and_forth_and_keep_what_was_done_and_where_one_was(
    open_sample: Callable[[str], Page],
) -> None:
    page = open_sample("03-list-with-keys&step=3")
    bag = page.get_by_role("checkbox", name="Buy a smaller bag")
    bag.check()

    back, on = page.get_by_label("One step back"), page.get_by_label("One step forward")
    back.press("Enter")
    expect(page.locator("[aria-current=step]")).to_contain_text("updateComponents")
    expect(back).to_be_focused()
    expect(bag).to_have_count(0)

    on.click()
    expect(bag).to_be_checked()
    page.locator(".g-step", has_text="/tasks/3").click()
    expect(page.get_by_role("checkbox", name="Pack the medicine")).to_be_visible()
    expect(bag).to_be_checked()


def test_tabs_dialogs_and_more_are_as_in_the_chat(open_sample: Callable[[str], Page]) -> None:
    page = open_sample("04-tabs-and-dialog")
    page.get_by_role("tab", name="Getting there").click()
    page.get_by_role("button", name="House rules").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_label("One step back").click()
    expect(page.get_by_role("tab", name="Getting there")).to_have_attribute("aria-selected", "true")

    page = open_sample("09-long-list")
    page.locator("[data-more]").click()
    expect(page.get_by_text("2,000 of 3,000 shown", exact=True)).to_be_visible()


def test_a_program_is_pasted_repaired_and_run(open_sample: Callable[[str], Page]) -> None:
    page = open_sample("01-product-card")
    inspect(page, "Program")
    draft = page.get_by_label("Messages: a JSON list, or one on each line")

    draft.fill('[\n  {"version": "v0.9",]\n]')
    draft.press("Control+Enter")
    expect(page.get_by_text("This was not run")).to_be_visible()
    expect(page.get_by_role("heading", name="Harbour lantern")).to_be_visible()
    page.get_by_role("button", name="Show line 2").click()
    assert page.evaluate("getSelection().toString()") == '  {"version": "v0.9",]'

    draft.fill(json.dumps([create("mine"), components(row("root", "Text", text="All mine"), surface="mine")]))
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".a2-t", has_text="All mine")).to_be_visible()
    expect(page.get_by_text("This was not run")).to_have_count(0)


def test_switches_change_the_surface_at_once(open_sample: Callable[[str], Page]) -> None:
    page = open_sample("12-formats&step=3")
    page.get_by_label("Language").select_option("de-DE")
    expect(page.get_by_text("1.234.567,89 €").first).to_be_visible()
    page.get_by_label("Language").select_option("ar-EG")
    expect(page.locator(".g-canvas")).to_have_attribute("dir", "rtl")

    page.get_by_role("radio", name="390").check(force=True)
    assert page.locator(".g-canvas").bounding_box()["width"] == 390  # type: ignore[index]
    light = page.evaluate("getComputedStyle(document.querySelector('.g-canvas')).backgroundColor")
    page.get_by_role("radio", name="Dark").check(force=True)
    assert page.evaluate("getComputedStyle(document.querySelector('.g-canvas')).backgroundColor") != light


def test_on_a_phone_nothing_is_wider_than_the_page(open_desk: Callable[..., Desk], site: Server) -> None:
    page = open_desk(viewport={"width": 390, "height": 844}, has_touch=True).page()
    for sample in ("01-product-card", "05-dashboard", "10-faults&step=2", "11-every-component"):
        page.goto(f"{site.url}/gallery/?sample={sample}")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.locator(".b-top").get_by_label("Samples").click()
    page.get_by_role("link", name="Right to left").click()
    expect(page.get_by_role("heading", name="Right to left")).to_be_visible()


def test_hostile_texts_run_nothing_and_ask_for_nothing(
    open_sample: Callable[[str], Page], site: Server
) -> None:
    page = open_sample("08-hostile-texts")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))

    page.get_by_role("button", name="Open javascript:alert(6)").click()
    page.get_by_label('"><script>alert(2)</script>').fill("<img src=x onerror=alert(10)>")
    for tab in ("Data", "To the agent", "Program", "Step"):
        inspect(page, tab)
    page.reload()

    assert [url for url in asked if not url.startswith(site.url)] == []
