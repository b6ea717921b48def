"""Lists that are longer than the limit, in a real browser: page by page, by mouse and keyboard, focus stays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from a2ui import Limits
from tests.browser.conftest import Desk
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.envelopes.transports.panel.talk import Talk, surface, update

LONG = surface(
    "s1",
    {"id": "root", "component": "List", "children": {"componentId": "f", "path": "/l"}},
    {"id": "f", "component": "TextField", "label": "Note", "value": {"path": "n"}},
    model={"l": [{"id": number, "n": f"row {number}"} for number in range(8)]},
)


@pytest.fixture
def stage(desk: Desk) -> Iterator[Stage]:
    desk.context.add_init_script(FAKE_SOCKET)
    talk = Talk(limits=Limits(list_items=3))
    talk.me("Hi")
    talk.turn(1)
    talk.part("a2ui-surface", data=LONG)
    talk.settle()
    with serving(lambda: render(talk)) as url:
        stage = Stage(desk.page(), url, talk)
        stage.open()
        yield stage


def focused(stage: Stage) -> str:
    found: str = stage.page.evaluate("document.activeElement.id")
    return found


def test_page_by_page_with_the_keyboard(stage: Stage) -> None:
    fields = stage.page.get_by_label("Note")
    button = stage.page.locator("[data-more]")
    expect(stage.page.locator(".a2-more")).to_contain_text("3 of 8 shown")
    expect(fields).to_have_count(3)

    button.focus()
    stage.page.keyboard.press("Enter")
    (sent,) = stage.sync()
    assert {key: sent[key] for key in ("type", "target")} == {"type": "show", "target": "a1-0"}
    expect(fields).to_have_count(6)
    expect(button).to_have_text("Show 2 more")
    expect(button).not_to_have_attribute("aria-busy", "true")
    assert focused(stage) == "a1-0-xb"

    stage.page.keyboard.press("Enter")
    stage.sync()
    expect(fields).to_have_count(8)
    expect(stage.page.locator(".a2-more")).to_have_text("All 8 shown")
    assert focused(stage) == "a1-0-xm"
    assert stage.page.evaluate("document.querySelector('.a2-more').getAttribute('style')") is None


def test_one_click_asks_once(stage: Stage) -> None:
    stage.page.locator("[data-more]").dblclick()

    assert [message["type"] for message in stage.sync()] == ["show"]


def test_typed_text_and_focus_stay_when_somebody_else_asks(stage: Stage) -> None:
    first = stage.page.get_by_label("Note").first
    first.fill("mine")
    more = stage.talk.surfaces.more("a1-0")
    data = {"owner": "sally", "surfaceId": "s1", "target": more.target, "count": more.count}
    stage.row(stage.talk.row("show", data))

    expect(first).to_have_value("mine")
    expect(first).to_be_focused()
    expect(stage.page.get_by_label("Note")).to_have_count(6)


def test_a_refusal_is_said_and_the_button_works_again(stage: Stage) -> None:
    button = stage.page.locator("[data-more]")
    button.click()
    message = stage.wait_for("show")
    stage.push({"type": "error", "id": message["id"], "code": "not_found", "message": "There is no more."})
    stage.settle()

    expect(stage.page.locator("#toasts")).to_contain_text("There is no more.")
    expect(button).not_to_have_attribute("aria-busy", "true")


def test_what_was_asked_for_is_there_after_a_reload(stage: Stage) -> None:
    stage.page.locator("[data-more]").click()
    stage.sync()
    stage.row(stage.talk.part("a2ui-surface", data=update("s1", "/l/5/n", "changed"), turn=2))
    expect(stage.page.get_by_label("Note").nth(5)).to_have_value("changed")

    stage.talk.reloaded()
    stage.read = 0
    stage.open()

    expect(stage.page.get_by_label("Note")).to_have_count(6)
