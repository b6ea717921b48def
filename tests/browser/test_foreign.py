"""A front end that is not ours shows what the panel shows, and what is done on either is done on both (live channel).

The page is the official Lit renderer of A2UI v0.9; its packages are pinned in tests/browser/foreign. 200 steps are in
tests/long/test_foreign_steps.py.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import CUT_OFF, Desk
from tests.browser.foreign.app.rows import COMPONENTS
from tests.browser.foreign.building import build
from tests.browser.foreign.pair import FOREIGN, Pair, address
from tests.browser.test_main_job import say, settled
from tests.liveserver import Server, running

STEPS = 25


@pytest.fixture
def pair(make_server: Callable[..., Server], desk: Desk) -> Pair:
    build()
    # Of the server that is killed, and of the renderer, which nobody has told how to draw Markdown.
    desk.allow(f"WebSocket connection|{CUT_OFF.pattern}|MarkdownDirective")
    return Pair(desk, make_server(environ=FOREIGN))


def test_both_show_the_same_through_steps_a_reconnect_and_a_restart(pair: Pair) -> None:
    walk(pair, random.Random(11), STEPS)


def walk(pair: Pair, chance: random.Random, steps: int) -> None:
    """So many steps; the foreign page's socket is cut after a third of them, and the server killed after two."""
    pair.same()
    for number in range(steps):
        if number == steps // 3:
            pair.foreign.evaluate("cut()")
            pair.live()
        if number == 2 * steps // 3:
            pair.server.restart()
            pair.live()
        pair.step(chance)
    assert {step.partition(":")[0] for step in pair.done} == {"panel", "foreign"}
    # By the agent's ids and the paths of its data: nothing of how our panel draws it.
    known = {"owner", "surfaceId", "componentId", "itemPath"}
    assert pair.targets and all(target.keys() <= known for target in pair.targets)
    assert {target["componentId"] for target in pair.targets} <= {row["id"] for row in COMPONENTS}
    assert all(target.get("itemPath", "/rows/0").startswith("/rows/") for target in pair.targets)


@pytest.fixture(scope="module")
def keeper(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for what only adds to it."""
    data = tmp_path_factory.mktemp("keeper") / "data"
    shutil.copytree(demo_data, data)
    with running(data, environ=FOREIGN) as server:
        yield server
    assert "Traceback" not in server.log.read_text(errors="replace")


def reported(desk: Desk, server: Server) -> Page:
    """A conversation with a table, a chart and a form of our own catalog."""
    panel = desk.page()
    panel.goto(f"{server.url}/")
    say(panel, "Show me the report")
    settled(panel)
    return panel


def test_what_is_of_our_own_catalog_is_drawn_and_used_by_who_knows_the_basic_one(
    keeper: Server, desk: Desk
) -> None:
    build()
    desk.allow("MarkdownDirective")
    panel, foreign = reported(desk, keeper), desk.page()
    foreign.goto(address(panel, keeper))
    surface = foreign.locator("a2ui-surface")
    for words in ("Fares", "BA 1", "\u20ac75.00", "Weather", "Sunday", "31", "Book"):
        expect(surface).to_contain_text(words)
    name = surface.locator("input:not([type=radio])").first
    name.fill("Grace")
    name.blur()
    surface.get_by_text("Business").click()
    form = panel.locator(".a2-formbox")
    expect(form.get_by_label("Name")).to_have_value("Grace")
    expect(form.get_by_label("Class")).to_have_value("Business")
    surface.get_by_role("button", name="Book").click()
    expect(panel.locator("#thread")).to_contain_text("Grace flies Business.")
    # And what the agent goes on to say of it.
    expect(surface).to_contain_text("\u20ac60.00")
    assert foreign.locator("body").get_attribute("data-problem") is None


def test_two_tabs_and_a_reload_at_one_form_lose_nothing(keeper: Server, desk: Desk) -> None:
    one = reported(desk, keeper)
    other = desk.page()
    other.goto(one.url)
    name, notes = (page.locator(".a2-formbox").get_by_label("Name") for page in (one, other))
    name.fill("Grace")
    expect(notes).to_have_value("Grace")
    # Both are at one field: each keeps what it types until it leaves, and the last word counts for both.
    for page, field, text in ((one, name, "Grace H"), (other, notes, "Ada"), (one, name, "Grace Hopper")):
        panel = page.locator("#panel")
        before = panel.get_attribute("data-seq") or ""
        field.fill(text)
        expect(panel).not_to_have_attribute("data-seq", before)
    expect(name).to_have_value("Grace Hopper")
    other.get_by_label("Class").focus()
    other.get_by_label("Class").select_option("Business")
    expect(one.get_by_label("Class")).to_have_value("Business")
    expect(notes).to_have_value("Grace Hopper")
    # Gone in the middle of a word, by way of the page's own store.
    notes.press("End")
    notes.press_sequentially(" II")
    other.reload()
    expect(notes).to_have_value("Grace Hopper II")
    # Who is at a field keeps what stands there until they leave.
    name.blur()
    expect(name).to_have_value("Grace Hopper II")
    other.locator(".a2-formbox").get_by_role("button", name="Book").click()
    for page in (one, other):
        expect(page.locator("#thread")).to_contain_text("Grace Hopper II flies Business.")
