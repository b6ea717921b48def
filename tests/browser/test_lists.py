"""A list changes by keys while a person is at one of its rows: everything of theirs stays with that row.

Focus, selection, text that is typed and not sent, the chosen tab, an open dialog, and how far list and page are
scrolled.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Desk
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.envelopes.transports.panel.talk import Talk, surface, update

MINE = 6
"""The key of the row that the person is at."""


def items(*keys: int, **changes: Any) -> list[dict[str, Any]]:
    """Rows with these keys; `changes` are of the person's row."""
    made = [{"id": key, "name": f"row {key}", "note": "", "inside": ""} for key in keys]
    for item in made:
        if item["id"] == MINE:
            item.update(changes)
    return made


COMPONENTS = [
    {"id": "root", "component": "Column", "children": ["title", "list"]},
    {"id": "title", "component": "Text", "text": "All of them"},
    {"id": "list", "component": "List", "children": {"componentId": "row", "path": "/l"}},
    {"id": "row", "component": "Column", "children": ["name", "note", "tabs", "modal"]},
    {"id": "name", "component": "Text", "text": {"path": "name"}},
    {"id": "note", "component": "TextField", "label": "Note", "value": {"path": "note"}},
    {
        "id": "tabs",
        "component": "Tabs",
        "tabs": [{"title": "First", "child": "one"}, {"title": "Second", "child": "two"}],
    },
    {"id": "one", "component": "Text", "text": "First panel"},
    {"id": "two", "component": "Text", "text": "Second panel"},
    {"id": "modal", "component": "Modal", "trigger": "more", "content": "about"},
    {"id": "more", "component": "Button", "child": "morelabel", "action": {"event": {"name": "more"}}},
    {"id": "morelabel", "component": "Text", "text": "More"},
    {"id": "about", "component": "Column", "children": ["aboutname", "inside"]},
    {"id": "aboutname", "component": "Text", "text": {"path": "name"}},
    {"id": "inside", "component": "TextField", "label": "Inside", "value": {"path": "inside"}},
]
KEYS = range(14)

CHANGES = {
    "one more before it": [update("s1", "/l", items(99, *KEYS))],
    "one less before it": [update("s1", "/l", items(*KEYS[1:]))],
    "it moves to the front": [update("s1", "/l", items(MINE, *(key for key in KEYS if key != MINE)))],
    "it moves to the end": [update("s1", "/l", items(*(key for key in KEYS if key != MINE), MINE))],
    "another moves past it": [update("s1", "/l", items(*KEYS[:2], *KEYS[3:], 2))],
    "all the other way round": [update("s1", "/l", items(*reversed(KEYS)))],
    "much at once": [update("s1", "/l", items(50, 13, 3, MINE, 5, 51, 9, name="renamed"))],
    "its own text": [update("s1", "/l/6/name", "renamed")],
    "its own field": [update("s1", "/l/6/note", "theirs")],
    "all of its data": [update("s1", "/l/6", items(MINE, name="renamed", note="theirs", inside="theirs")[0])],
    "the surface is described anew": [
        {
            "messages": [
                {
                    "version": "v0.9",
                    "updateComponents": {
                        "surfaceId": "s1",
                        "components": [
                            *COMPONENTS[1:],
                            {"id": "root", "component": "Column", "children": ["list", "title"]},
                        ],
                    },
                }
            ]
        }
    ],
}
MOVED = {"it moves to the front", "it moves to the end", "all the other way round", "much at once"}


@pytest.fixture
def stage(desk: Desk) -> Iterator[Stage]:
    desk.context.add_init_script(FAKE_SOCKET)
    talk = Talk()
    for number in range(12):
        talk.me(f"Line {number}\n\n\n\n")
    talk.turn(1)
    talk.part("a2ui-surface", data=surface("s1", *COMPONENTS, model={"l": items(*KEYS)}))
    talk.part("response", "And some words.\n\n" * 30)
    talk.settle()
    with serving(lambda: render(talk)) as url:
        stage = Stage(desk.page(), url, talk)
        stage.open()
        yield stage


def mine(stage: Stage) -> Locator:
    return stage.page.get_by_role("listitem").filter(has_text=f"row {MINE}")


def go_there(stage: Stage) -> str:
    """The person's row in the middle of its list, the list in the middle of the page; returns the row's DOM id."""
    row = mine(stage)
    stage.page.mouse.wheel(0, -1)  # not at the end any more: what comes is not followed
    row.evaluate("e => e.scrollIntoView({ block: 'center', behavior: 'instant' })")
    stage.page.wait_for_timeout(100)
    dom_id: str = row.evaluate("e => e.id")
    return dom_id


STATE = """id => {
  const row = document.getElementById(id), list = row.parentNode, active = document.activeElement;
  return {
    focus: active.id, value: active.value, from: active.selectionStart, to: active.selectionEnd,
    direction: active.selectionDirection, tab: row.querySelector('[role=tab][aria-selected=true]').textContent,
    panel: row.querySelector('[role=tabpanel]:not([hidden])').textContent,
    unsent: stage.sent.every(message => message.type !== 'edit'),
    modal: row.querySelector('dialog').matches(':modal'), others: document.querySelectorAll('dialog[open]').length,
    page: scrollY, top: row.getBoundingClientRect().top - list.getBoundingClientRect().top,
  };
}"""


def during(
    stage: Stage, dom_id: str, messages: list[dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the person has before the change and after it."""
    ops: list[Any] = []
    for message in messages:
        ops += stage.talk.part("a2ui-surface", data=message, turn=2)
    frame = stage.frame(ops)
    before, after = stage.page.evaluate(
        f"""async ([id, frame, seq]) => {{
          const state = {STATE};
          // Typing, and the frame in the same breath: the edit is not sent yet.
          document.execCommand('insertText', false, 'half');
          document.activeElement.setSelectionRange(1, 3, 'backward');
          const before = state(id);
          push(frame);
          while (panel.dataset.seq !== seq) await new Promise(done => setTimeout(done));
          // Scroll anchoring is part of the next frame that is painted.
          await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
          return [before, state(id)];
        }}""",
        [dom_id, json.dumps(frame), str(frame["seq"])],
    )
    return before, after


def expect_the_same(before: dict[str, Any], after: dict[str, Any], *, moved: bool) -> None:
    assert before["unsent"]
    for name in ("focus", "value", "from", "to", "direction", "tab", "panel", "modal", "others"):
        assert after[name] == before[name], (name, before, after)
    assert abs(after["page"] - before["page"]) <= 1, (before, after)
    if not moved:
        # What is read stays where it is in its list, whatever comes and goes above it.
        assert abs(after["top"] - before["top"]) <= 1, (before, after)


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_person_has_at_a_row_stays_with_it(stage: Stage, change: str) -> None:
    dom_id = go_there(stage)
    mine(stage).get_by_role("tab", name="Second").click()
    mine(stage).get_by_label("Note").focus()

    before, after = during(stage, dom_id, CHANGES[change])

    assert (before["value"], before["from"], before["to"], before["tab"]) == ("half", 1, 3, "Second")
    expect_the_same(before, after, moved=change in MOVED)


@pytest.mark.parametrize("change", CHANGES)
def test_a_dialog_that_is_open_at_a_row_stays_open(stage: Stage, change: str) -> None:
    dom_id = go_there(stage)
    mine(stage).get_by_role("button", name="More").click()
    dialog = stage.page.get_by_role("dialog")
    dialog.get_by_label("Inside").focus()

    before, after = during(stage, dom_id, CHANGES[change])

    assert (before["value"], before["modal"], before["others"]) == ("half", True, 1)
    expect_the_same(before, after, moved=change in MOVED)
    # It can still be left, by its own button.
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_a_browser_that_cannot_move_elements_gives_focus_back(stage: Stage) -> None:
    stage.page.evaluate("() => { delete Element.prototype.moveBefore; }")
    dom_id = go_there(stage)
    mine(stage).get_by_role("tab", name="Second").click()
    mine(stage).get_by_label("Note").focus()

    before, after = during(stage, dom_id, CHANGES["all the other way round"])

    expect_the_same(before, after, moved=True)


def test_what_was_typed_goes_out_for_the_right_row_after_all_of_them_moved(stage: Stage) -> None:
    dom_id = go_there(stage)
    mine(stage).get_by_label("Note").focus()

    before, _ = during(stage, dom_id, CHANGES["all the other way round"])

    edits = [message for message in stage.sync() if message["type"] == "edit"]
    assert [(edit["value"], edit["target"] in before["focus"]) for edit in edits] == [("half", True)]
    found = stage.talk.surfaces.get("sally", "s1")
    assert found is not None
    rows = found.data_model["l"]  # type: ignore[index, call-overload]
    assert [row["id"] for row in rows if row["note"]] == [MINE]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "change", ["one more before it", "all the other way round", "much at once", "all of its data"]
)
def test_a_composition_goes_on(stage: Stage, change: str) -> None:
    go_there(stage)
    field = mine(stage).get_by_label("Note")
    keyboard = stage.page.context.new_cdp_session(stage.page)
    field.focus()
    keyboard.send("Input.imeSetComposition", {"text": "にほ", "selectionStart": 2, "selectionEnd": 2})
    for message in CHANGES[change]:
        stage.row(stage.talk.part("a2ui-surface", data=message, turn=2))
    keyboard.send("Input.insertText", {"text": "日本"})
    expect(stage.page.locator(":focus")).to_have_value("日本")
    assert [edit["value"] for edit in stage.sync() if edit["type"] == "edit"] == ["日本"]


def test_a_row_that_goes_takes_its_own_and_nothing_else(stage: Stage) -> None:
    dom_id = go_there(stage)
    mine(stage).get_by_label("Note").focus()
    page = stage.page.evaluate("scrollY")

    stage.row(
        stage.talk.part(
            "a2ui-surface", data=update("s1", "/l", items(*KEYS[:MINE], *KEYS[MINE + 1 :])), turn=2
        )
    )

    expect(stage.page.locator(f"#{dom_id}")).to_have_count(0)
    expect(stage.page.get_by_role("listitem").filter(has_text="row")).to_have_count(len(KEYS) - 1)
    assert stage.page.evaluate("scrollY") == page
    assert [message for message in stage.sync() if message["type"] == "edit"] == []
