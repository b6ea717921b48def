"""The page's modules in a real browser, against a socket that the test holds: typing, reconnecting, streaming."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from envelopes.client import bundling as client
from tests.browser.conftest import Desk
from tests.browser.downloads import LIMIT, scripts
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.envelopes.transports.panel.talk import Talk, surface, update
from tests.shared import case, needs_shared

FIELDS = surface(
    "s1",
    {"id": "root", "component": "Column", "children": ["q", "other", "chk", "box", "area", "slide", "pick"]},
    {"id": "q", "component": "TextField", "label": "Q", "value": {"path": "/q"}},
    {"id": "other", "component": "Text", "text": {"path": "/n"}},
    {"id": "chk", "component": "CheckBox", "label": "c", "value": {"path": "/c"}},
    {"id": "box", "component": "TextField", "label": "B", "value": {"path": "/b"}},
    {"id": "area", "component": "TextField", "label": "L", "variant": "longText", "value": {"path": "/l"}},
    {"id": "slide", "component": "Slider", "label": "S", "min": 0, "max": 10, "value": {"path": "/s"}},
    {
        "id": "pick",
        "component": "ChoicePicker",
        "label": "P",
        "variant": "mutuallyExclusive",
        "options": [{"label": "One", "value": "1"}, {"label": "Two", "value": "2"}],
        "value": {"path": "/p"},
    },
    model={"q": "", "n": 0, "c": False, "b": "x", "l": "", "s": 5, "p": ["1"]},
)


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.fixture
def stage(desk: Desk, talk: Talk) -> Iterator[Stage]:
    desk.context.add_init_script(FAKE_SOCKET)
    with serving(lambda: render(talk)) as url:
        yield Stage(desk.page(), url, talk)


@pytest.fixture
def form(stage: Stage) -> Stage:
    """A page with a card full of fields."""
    stage.talk.me("Hi")
    stage.talk.turn(1)
    stage.talk.part("a2ui-surface", data=FIELDS)
    stage.talk.settle()
    stage.open()
    return stage


def agent(stage: Stage, path: str, value: Any, surface_id: str = "s1") -> str:
    """The agent writes; returns what was sent for it."""
    ops = stage.talk.part("a2ui-surface", data=update(surface_id, path, value), turn=2)
    stage.row(ops)
    return json.dumps(ops)


# -- code -------------------------------------------------------------------------------------------------------------


def test_a_conversation_downloads_htmx_and_one_small_module(stage: Stage) -> None:
    found = scripts(stage.page, stage.url)
    assert set(found) == {"django_htmx/htmx-4.min.js", "beach/panel.js"}
    if client.has_minifier():
        assert len(found["beach/panel.js"]) <= LIMIT


def test_what_few_surfaces_need_comes_with_the_first_that_has_it(stage: Stage) -> None:
    page, asked = stage.page, list[str]()
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    stage.talk.me("Hi")
    stage.talk.turn(1)
    stage.open()
    assert not {"widgets.js", "table.js", "files.js"} & {*asked}
    rows = (
        {
            "id": "root",
            "component": "Tabs",
            "tabs": [{"title": "One", "child": "a"}, {"title": "Two", "child": "b"}],
        },
        {"id": "a", "component": "Text", "text": "First"},
        {"id": "b", "component": "Text", "text": "Second"},
    )
    with page.expect_response("**/widgets.js"):
        stage.row(stage.talk.part("a2ui-surface", data=surface("t1", *rows)))
    page.get_by_role("tab", name="Two").click()
    expect(page.get_by_text("Second")).to_be_visible()
    assert "table.js" not in asked


# -- fields -----------------------------------------------------------------------------------------------------------


@needs_shared
@pytest.mark.shared
def test_ws_updates_respect_what_the_user_is_typing(stage: Stage) -> None:
    given = case("transport/ws-updates-respect-what-the-user-is-typing.yaml")
    stage.talk.me("Hi")
    stage.talk.turn(1)
    stage.talk.part("a2ui-surface", data={"messages": given["input"]["messages"]})
    stage.open()
    names = {"q": "Q", "box": "B", "chk": "c"}
    typed = "q"
    expected = given["expected"]["after_step"]
    for number, step in enumerate(given["input"]["steps"], 1):
        (what, value), *_ = step.items()
        if what == "focus":
            typed = value
            stage.label(names[value]).click()
        elif what == "type":
            stage.page.keyboard.type(value)
        elif what == "click":
            stage.label(names[value]).click()
        else:
            ops = stage.talk.part("a2ui-surface", data=value)
            if value["updateDataModel"]["path"] == "/n":
                assert "<input" not in json.dumps(ops)
            stage.row(ops)
        stage.sync(wait=250)
        then = expected.get(str(number), {})
        for name, text in then.get("value_of", {}).items():
            expect(stage.label(names[name])).to_have_value(text)
        for name, checked in then.get("checked", {}).items():
            expect(stage.label(names[name])).to_be_checked(checked=checked)
        if "focused" in then:
            expect(stage.label(names[then["focused"]])).to_be_focused()
        if "text" in then:
            expect(stage.page.locator(".b-surface__body")).to_contain_text(then["text"]["other"])
    assert typed == "box"


def test_a_field_sends_what_was_typed_once_a_moment_after_the_last_key(form: Stage) -> None:
    # All in one go: between two calls of a loaded machine the moment may pass.
    at_once = form.label("Q").evaluate(
        "e => { e.focus(); for (const key of 'hello') document.execCommand('insertText', false, key);"
        " return stage.sent.filter(message => message.type === 'edit').length; }"
    )
    assert at_once == 0
    message = form.wait_for("edit")
    assert message["value"] == "hello"
    form._edit(message)
    form.settle()
    form.label("B").click()
    assert [m for m in form.sync() if m["type"] == "edit"] == []


def test_leaving_a_field_sends_at_once(form: Stage) -> None:
    form.label("Q").click()
    form.page.keyboard.insert_text("now")
    form.page.keyboard.press("Tab")
    assert [m["value"] for m in form.fresh() if m["type"] == "edit"] == ["now"]


def test_what_the_agent_wrote_shows_on_blur_when_nothing_was_typed_after_it(form: Stage) -> None:
    form.label("Q").click()
    form.page.keyboard.insert_text("mine")
    form.sync()
    agent(form, "/q", "theirs")
    expect(form.label("Q")).to_have_value("mine")
    form.label("B").click()
    expect(form.label("Q")).to_have_value("theirs")
    assert [m for m in form.sync() if m["type"] == "edit"] == []


def test_what_was_typed_after_the_agent_wrote_wins(form: Stage) -> None:
    form.label("Q").click()
    agent(form, "/q", "theirs")
    form.page.keyboard.insert_text("mine")
    form.label("B").click()
    form.sync()
    expect(form.label("Q")).to_have_value("mine")
    agent(form, "/q", "later")
    expect(form.label("Q")).to_have_value("later")


def test_an_older_write_does_not_undo_an_edit_on_its_way(form: Stage) -> None:
    form.label("Q").click()
    form.page.keyboard.insert_text("mine")
    form.page.keyboard.press("Tab")
    (message,) = [m for m in form.fresh() if m["type"] == "edit"]
    agent(form, "/q", "older")  # written before the edit arrived
    expect(form.label("Q")).to_have_value("mine")
    form._edit(message)
    form.settle()
    expect(form.label("Q")).to_have_value("mine")


def test_a_newer_write_that_overtook_the_answer_shows_in_the_end(form: Stage) -> None:
    form.label("Q").click()
    form.page.keyboard.insert_text("mine")
    form.page.keyboard.press("Tab")
    (message,) = [m for m in form.fresh() if m["type"] == "edit"]
    edit = form.talk.surfaces.edit(message["target"], message["value"])
    form.row(form.talk.row("edit", {"owner": edit.owner, "surfaceId": edit.surface_id, "ops": edit.ops}))
    taken = len(form.talk.rows)
    agent(form, "/q", "newer")
    expect(form.label("Q")).to_have_value("mine")
    form.push({"type": "ack", "id": message["id"], "seq": taken})
    expect(form.label("Q")).to_have_value("newer")


def test_several_lines_are_kept_like_one(form: Stage) -> None:
    form.label("L").click()
    form.page.keyboard.type("one\ntwo")
    form.sync()
    agent(form, "/l", "theirs")
    expect(form.label("L")).to_have_value("one\ntwo")
    expect(form.label("L")).to_be_focused()
    form.label("B").click()
    expect(form.label("L")).to_have_value("theirs")


def test_each_kind_of_input_sends_its_value(form: Stage) -> None:
    form.label("c").click()
    assert [m["value"] for m in form.sync() if m["type"] == "edit"] == [True]
    form.page.get_by_label("Two").click(force=True)
    assert [m["value"] for m in form.sync() if m["type"] == "edit"] == [["2"]]
    form.page.locator("input[type=range]").focus()
    form.page.keyboard.press("ArrowRight")
    expect(form.page.locator("output")).to_have_text("6")
    assert [m["value"] for m in form.sync() if m["type"] == "edit"] == [6]


def test_choices_follow_the_server_after_they_were_touched(form: Stage) -> None:
    form.page.get_by_label("Two").click(force=True)
    form.sync()
    agent(form, "/p", ["1"])
    expect(form.page.get_by_label("One")).to_be_checked()
    form.label("c").click()
    form.sync()
    agent(form, "/c", False)
    expect(form.label("c")).not_to_be_checked()


def test_an_edit_that_is_refused_is_explained_under_the_field(form: Stage) -> None:
    form.label("Q").click()
    form.page.keyboard.insert_text("bad")
    message = form.wait_for("edit")
    form.push(
        {"type": "error", "id": message["id"], "code": "VALIDATION_FAILED", "message": "Use digits only."}
    )
    expect(form.page.get_by_role("alert")).to_have_text("Use digits only.")
    expect(form.label("Q")).to_have_attribute("aria-invalid", "true")
    form.page.keyboard.type("1")
    expect(form.page.get_by_role("alert")).to_have_count(0)


def test_an_edit_that_was_not_answered_survives_a_reload(form: Stage) -> None:
    form.label("Q").click()
    form.page.keyboard.insert_text("kept")
    first = form.wait_for("edit")
    form.page.reload()
    form.read = 0
    expect(form.label("Q")).to_have_value("kept")
    again = form.wait_for("edit")
    assert (again["id"], again["value"]) == (first["id"], "kept")


def test_a_composition_is_not_sent_half_way(form: Stage) -> None:
    form.label("Q").click()
    form.page.evaluate(
        "const f = document.activeElement;"
        "f.dispatchEvent(new CompositionEvent('compositionstart', { bubbles: true }));"
        "f.value = 'に'; f.dispatchEvent(new InputEvent('input', { bubbles: true, isComposing: true }));"
    )
    assert [m for m in form.sync() if m["type"] == "edit"] == []
    form.page.evaluate(
        "const f = document.activeElement; f.value = '日';"
        "f.dispatchEvent(new CompositionEvent('compositionend', { bubbles: true }));"
    )
    assert [m["value"] for m in form.sync() if m["type"] == "edit"] == ["日"]


def test_a_composition_goes_on_while_the_agent_writes_into_the_same_field(form: Stage) -> None:
    keyboard = form.page.context.new_cdp_session(form.page)
    form.label("Q").click()
    keyboard.send("Input.imeSetComposition", {"text": "にほ", "selectionStart": 2, "selectionEnd": 2})
    agent(form, "/q", "theirs")
    expect(form.label("Q")).to_have_value("にほ")
    assert [m for m in form.sync() if m["type"] == "edit"] == []
    keyboard.send("Input.imeSetComposition", {"text": "にほん", "selectionStart": 3, "selectionEnd": 3})
    keyboard.send("Input.insertText", {"text": "日本"})
    expect(form.label("Q")).to_have_value("日本")
    assert [m["value"] for m in form.sync() if m["type"] == "edit"] == ["日本"]


def test_a_reload_in_the_middle_of_a_frame_loses_nothing(form: Stage) -> None:
    form.label("B").focus()
    ops = form.talk.part("a2ui-surface", data=update("s1", "/b", "theirs"), turn=2)
    assert "<hx-partial" in json.dumps(ops)
    frame = json.dumps(form.frame([*ops, ["i", "tail", "beforebegin", "<p>x</p>"]]))
    with form.page.expect_navigation():
        # The morph has begun and is not over: it gives way before its last step.
        form.page.evaluate(
            "frame => { push(frame); document.execCommand('insertText', false, 'mine'); location.reload(); }",
            frame,
        )
    form.read = 0
    edit = form.wait_for("edit")
    (hello,) = [message for message in form.sent() if message["type"] == "hello"]
    assert hello["after"] == len(form.talk.rows)
    assert edit["value"] == "minex"
    expect(form.label("B")).to_have_value("minex")


# -- surfaces ---------------------------------------------------------------------------------------------------------


def click_card(stage: Stage) -> None:
    stage.talk.me("Hi")
    stage.talk.turn(1)
    parts = [
        {"id": "root", "component": "Column", "children": ["tabs", "go", "modal", "q"]},
        {
            "id": "tabs",
            "component": "Tabs",
            "tabs": [{"title": "First", "child": "one"}, {"title": "Second", "child": "two"}],
        },
        {"id": "one", "component": "Text", "text": {"path": "/n"}},
        {"id": "two", "component": "Text", "text": "Second panel"},
        {"id": "go", "component": "Button", "child": "golabel", "action": {"event": {"name": "go"}}},
        {"id": "golabel", "component": "Text", "text": "Go"},
        {"id": "modal", "component": "Modal", "trigger": "more", "content": "inside"},
        {"id": "more", "component": "Button", "child": "morelabel", "action": {"event": {"name": "more"}}},
        {"id": "morelabel", "component": "Text", "text": "More"},
        {"id": "inside", "component": "Text", "text": {"path": "/n"}},
        {"id": "q", "component": "TextField", "label": "Q", "value": {"path": "/q"}},
    ]
    stage.talk.part("a2ui-surface", data=surface("s1", *parts, model={"n": "before", "q": ""}))
    stage.open()


def test_a_click_sends_a_name_only_after_the_edits_and_once(stage: Stage) -> None:
    click_card(stage)
    stage.label("Q").click()
    stage.page.keyboard.type("x")
    go = stage.page.get_by_role("button", name="Go", exact=True)
    go.dblclick()
    messages = [m for m in stage.fresh() if m["type"] in ("edit", "action")]
    assert [m["type"] for m in messages] == ["edit", "action"]
    assert set(messages[1]) == {"at", "socket", "type", "id", "target"}
    expect(go).to_have_attribute("aria-busy", "true")
    stage.push({"type": "ack", "id": messages[1]["id"], "seq": 9})
    expect(go).not_to_have_attribute("aria-busy", "true")


def test_a_page_to_open_opens_without_a_way_back(stage: Stage) -> None:
    click_card(stage)
    stage.page.get_by_role("button", name="Go", exact=True).click()
    action = stage.wait_for("action")
    with stage.page.context.expect_page() as opened:
        stage.push({"type": "ack", "id": action["id"], "effect": {"openUrl": stage.url}})
    assert opened.value.evaluate("window.opener") is None
    stage.page.get_by_role("button", name="Go", exact=True).click()
    action = stage.wait_for("action")
    stage.push({"type": "ack", "id": action["id"], "effect": {"openUrl": "javascript:document.title='x'"}})
    stage.settle()
    assert len(stage.page.context.pages) == 2
    assert stage.page.title() != "x"


def test_tabs_are_the_browsers_own_and_survive_updates(stage: Stage) -> None:
    click_card(stage)
    second = stage.page.get_by_role("tab", name="Second")
    stage.page.get_by_role("tab", name="First").focus()
    stage.page.keyboard.press("ArrowRight")
    expect(second).to_be_focused()
    expect(stage.page.get_by_text("Second panel")).to_be_visible()
    ops = [["r", "a1", stage.talk.surfaces.get("sally", "s1").html()]]  # type: ignore[union-attr]
    stage.talk.row("note", {})
    stage.row(ops)
    expect(second).to_have_attribute("aria-selected", "true")
    expect(stage.page.get_by_text("Second panel")).to_be_visible()


def test_a_dialog_stays_open_through_updates_and_gives_focus_back(stage: Stage) -> None:
    click_card(stage)
    more = stage.page.get_by_role("button", name="More", exact=True)
    more.click()
    dialog = stage.page.get_by_role("dialog")
    expect(dialog).to_contain_text("before")
    agent(stage, "/n", "after")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("after")
    stage.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(more).to_be_focused()


@pytest.mark.parametrize("key", ["Enter", " "])
def test_what_opens_a_dialog_takes_keys_like_a_button(stage: Stage, key: str) -> None:
    stage.talk.me("Hi")
    stage.talk.turn(1)
    parts = [
        {"id": "root", "component": "Modal", "trigger": "about", "content": "inside"},
        {"id": "about", "component": "Text", "text": "About this"},
        {"id": "inside", "component": "Text", "text": "All there is"},
    ]
    stage.talk.part("a2ui-surface", data=surface("s1", *parts, model={}))
    stage.open()
    opener = stage.page.get_by_role("button", name="About this")
    opener.focus()
    stage.page.keyboard.press(key)
    expect(stage.page.get_by_role("dialog")).to_contain_text("All there is")
    stage.page.keyboard.press("Escape")
    expect(opener).to_be_focused()


# -- connection -------------------------------------------------------------------------------------------------------


def test_hello_is_the_first_frame_and_asks_for_what_is_missing(form: Stage) -> None:
    hello = form.sent()[0]
    assert (hello["type"], hello["after"]) == ("hello", len(form.talk.rows))
    expect(form.page.locator("#status")).to_have_attribute("data-state", "connected")
    ops = form.talk.me("From another tab")
    form.push({"seq": 99, "prev": 98, "ops": ops, "busy": False})
    assert form.wait_for("hello")["after"] == len(form.talk.rows) - 1
    expect(form.page.locator(".b-me")).to_have_count(1)
    form.row(ops)
    form.push({"seq": len(form.talk.rows), "prev": 0, "ops": ops, "busy": False})
    form.settle()
    expect(form.page.locator(".b-me")).to_have_count(2)


def test_hello_gives_back_the_mark_of_the_row_that_the_page_stands_at(form: Stage) -> None:
    """By which the server tells that row from another one of a log that was restored."""
    assert form.sent()[0]["mark"] is None
    form.row(form.talk.me("Marked"), mark=7)
    form.push({"seq": 99, "prev": 98, "ops": [], "busy": False})
    assert form.wait_for("hello")["mark"] == 7
    form.push({"type": "welcome", "seq": len(form.talk.rows), "busy": False, "now": 0, "mark": 8})
    form.push({"seq": 99, "prev": 98, "ops": [], "busy": False})
    assert form.wait_for("hello")["mark"] == 8
    # A page of earlier turns brings a number and no mark; that of a row before it would be another one's.
    form.row(form.talk.me("Unmarked"))
    form.push({"seq": 99, "prev": 98, "ops": [], "busy": False})
    assert form.wait_for("hello")["mark"] is None


def test_a_lost_connection_comes_back_and_sends_what_was_not_answered(form: Stage) -> None:
    form.page.fill("#msg", "Hello there")
    form.page.keyboard.press("Enter")
    first = form.wait_for("message")
    form.page.evaluate("stage.refuse = 1; drop(1006)")
    expect(form.page.locator("#status")).to_have_attribute("data-state", "reconnecting")
    expect(form.page.locator("#tail .b-me")).to_have_attribute("data-state", "queued")
    hello = form.greet()
    again = form.sent()[-1]
    assert hello["socket"] == 2
    assert (again["type"], again["id"], again["socket"]) == ("message", first["id"], 2)
    expect(form.page.locator("#status")).to_have_attribute("data-state", "connected")
    form.row(form.talk.me("Hello there", id=first["id"]))
    form.push({"type": "ack", "id": first["id"], "seq": len(form.talk.rows)})
    expect(form.page.locator(".b-me", has_text="Hello there")).to_have_count(1)
    expect(form.page.locator("#tail .b-me")).to_have_count(0)


def test_a_hello_that_is_refused_is_said_again(form: Stage) -> None:
    """Nothing asked again before: the page looked connected and no row came any more."""
    form.push({"seq": 99, "prev": 98, "ops": [], "busy": False})
    assert form.wait_for("hello")["socket"] == 0
    form.push({"type": "error", "id": None, "code": "internal", "message": "That failed."})
    assert form.greet()["socket"] == 1
    expect(form.page.locator("#status")).to_have_attribute("data-state", "connected")


def test_a_message_that_was_not_answered_survives_a_second_reload(form: Stage) -> None:
    form.page.fill("#msg", "Hello there")
    form.page.keyboard.press("Enter")
    first = form.wait_for("message")
    for number in (1, 2):
        form.page.reload()
        form.read = 0
        assert form.wait_for("message")["id"] == first["id"]
        # Whatever is sent next writes down what is still open.
        form.page.fill("#msg", f"And more {number}")
        form.page.keyboard.press("Enter")
        form.wait_for("message")
    expect(form.page.locator("#tail .b-me", has_text="Hello there")).to_have_count(1)


def test_an_answer_before_its_row_leaves_one_copy(form: Stage) -> None:
    form.page.fill("#msg", "Once")
    form.page.keyboard.press("Enter")
    message = form.wait_for("message")
    form.push({"type": "ack", "id": message["id"], "seq": len(form.talk.rows) + 1})
    form.settle()
    expect(form.page.locator(".b-me", has_text="Once")).to_have_count(1)
    form.row(form.talk.me("Once"))
    expect(form.page.locator(".b-me", has_text="Once")).to_have_count(1)
    expect(form.page.locator("#tail .b-me")).to_have_count(0)


def test_a_message_that_is_refused_says_why(form: Stage) -> None:
    form.page.fill("#msg", "Too much")
    form.page.keyboard.press("Enter")
    message = form.wait_for("message")
    form.push({"type": "error", "id": message["id"], "code": "too_large", "message": "That is too long."})
    expect(form.page.locator("#tail .b-me")).to_contain_text("That is too long.")


@pytest.mark.parametrize(("code", "words"), [(4401, "signed out"), (4403, "no longer"), (4404, "no longer")])
def test_a_refusal_is_final(form: Stage, code: int, words: str) -> None:
    form.page.evaluate("code => drop(code)", code)
    form.page.wait_for_timeout(900)
    assert form.page.evaluate("stage.sockets.length") == 1
    assert form.status() == "offline"
    expect(form.page.locator("#note").get_by_text(words)).to_be_visible()


# -- text -------------------------------------------------------------------------------------------------------------


def test_streamed_text_grows_shows_gaps_and_gives_way_to_its_part(form: Stage) -> None:
    form.row(form.talk.turn(2))
    base = {"type": "delta", "live": "L2-0", "into": "t2-0p", "partType": "response"}
    form.push(base | {"offset": 0, "text": "Hi 🏖"})
    form.push(base | {"offset": 4, "text": " there"})
    bubble = form.page.locator("#vL2-0")
    expect(bubble).to_have_text("Hi 🏖 there")
    # A bubble is only ever added to: a new attempt has bubbles of its own.
    form.push(base | {"offset": 4, "text": " there you"})
    expect(bubble).to_have_text("Hi 🏖 there you")
    form.push(base | {"offset": 40, "text": "lost"})
    form.wait_for("hello")
    expect(bubble).to_have_text("Hi 🏖 there you")
    form.push({"type": "welcome", "seq": len(form.talk.rows), "busy": True})
    form.push(base | {"offset": 0, "text": "Hi 🏖 there you <b>all</b>"})
    expect(bubble).to_have_text("Hi 🏖 there you <b>all</b>")
    form.row(form.talk.part("response", "**Hi all**", turn=2, live="L2-0"))
    expect(bubble).to_have_count(0)
    expect(form.page.locator("#t2-0 strong")).to_have_text("Hi all")
    form.push(base | {"offset": 0, "text": "overtaken by its part"})
    form.push(base | {"live": "L2-1", "offset": 7, "text": "began unseen"})
    form.wait_for("hello")
    expect(form.page.locator("#t2-0v")).to_be_empty()


def test_a_line_that_streams_moves_with_the_dots(form: Stage) -> None:
    form.row(form.talk.turn(2))
    form.push(
        {"type": "delta", "live": "L2-0", "into": "t2-0p", "piece": "typing", "offset": 0, "text": "Looking"}
    )

    expect(form.page.locator("#vL2-0.b-ack .b-typing")).to_have_count(1)
    expect(form.page.locator("#vL2-0")).to_have_text("Looking")


def test_the_page_follows_only_from_its_end(form: Stage) -> None:
    for number in range(12):
        form.row(form.talk.me(f"Line {number}\n\n\n\n"))
    assert form.page.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY") < 4
    form.page.mouse.wheel(0, -900)
    form.page.wait_for_timeout(200)
    before = form.page.evaluate("scrollY")
    pill = form.page.get_by_role("button", name="New messages")
    # Reading back is no news, and neither is a card that changes where it stands.
    expect(pill).to_be_hidden()
    form.row(form.talk.me("Below"))
    assert form.page.evaluate("scrollY") == before
    pill.click()
    expect(pill).to_be_hidden()
    assert form.page.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY") < 4


@pytest.mark.parametrize("size", [(1280, 800), (1000, 700), (390, 844)])
def test_what_is_new_is_told_while_it_is_below_and_covers_nothing(form: Stage, size: tuple[int, int]) -> None:
    form.page.set_viewport_size({"width": size[0], "height": size[1]})
    for number in range(12):
        form.row(form.talk.me(f"Line {number}\n\n\n\n"))
    form.row(form.talk.turn(2))
    base = {"type": "delta", "live": "L2-0", "into": "t2-0p", "partType": "response"}
    form.push(base | {"offset": 0, "text": "A first line."})
    form.settle()
    # Below what is being written is nothing but room, so to see it is not to be at the end.
    form.page.evaluate("document.getElementById('thread').style.paddingBlockEnd = '900px'")
    in_sight = "document.getElementById('vL2-0').scrollIntoView({ block: 'center', behavior: 'instant' })"
    form.page.evaluate(in_sight)
    form.page.wait_for_timeout(200)
    pill = form.page.get_by_role("button", name="New messages")
    form.push(base | {"offset": 13, "text": " In sight."})
    form.settle()
    expect(pill).to_be_hidden()

    form.page.evaluate(f"scrollBy(0, -{size[1]})")
    form.page.wait_for_timeout(200)
    form.push(base | {"offset": 23, "text": " Below."})
    form.settle()
    expect(pill).to_be_visible()
    # Beside the box, not over the conversation, nor over anything in the box.
    one, box, dock = (
        form.page.locator(name).bounding_box() or {} for name in ("#pill button", "#composer", ".b-dock")
    )
    assert one["x"] >= box["x"] + box["width"]
    assert one["y"] >= dock["y"] and one["x"] + one["width"] <= size[0]
    # Who has scrolled to it has seen it, at the end or not.
    form.page.evaluate(in_sight)
    expect(pill).to_be_hidden()


def _top(form: Stage, selector: str) -> float:
    """How far below the bar on top something begins."""
    top: float = form.page.evaluate(
        "s => document.querySelector(s).getBoundingClientRect().top"
        " - document.querySelector('.b-top').getBoundingClientRect().bottom",
        selector,
    )
    return top


GAP = "document.documentElement.scrollHeight - innerHeight - scrollY"


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_a_long_answer_is_followed_until_its_question_is_at_the_top(
    form: Stage, size: tuple[int, int]
) -> None:
    form.page.set_viewport_size({"width": size[0], "height": size[1]})
    form.page.fill("#msg", "Tell me everything")
    form.page.keyboard.press("Enter")
    form.row(form.talk.me("Tell me everything", id=form.wait_for("message")["id"]))
    form.row(form.talk.turn(2))
    assert form.page.evaluate(GAP) < 4
    base = {"type": "delta", "live": "L2-0", "into": "t2-0p", "partType": "response"}
    words = "A line of an answer.\n\n" * 60
    for start in range(0, len(words), 100):
        form.push(base | {"offset": start, "text": words[start : start + 100]})
    form.settle()
    pill = form.page.get_by_role("button", name="New messages")
    question = ".b-me:has(+ #t2-0)"
    assert 0 <= _top(form, question) <= 24
    form.row(form.talk.part("response", words, turn=2, live="L2-0"))
    form.row(form.talk.settle(2))
    assert 0 <= _top(form, question) <= 24
    expect(pill).to_be_visible()
    # Who goes to the end is followed there, however long the answer is.
    pill.click()
    form.settle()
    form.row(form.talk.turn(3))
    form.row(form.talk.part("response", "And one more.", turn=3))
    assert form.page.evaluate(GAP) < 4
    expect(pill).to_be_hidden()


def test_an_answer_that_a_person_reads_at_its_end_is_followed_on(form: Stage) -> None:
    form.row(form.talk.me("Go on"))
    form.row(form.talk.turn(2))
    form.row(form.talk.part("response", "A line.\n\n" * 80, turn=2))
    assert form.page.evaluate(GAP) > 100
    form.page.get_by_role("button", name="New messages").click()
    form.settle()
    form.row(form.talk.part("response", "More.\n\n" * 20, turn=2))
    assert form.page.evaluate(GAP) < 4


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_pressing_a_button_high_up_goes_to_where_the_answer_comes(
    stage: Stage, size: tuple[int, int]
) -> None:
    stage.page.set_viewport_size({"width": size[0], "height": size[1]})
    rows = [{"id": f"r{n}", "component": "Text", "text": f"Row {n}"} for n in range(60)]
    card = surface(
        "s1",
        {"id": "root", "component": "Column", "children": ["go", *(row["id"] for row in rows)]},
        {"id": "go", "component": "Button", "child": "gt", "action": {"event": {"name": "go"}}},
        {"id": "gt", "component": "Text", "text": "Select"},
        *rows,
    )
    stage.talk.me("Hi")
    stage.talk.turn(1)
    stage.talk.part("a2ui-surface", data=card)
    stage.talk.settle()
    stage.open()
    stage.page.get_by_role("button", name="Select").click()
    action = stage.wait_for("action")
    data = {"owner": "sally", "target": action["target"], "label": "Select", "action": {"name": "go"}}
    stage.row(stage.talk.row("action", data))
    stage.push({"type": "ack", "id": action["id"], "seq": len(stage.talk.rows)})
    stage.settle()
    assert stage.page.evaluate(GAP) < 4
    expect(stage.page.locator(".b-event")).to_be_in_viewport()
    stage.row(stage.talk.turn(2))
    stage.row(stage.talk.part("response", "A line.\n\n" * 80, turn=2))
    assert 0 <= _top(stage, ".b-event") <= 24
    expect(stage.page.get_by_role("button", name="New messages")).to_be_visible()


def test_what_happens_is_said_once_and_politely(form: Stage) -> None:
    said = form.page.locator("#announcer")
    form.row(form.talk.turn(2))
    expect(said).to_have_text("Sally is answering")
    form.row(form.talk.part("response", "A long answer", turn=2))
    form.row(form.talk.settle(2))
    expect(said).to_have_text("Answer ready")
    assert form.page.locator("#thread").get_attribute("aria-live") == "off"


# -- decisions and writing --------------------------------------------------------------------------------------------


def test_a_decision_waits_for_its_answer_and_can_be_refused(form: Stage) -> None:
    form.row(form.talk.turn(2))
    form.row(form.talk.ask(turn=2, expires=None))
    form.row(form.talk.turn(2, "suspended"))
    expect(form.page.locator("#announcer")).to_have_text("Approval needed")
    card = form.page.locator(".b-approval")
    height = card.evaluate("e => e.offsetHeight")
    form.page.get_by_role("button", name="Approve").click()
    decide = form.wait_for("decide")
    assert (decide["approval"], decide["decision"]) == ("ap", "granted")
    expect(card).to_have_attribute("data-state", "deciding")
    assert card.evaluate("e => e.offsetHeight") == height
    form.push({"type": "error", "id": decide["id"], "code": "expired", "message": "This approval expired."})
    expect(card).to_have_attribute("data-state", "pending")
    expect(card).to_contain_text("This approval expired.")
    form.page.get_by_role("button", name="Deny").click()
    decide = form.wait_for("decide")
    form.push({"type": "ack", "id": decide["id"], "state": "denied"})
    form.row(form.talk.decide("denied", turn=2))
    expect(card).to_have_attribute("data-state", "denied")
    assert card.evaluate("e => e.contains(document.activeElement)")


def test_enter_sends_shift_enter_does_not_and_a_composition_is_left_alone(form: Stage) -> None:
    box = form.page.locator("#msg")
    box.click()
    form.page.keyboard.type("one")
    form.page.keyboard.press("Shift+Enter")
    form.page.keyboard.type("two")
    box.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    assert [m for m in form.fresh() if m["type"] == "message"] == []
    form.page.keyboard.press("Enter")
    assert form.wait_for("message")["text"] == "one\ntwo"
    expect(box).to_have_value("")
    expect(box).to_be_focused()


def test_a_text_over_the_limit_cannot_be_sent(form: Stage) -> None:
    form.page.fill("#msg", "x" * 201)
    expect(form.page.locator("#composer [type=submit]")).to_be_disabled()
    expect(form.page.locator(".is-kept")).to_have_text("201 of 200 characters. Shorten it to send.")
    form.page.keyboard.press("Enter")
    form.page.fill("#msg", "x" * 200)
    expect(form.page.locator("#composer [type=submit]")).to_be_enabled()


def test_what_was_written_before_the_code_came_is_there_to_send(stage: Stage) -> None:
    """A slow network: the page can be read, and written into, long before its modules arrive."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    stage.page.route("**/beach/panel.js", hold)
    stage.page.goto(stage.url, wait_until="commit")
    stage.page.locator("#msg").fill("Early")
    stage.page.locator("#msg").press("Enter")
    assert stage.page.evaluate("stage.sockets.length") == 0
    for route in held:
        route.continue_()
    stage.greet()
    stage.page.locator("#composer [type=submit]").click()
    assert stage.wait_for("message")["text"] == "Early"


def test_stop_is_offered_while_something_is_at_work(form: Stage) -> None:
    stop = form.page.get_by_role("button", name="Stop")
    expect(stop).to_be_hidden()
    form.row(form.talk.turn(2))
    stop.click()
    assert form.wait_for("stop")["id"]
    form.row(form.talk.settle(2, "cancelled"))
    expect(stop).to_be_hidden()
    expect(form.page.locator("#t2-0")).to_contain_text("You stopped this answer.")


def test_a_suggestion_sends_its_text_and_the_suggestions_go(stage: Stage) -> None:
    stage.open()
    stage.page.get_by_role("button", name="Find a flight").click()
    message = stage.wait_for("message")
    assert message["text"] == "Find a flight to Corfu"
    expect(stage.page.locator("#empty")).to_be_hidden()
    stage.row(stage.talk.me("Find a flight to Corfu", id=message["id"]))
    expect(stage.page.locator("#empty")).to_have_count(0)
    expect(stage.page.locator("#title")).to_have_text("Find a flight to Corfu")
