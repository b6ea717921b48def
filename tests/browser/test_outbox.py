"""The outbox in a real browser, with a socket that the test holds: what is refused, repeated, replaced, taken back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Desk, login
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.browser.test_main_job import BOOK, QUICK, settled
from tests.browser.test_main_job import say as say_and_wait
from tests.envelopes.transports.panel.talk import Talk, surface
from tests.liveserver import Server

FIELDS = surface(
    "s1",
    {"id": "root", "component": "Column", "children": ["q", "pin", "go"]},
    {"id": "q", "component": "TextField", "label": "Q", "value": {"path": "/q"}},
    {"id": "pin", "component": "TextField", "label": "Pin", "variant": "obscured", "value": {"path": "/pin"}},
    {"id": "go", "component": "Button", "child": "gt", "action": {"event": {"name": "go"}}},
    {"id": "gt", "component": "Text", "text": "Go"},
    model={"q": "", "pin": ""},
)


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.fixture
def stage(desk: Desk, talk: Talk) -> Iterator[Stage]:
    desk.context.add_init_script(FAKE_SOCKET)
    with serving(lambda: render(talk, frame_limit=4096)) as url:
        yield Stage(desk.page(), url, talk)


@pytest.fixture
def form(stage: Stage) -> Stage:
    """A page with a card of fields, connected."""
    stage.talk.me("Hi")
    stage.talk.turn(1)
    stage.talk.part("a2ui-surface", data=FIELDS)
    stage.talk.settle()
    stage.open()
    return stage


def say(stage: Stage, text: str) -> dict[str, Any]:
    stage.page.fill("#msg", text)
    stage.page.keyboard.press("Enter")
    return stage.wait_for("message")


def reload(stage: Stage) -> None:
    stage.page.reload()
    stage.read = 0
    stage.greet()


def own(stage: Stage, text: str = "") -> Locator:
    """The messages that are not in the log yet."""
    return stage.page.locator("#tail .b-me", has_text=text)


def offered(bubble: Locator) -> Locator:
    return bubble.locator(".b-linkbtn:visible")


def refuse(stage: Stage, sent: dict[str, Any], code: str = "internal", **facts: Any) -> None:
    told = {"type": "error", "id": sent["id"], "code": code, "message": "That failed.", "retry": False}
    stage.push({**told, **facts})


def reached(stage: Stage, **facts: Any) -> None:
    """What the server says to a page that asks why it has no connection."""
    said = {"origin": True, "known": True, "person": "user:1", "csrf": "x", **facts}
    stage.page.route("**/chat/reach", lambda route: route.fulfill(json=said))


def sent(stage: Stage, kind: str) -> list[dict[str, Any]]:
    """Everything of a type since the page was loaded."""
    return [message for message in stage.sent() if message["type"] == kind]


def notes(stage: Stage, words: str) -> None:
    expect(stage.page.locator("#note").get_by_text(words)).to_be_visible(timeout=15_000)


# -- refused ----------------------------------------------------------------------------------------------------------


def test_p1_a_message_that_is_refused_is_back_in_the_persons_hands(form: Stage) -> None:
    first = say(form, "Hold the room")
    refuse(form, first, message="The desk is closed.")
    expect(own(form)).to_have_attribute("data-state", "refused")
    reload(form)
    expect(own(form)).to_contain_text("Hold the room")
    expect(own(form)).to_contain_text("The desk is closed.")
    assert sent(form, "message") == []
    own(form).get_by_role("button", name="Try again").click()
    again = form.wait_for("message")
    assert (again["id"], again["text"]) == (first["id"], "Hold the room")
    expect(own(form)).to_have_attribute("data-state", "sending")
    refuse(form, again)
    form.page.fill("#msg", "And a taxi")
    own(form).get_by_role("button", name="Edit").click()
    expect(form.page.locator("#msg")).to_have_value("Hold the room\n\nAnd a taxi")
    expect(own(form)).to_have_count(0)
    reload(form)
    expect(form.page.locator("#msg")).to_have_value("Hold the room\n\nAnd a taxi")
    assert sent(form, "message") == []


def test_p1_only_what_can_help_is_offered(form: Stage) -> None:
    for code, help_ in {
        "internal": ["Try again", "Edit"],
        "too_large": ["Edit"],
        "VALIDATION_FAILED": ["Edit"],
        "forbidden": ["Start a new one with this"],
    }.items():
        refuse(form, say(form, f"Why {code}"), code)
        expect(offered(own(form, f"Why {code}"))).to_have_text(help_)
    form.page.evaluate("drop(4403)")
    expect(offered(own(form, "Why internal"))).to_have_text(["Start a new one with this"])


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["desk", "phone"])
def test_what_can_be_done_about_a_refusal_stands_on_one_line_under_its_message(
    form: Stage, size: tuple[int, int]
) -> None:
    form.page.set_viewport_size({"width": size[0], "height": size[1]})
    for code in ("internal", "too_large", "forbidden"):
        refuse(form, say(form, f"Why {code}"), code, message="This conversation has been closed.")
        bubble = own(form, f"Why {code}")
        expect(offered(bubble).first).to_be_visible()
        edge, *ends = bubble.evaluate(
            """bubble => [bubble.querySelector('.b-me__text').getBoundingClientRect().right,
              ...[...bubble.querySelectorAll('.b-linkbtn')].filter(button => button.offsetParent).map(button => {
                const box = button.getBoundingClientRect(), pad = getComputedStyle(button).paddingRight;
                return [box.top, box.right - parseFloat(pad)];
              })]"""
        )
        assert len({top for top, _ in ends}) == 1
        assert abs(max(end for _, end in ends) - edge) <= 1


def test_p1_a_passing_fault_is_tried_again_with_the_same_id_later_and_later(form: Stage) -> None:
    first = say(form, "Hold the room")
    times = [first["at"]]
    for code in ("unavailable", "too_fast"):
        refuse(form, first, code, retry=True)
        again = form.wait_for("message")
        assert again["id"] == first["id"]
        times.append(again["at"])
    # No load can make a timer early.
    assert times[1] - times[0] > 700
    assert times[2] - times[1] > 1400
    expect(own(form)).to_have_attribute("data-state", "sending")
    form.push({"type": "ack", "id": first["id"], "seq": len(form.talk.rows)})
    expect(own(form)).to_have_count(0)


def test_p1_signing_in_is_a_link_that_comes_back_to_what_was_written(form: Stage) -> None:
    reached(form, known=False, person="")
    go = form.page.get_by_role("button", name="Go")
    go.click()
    form.wait_for("action")
    form.page.evaluate("drop(4401)")
    expect(form.page.locator("#toasts")).to_contain_text("Not confirmed: you were signed out.")
    expect(go).not_to_have_attribute("aria-busy", "true")
    form.page.fill("#msg", "Hold the room")
    form.page.keyboard.press("Enter")
    expect(own(form)).to_contain_text("Not sent: you were signed out.")
    expect(offered(own(form))).to_have_text(["Sign in", "Edit"])
    link = own(form).get_by_role("link", name="Sign in")
    expect(link).to_have_attribute("href", "/accounts/login/?next=%2Fchat%2Fcur%2F")
    form.page.unroute("**/chat/reach")
    reload(form)
    expect(offered(own(form))).to_have_text(["Try again", "Edit"])
    # Signed in by another tab, it would have been enough to come back to this one.
    reached(form, known=False, person="")
    form.page.evaluate("drop(4401)")
    notes(form, "signed out")
    form.page.unroute("**/chat/reach")
    form.page.evaluate("dispatchEvent(new Event('focus'))")
    form.greet()
    expect(offered(own(form))).to_have_text(["Try again", "Edit"])


def test_p1_what_must_not_come_later_is_told_instead(form: Stage) -> None:
    """A stop would stop something else by then, and after a reload a decision may be another one."""
    form.row(form.talk.turn(2))
    stop = form.page.get_by_role("button", name="Stop")
    stop.click()
    form.wait_for("stop")
    form.page.evaluate("drop(1006)")
    expect(form.page.locator("#toasts")).to_contain_text("Not confirmed: there is no connection.")
    form.greet()
    expect(stop).not_to_have_attribute("aria-busy", "true")
    form.row(form.talk.ask(turn=2, expires=None))
    form.row(form.talk.turn(2, "suspended"))
    form.page.get_by_role("button", name="Approve").click()
    form.wait_for("decide")
    assert len(sent(form, "stop")) == 1
    reload(form)
    card = form.page.locator(".b-approval")
    expect(card.get_by_role("alert")).to_have_text("Not confirmed: the page was loaded again. Choose again.")
    expect(card.get_by_role("button", name="Approve")).to_be_enabled()
    assert sent(form, "decide") == []


def test_p1_what_the_log_has_is_not_sent_again_after_a_reload(form: Stage) -> None:
    """The answer was lost, the row was not: it is on the page that the server draws."""
    message = say(form, "Hold the room")
    form.talk.me("Hold the room", id=message["id"])
    reload(form)
    assert sent(form, "message") == []
    expect(form.page.locator(".b-me", has_text="Hold the room")).to_have_count(1)


# -- fields and drafts ------------------------------------------------------------------------------------------------


def test_p2_the_draft_follows_the_first_message_into_its_conversation(
    make_server: Callable[..., Server], desk: Desk
) -> None:
    server = make_server(environ=QUICK)
    page = desk.page()
    box = page.locator("#msg")
    page.goto(f"{server.url}/")
    say_and_wait(page, "Hello")
    box.fill("And half a sen")
    settled(page)
    begun = page.url
    page.goto(f"{server.url}/?new")
    expect(box).to_have_value("")
    box.fill("Something else")
    page.reload()
    expect(box).to_have_value("Something else")
    page.goto(begun)
    expect(box).to_have_value("And half a sen")
    other = desk.page()
    other.goto(begun)
    expect(other.locator("#status")).to_have_attribute("data-state", "connected")
    expect(other.locator("#msg")).to_have_value("")


def test_p2_who_signs_in_takes_along_what_they_wrote_before_and_the_next_person_does_not(form: Stage) -> None:
    refuse(form, say(form, "Hold the room"))
    form.page.fill("#msg", "And a ta")
    record = form.page.evaluate("sessionStorage['beach:user:1:cur']")
    form.page.goto("about:blank")
    # As a guest, in this tab; then signed in, with something of one's own from before.
    form.page.add_init_script(
        f"if (location.host && !sessionStorage.done) {{ sessionStorage.clear(); sessionStorage.done = 1;"
        f" sessionStorage['beach::cur'] = {json.dumps(record)};"
        " sessionStorage['beach:user:1:cur'] = '{\"draft\": \"Mine\"}';"
        " sessionStorage['beach:user:2:cur'] = '{\"draft\": \"Of somebody else\"}'; }"
    )
    form.page.goto(form.url)
    expect(form.page.locator("#msg")).to_have_value("And a ta\n\nMine")
    expect(own(form)).to_contain_text("Hold the room")
    form.page.reload()
    expect(form.page.locator("#msg")).to_have_value("And a ta\n\nMine")
    expect(own(form)).to_have_count(1)


def test_p3_a_field_over_the_limit_of_a_frame_is_refused_here_and_settles(form: Stage) -> None:
    form.label("Q").fill("x" * 5000)
    form.label("Pin").focus()
    expect(form.page.get_by_role("alert")).to_contain_text(
        "Not sent: it is larger than 128 kB, which is the limit."
    )
    assert sent(form, "edit") == []
    reload(form)
    expect(form.label("Q")).to_have_value("x" * 5000)
    expect(form.page.get_by_role("alert")).to_contain_text("which is the limit")
    form.label("Q").fill("old")
    form.label("Pin").focus()
    form.wait_for("edit")
    form.label("Q").fill("new")
    form.label("Pin").focus()
    form.wait_for("edit")
    # A newer edit replaces the older ones, refused, sent or not.
    form.page.evaluate("drop(1006)")
    form.greet()
    assert [m["value"] for m in sent(form, "edit") if m["socket"] == 1] == ["new"]
    # Nobody has said yet that it arrived.
    reload(form)
    assert [m["value"] for m in form.sync() if m["type"] == "edit"] == ["new"]
    reload(form)
    assert form.sync() == []


def test_p3_what_is_obscured_is_never_written_down(form: Stage) -> None:
    form.label("Pin").fill("hunter2")
    form.label("Q").focus()
    assert form.wait_for("edit")["value"] == "hunter2"
    form.label("Pin").fill("hunter3" * 1000)
    form.label("Q").focus()
    expect(form.page.get_by_role("alert")).to_contain_text("which is the limit")
    assert "hunter" not in form.page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")


def test_s4_a_message_over_the_limit_of_a_frame_is_refused_here_and_settles(form: Stage) -> None:
    # Characters are fewer than bytes: within the limit of a message, over that of a frame.
    form.page.evaluate("panel.dataset.frameLimit = 300")
    form.page.fill("#msg", "🏖" * 100)
    form.page.keyboard.press("Enter")
    expect(own(form)).to_have_attribute("data-state", "refused")
    expect(offered(own(form))).to_have_text(["Edit"])
    form.page.evaluate("drop(1006)")
    form.greet()
    assert sent(form, "message") == []


# -- buttons ----------------------------------------------------------------------------------------------------------


def test_p6_a_double_click_on_a_button_that_sends_counts_once(form: Stage) -> None:
    twice = "button => { button.click(); button.click(); }"
    form.row(form.talk.turn(2))
    form.row(form.talk.part("clarify", "Which one?", {"choices": ["Kastrup", "Either"]}, turn=2))
    chip = form.page.get_by_role("button", name="Kastrup")
    chip.dblclick()
    chip.evaluate(twice)
    message, *others = sent(form, "message")
    assert others == []
    refuse(form, message)
    # Both clicks on the button itself: where it stood there may be something else by the second.
    own(form).locator("[data-for=refused] [data-again]").evaluate(twice)
    assert [m["id"] for m in sent(form, "message")] == [message["id"]] * 2
    form.page.get_by_role("button", name="Stop").evaluate(twice)
    assert len(sent(form, "stop")) == 1
    # Once it is refused, the suggestion counts again.
    refuse(form, message)
    chip.click()
    assert len(sent(form, "message")) == 3


def test_p6_one_press_counts_once_however_quick_the_answer_is(form: Stage) -> None:
    go, mouse, keyboard = form.page.get_by_role("button", name="Go"), form.page.mouse, form.page.keyboard

    def answered() -> None:
        message = form.wait_for("action")
        form.push({"type": "ack", "id": message["id"], "seq": len(form.talk.rows)})
        expect(go).not_to_have_attribute("aria-busy", "true")

    box = go.bounding_box()
    assert box
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse.click(*at)
    answered()
    mouse.down(click_count=2)
    mouse.up(click_count=2)
    assert len(sent(form, "action")) == 1
    go.focus()
    keyboard.down("Enter")
    answered()
    # The second and third without a key up between them are what a held key repeats.
    keyboard.down("Enter")
    keyboard.down("Enter")
    keyboard.up("Enter")
    assert len(sent(form, "action")) == 2
    keyboard.press("Enter")
    answered()
    mouse.click(*at)
    answered()


def test_p6_a_press_that_was_under_way_does_not_decide(form: Stage) -> None:
    """The card comes in under the pointer, or under a key that is held down."""
    form.row(form.talk.turn(2))
    form.row(form.talk.ask(turn=2, expires=None))
    form.row(form.talk.turn(2, "suspended"))
    approve = form.page.get_by_role("button", name="Approve")
    mouse, keyboard = form.page.mouse, form.page.keyboard
    approve.hover()
    mouse.down(click_count=2)
    mouse.up(click_count=2)
    form.page.locator("#msg").focus()
    keyboard.down("Enter")
    approve.focus()
    keyboard.down("Enter")
    keyboard.up("Enter")
    assert sent(form, "decide") == []
    keyboard.press("Enter")
    form.wait_for("decide")


def test_p1_a_form_that_is_refused_for_an_old_token_says_so_and_gets_a_new_one(
    form: Stage, desk: Desk
) -> None:
    desk.allow("403")
    form.page.route("**/theme", lambda route: route.fulfill(status=403, body="<p>CSRF</p>"))
    form.page.get_by_role("button", name="Settings").click()
    form.page.get_by_role("button", name="Dark", exact=True).click()
    expect(form.page.locator("#toasts")).to_contain_text("Your sign-in has changed. Try again.")
    values = form.page.locator("[name=csrfmiddlewaretoken]").evaluate_all("all => all.map(e => e.value)")
    assert set(values) == {"fresh"}


# -- how a connection ends --------------------------------------------------------------------------------------------


def test_s3_a_close_for_another_login_comes_back_at_once_and_sends_again(form: Stage) -> None:
    first = say(form, "Hold the room")
    # No back-off: the next socket is there before anything else can happen.
    assert form.page.evaluate("drop(4411); stage.sockets.length") == 2
    assert form.greet()["socket"] == 1
    assert [m["id"] for m in sent(form, "message")] == [first["id"]] * 2


def test_s5_a_page_that_is_told_to_load_again_does_so_once(form: Stage) -> None:
    with form.page.expect_navigation():
        form.page.evaluate("drop(4410)")
    form.read = 0
    form.greet()
    say(form, "Hold the room")
    form.page.evaluate("drop(4410)")
    notes(form, "This page is out of date.")
    expect(form.page.get_by_role("link", name="Load it again")).to_be_visible()
    expect(own(form)).to_contain_text("Hold the room")


def test_p15_words_say_what_is_known(form: Stage) -> None:
    status = form.page.locator("#status")
    form.page.evaluate("stage.refuse = 2; drop(1012)")
    expect(status).to_have_text(
        re.compile(r"^Reconnecting… \(attempt \d\)$"), use_inner_text=True, timeout=10_000
    )
    form.greet()
    expect(status).to_have_text("Connected", use_inner_text=True)
    say(form, "Hold the room")
    form.page.evaluate("drop(4403)")
    expect(own(form)).to_contain_text("Not confirmed: this conversation is no longer open to you.")
    form.page.fill("#msg", "And a taxi")
    form.page.keyboard.press("Enter")
    expect(own(form).last).to_contain_text("Not sent: this conversation is no longer open to you.")
    # Nothing waits for a connection that will not come.
    said = form.page.locator("body").inner_text()
    assert "will be sent" not in said
    assert "Waiting for the connection" not in said
    assert "wait here" not in said


def test_s16_an_address_that_is_not_allowed_is_named(form: Stage) -> None:
    reached(form, origin=False)
    form.page.evaluate("stage.refuse = 9; drop(1006)")
    notes(form, "This address is not allowed to connect.")
    assert form.status() == "offline"


def sign_in_elsewhere(desk: Desk, server: Server, name: str) -> None:
    other = desk.page()
    login(other, server, name, "a sound password", then="/healthz")
    other.close()


def test_p1_what_one_person_wrote_or_pressed_is_not_sent_as_another(site: Server, desk: Desk) -> None:
    """grace may look at every conversation and decide in it; alma has left her pages open, without a connection."""
    desk.allow(r"WebSocket|ERR_|Failed to (load|fetch)")
    desk.context.add_init_script("""
        const Real = WebSocket;
        window.WebSocket = class extends Real {
          constructor(url) { super(url); window.last = this; if (window.away) this.close(); }
        };
    """)
    page = desk.page()
    login(page, site, "alma", "a sound password", then="/healthz")
    page.goto(f"{site.url}/?new")
    say_and_wait(page, BOOK)
    approval = page.locator(".b-approval")
    expect(approval).to_have_attribute("data-state", "pending", timeout=20_000)
    settled(page)
    unbegun = desk.page()
    unbegun.goto(f"{site.url}/?new")
    expect(unbegun.locator("#status")).to_have_text("Ready", use_inner_text=True)
    page.route("**/chat/reach", lambda route: route.abort())
    page.evaluate("window.away = true; last.close()")
    approval.get_by_role("button", name="Approve").click()
    page.fill("#msg", "Between us")
    page.keyboard.press("Enter")
    sign_in_elsewhere(desk, site, "grace")
    page.unroute("**/chat/reach")
    page.evaluate("window.away = false; dispatchEvent(new Event('focus'))")
    unbegun.fill("#msg", "Also between us")
    unbegun.keyboard.press("Enter")
    # Whether the message was handed to the socket that was closing just then is known to that page alone.
    for tab, unsent in ((page, "Not (confirmed|sent)"), (unbegun, "Not sent")):
        expect(tab.locator("#status")).to_have_text("Signed out", use_inner_text=True, timeout=20_000)
        expect(tab.locator("#tail .b-me")).to_contain_text(re.compile(rf"{unsent}: you were signed out\."))
    expect(approval).to_have_attribute("data-state", "pending")
    # Another page in the same tab shows nothing of it, until alma is back.
    unbegun.goto(f"{site.url}/?new")
    expect(unbegun.locator("#status")).to_have_text("Ready", use_inner_text=True)
    expect(unbegun.locator("#tail .b-me")).to_have_count(0)
    sign_in_elsewhere(desk, site, "alma")
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator("#status")).to_have_text("Connected", use_inner_text=True, timeout=20_000)
    expect(approval).to_have_attribute("data-state", "pending")
    page.locator("#tail .b-me").get_by_role("button", name="Try again").click()
    expect(page.locator("#thread > .b-me", has_text="Between us")).to_have_count(1, timeout=20_000)


def test_a_page_too_many_says_so_and_goes_on_as_soon_as_there_is_room(form: Stage) -> None:
    for opened in range(1, 3):
        form.page.evaluate("drop(4429)")
        form.page.wait_for_function("count => stage.sockets.length > count", arg=opened)
        form.wait_for("hello")
    form.page.evaluate("drop(4429)")
    notes(form, "Too many pages of this site are open.")
    form.page.get_by_role("button", name="Try now").click()
    form.page.wait_for_function("() => stage.sockets.length > 3")
    form.greet()
    expect(form.page.locator("#note")).to_be_hidden()
    assert form.status() == "connected"
