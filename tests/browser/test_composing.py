"""Writing with an input method: what is being composed is not sent, not lost and not touched."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import CDPSession, expect

from tests.browser.conftest import Desk
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.browser.test_modules import FIELDS, agent
from tests.envelopes.transports.panel.talk import Talk


@pytest.fixture
def form(desk: Desk) -> Iterator[Stage]:
    talk = Talk()
    talk.me("Hi")
    talk.turn(1)
    talk.part("a2ui-surface", data=FIELDS)
    talk.settle()
    desk.context.add_init_script(FAKE_SOCKET)
    with serving(lambda: render(talk)) as url:
        stage = Stage(desk.page(), url, talk)
        stage.open()
        yield stage


@pytest.fixture
def keys(form: Stage) -> CDPSession:
    return form.page.context.new_cdp_session(form.page)


def compose(keys: CDPSession, text: str) -> None:
    keys.send(
        "Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
    )


def press_enter(keys: CDPSession, code: int) -> None:
    for kind in ("rawKeyDown", "keyUp"):
        keys.send(
            "Input.dispatchKeyEvent",
            {"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": code},
        )


def sent(stage: Stage, kind: str) -> list[str]:
    return [str(m.get("text", m.get("value"))) for m in stage.sync() if m["type"] == kind]


@pytest.mark.parametrize("code", [229, 13], ids=["process-key", "enter"])
def test_enter_takes_a_composition_over_and_sends_nothing(form: Stage, keys: CDPSession, code: int) -> None:
    form.label("Message").click()
    compose(keys, "にほ")
    press_enter(keys, code)
    keys.send("Input.insertText", {"text": "日本"})
    assert sent(form, "message") == []
    expect(form.label("Message")).to_have_value("日本")
    form.page.keyboard.press("Enter")
    assert sent(form, "message") == ["日本"]
    expect(form.label("Message")).to_have_value("")


def test_rows_that_come_leave_a_composition_in_the_box_alone(form: Stage, keys: CDPSession) -> None:
    ended = "document.getElementById('msg').addEventListener('compositionend', () => { window.ended = true })"
    form.page.evaluate(ended)
    form.label("Message").click()
    form.page.keyboard.type("Fly to ")
    compose(keys, "にほ")
    # A turn begins, streams and ends; a message of another tab comes; the connection goes and is back.
    form.row(form.talk.me("From elsewhere"))
    form.row(form.talk.turn(2))
    delta = {"type": "delta", "live": "k1", "into": form.talk.thread.container(2), "partType": "response"}
    form.push(delta | {"offset": 0, "text": "A line"})
    form.row(form.talk.part("response", "A line.", turn=2, live="k1"))
    form.row(form.talk.settle(2))
    form.page.evaluate("drop(1006)")
    form.greet()
    form.settle()
    assert not form.page.evaluate("window.ended")
    compose(keys, "にほん")
    keys.send("Input.insertText", {"text": "日本"})
    expect(form.label("Message")).to_have_value("Fly to 日本")
    assert sent(form, "message") == []


def test_what_is_being_composed_in_the_box_is_there_after_a_reload(form: Stage, keys: CDPSession) -> None:
    form.label("Message").click()
    form.page.keyboard.type("Fly to ")
    compose(keys, "にほ")
    form.page.reload()
    expect(form.label("Message")).to_have_value("Fly to にほ")


def test_an_edit_waits_for_the_end_of_a_composition_that_begins_right_after_a_key(
    form: Stage, keys: CDPSession
) -> None:
    # However slow this machine is, the composition begins within the pause after which an edit is sent.
    form.page.evaluate(
        "() => { window.soon = setTimeout;"
        " setTimeout = (go, ms, ...rest) => soon(go, ms < 1000 ? 10000 : ms, ...rest); }"
    )
    form.label("Q").click()
    form.page.keyboard.type("a")
    compose(keys, "に")
    form.page.evaluate("() => { setTimeout = soon }")
    assert sent(form, "edit") == []
    keys.send("Input.insertText", {"text": "日"})
    assert sent(form, "edit") == ["a日"]


def test_what_is_being_composed_in_a_field_is_there_after_a_reload(form: Stage, keys: CDPSession) -> None:
    """Keyboards of phones compose every word until a space ends it."""
    form.label("Q").click()
    compose(keys, "Lovelace")
    form.page.reload()
    form.read = 0
    assert form.wait_for("edit")["value"] == "Lovelace"
    expect(form.label("Q")).to_have_value("Lovelace")


def test_a_click_sends_what_is_being_composed_before_it(form: Stage, keys: CDPSession) -> None:
    form.label("Q").click()
    compose(keys, "にほ")
    agent(form, "/n", 7)
    form.label("B").click()
    assert sent(form, "edit") == ["にほ"]
    expect(form.label("Q")).to_have_value("にほ")
