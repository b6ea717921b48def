"""An interface while it is written, in a real browser: a picture that grows, that nobody can use, and that its row
replaces or its withdrawal takes away (D65)."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from envelopes.transports.panel.drawings import Drawings
from tests.browser.stage import Stage
from tests.browser.test_shell import show as show  # noqa: PLC0414 - a fixture
from tests.envelopes.transports.panel.streaming import frame_of
from tests.envelopes.transports.panel.talk import Talk
from tests.envelopes.transports.panel.test_provisional import LIVE, ROWS, body, delta, told

PICTURE = f"#v{LIVE}"


def written(stage: Stage, drawings: Drawings, talk: Talk) -> list[str]:
    """Send it piece by piece; what was to be read after each."""
    seen, offset = [], 0
    for line in told(*ROWS).splitlines(keepends=True):
        stage.push(frame_of(drawings, delta(line, offset)) | {"into": talk.thread.container(1)})
        stage.settle()
        offset += len(line)
        seen.append(stage.page.locator(PICTURE).inner_text())
    return seen


def begun(show: Callable[..., Stage]) -> tuple[Talk, Stage]:
    talk = Talk()
    talk.me("Flights?")
    talk.turn(1)
    return talk, show(talk)


def test_it_grows_cannot_be_used_and_its_row_takes_its_place(show: Callable[..., Stage]) -> None:
    talk, stage = begun(show)
    page = stage.page
    seen = written(stage, Drawings("en"), talk)
    assert "Two flights <b>" in seen[2] and "Book" not in seen[2] and "Book" in seen[-1]
    picture = page.locator(PICTURE)
    assert picture.evaluate("one => one.inert")
    page.locator(f"{PICTURE} button").click(force=True)
    page.keyboard.press("Tab")
    assert page.evaluate(f"!document.querySelector('{PICTURE}').contains(document.activeElement)")
    assert [one for one in stage.fresh() if one["type"] == "action"] == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))

    created = {"version": "1.0", "createSurface": body(*ROWS)}
    stage.row(talk.part("a2ui-surface", data=created, live=LIVE))

    expect(picture).to_have_count(0)
    expect(page.locator(".b-surface")).to_have_count(1)
    expect(page.get_by_role("button", name="Book")).to_be_enabled()
    page.get_by_role("button", name="Book").click()
    stage.page.wait_for_function("stage.sent.some(one => one.type === 'action')")


def test_one_that_is_refused_is_taken_away(show: Callable[..., Stage]) -> None:
    talk, stage = begun(show)
    written(stage, Drawings("en"), talk)
    expect(stage.page.locator(PICTURE)).to_be_visible()

    stage.row(talk.row("withdrawn", {"live": [LIVE]}, turn=1))

    expect(stage.page.locator(PICTURE)).to_have_count(0)
    expect(stage.page.locator(".b-surface")).to_have_count(0)
