"""Files that go along with a message: chosen, dropped, pasted, taken away, sent with progress, refused, lost (R12)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from tests.browser.conftest import Desk
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.browser.test_main_job import settled
from tests.envelopes.transports.panel.talk import Talk
from tests.liveserver import Server

KEPT = re.compile(r"/api/sessions/cur/artifacts$")


def file(name: str, size: int = 12) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": b"x" * size}


@pytest.fixture
def stage(desk: Desk) -> Iterator[Stage]:
    desk.context.add_init_script(FAKE_SOCKET)
    talk = Talk()
    talk.me("Hi")
    with serving(lambda: render(talk)) as url:
        stage = Stage(desk.page(), url, talk)
        stage.open()
        yield stage


def chips(page: Page) -> Locator:
    return page.get_by_role("list", name="Files that go with the message").get_by_role("listitem")


def choose(page: Page, *files: FilePayload, refused: bool = False) -> None:
    page.get_by_label("Attach files").set_input_files(list(files))
    if not refused:
        expect(chips(page).last).to_contain_text(files[-1]["name"])


def own(page: Page) -> Locator:
    return page.locator("#tail .b-me")


def answer(page: Page, *statuses: int) -> list[Route]:
    """Answer uploads with these, one after the other; the last one goes on. Returns those that have come."""
    came: list[Route] = []

    def fulfil(route: Route) -> None:
        status = statuses[min(len(came), len(statuses) - 1)]
        came.append(route)
        told: dict[str, Any] = {"code": "too_large", "message": "The files have no room here."}
        route.fulfill(status=status, json={"artifactId": f"f{len(came)}"} if status == 201 else told)

    page.route(KEPT, fulfil)
    return came


def test_files_are_chosen_taken_away_by_keyboard_and_sent_before_a_conversation_has_begun(
    site: Server, page: Page, tmp_path: Path
) -> None:
    page.goto(f"{site.url}/?new")
    send = page.get_by_role("button", name="Send", exact=True)
    expect(send).to_be_disabled()
    choose(page, file("rules.txt", 96_000), file("not this.txt"))
    choose(page, file("passport.txt"))
    expect(chips(page)).to_have_text(
        [re.compile(r"rules\.txt\s*96 kB"), re.compile("not this"), re.compile("passport")]
    )
    expect(page.locator("#composer")).to_contain_text("At most 10 files, 25.0 MB each.")
    # They are enough for a message.
    expect(send).to_be_enabled()
    chips(page).get_by_role("button", name="Remove not this.txt").focus()
    page.keyboard.press("Enter")
    expect(chips(page)).to_have_count(2)
    expect(chips(page).get_by_role("button", name="Remove passport.txt")).to_be_focused()
    page.fill("#msg", "Read these")
    page.keyboard.press("Enter")
    message = page.locator("#thread > .b-me").last
    expect(message).to_contain_text("Read these", timeout=20_000)
    expect(message.locator(".b-file__name")).to_have_text(["rules.txt", "passport.txt"])
    expect(own(page)).to_have_count(0)
    expect(chips(page)).to_have_count(0)
    settled(page)
    with page.expect_download() as started:
        message.get_by_role("link", name="Download rules.txt").click()
    assert Path(started.value.path()).read_bytes() == b"x" * 96_000
    page.reload()
    expect(page.locator("#thread .b-me .b-file__name")).to_have_text(["rules.txt", "passport.txt"])


DROP = """([type, files, more]) => {
  const carried = new DataTransfer();
  for (const [name, text] of files) carried.items.add(new File([text], name));
  for (const kind of more) carried.setData(kind, 'words');
  const options = { clipboardData: carried, dataTransfer: carried, bubbles: true, cancelable: true };
  const event = type === 'paste' ? new ClipboardEvent(type, options) : new DragEvent(type, options);
  return !document.querySelector('#msg').dispatchEvent(event);
}"""


def test_files_are_dropped_anywhere_and_pasted_and_text_is_pasted_as_text(stage: Stage) -> None:
    page = stage.page
    # What is not prevented is done by the browser: it would leave the page for a file that is dropped on it.
    over = ["dragover", [["a.txt", "a"]], []]
    assert page.evaluate(DROP, over)
    # It comes again and again while somebody drags, and what shows where to has come with the first.
    shown = "document.querySelector('#composer').dataset.over === ''"
    page.wait_for_function(f"over => {{ ({DROP})(over); return {shown} }}", arg=over)
    expect(page.locator("#composer")).to_have_attribute("data-over", "")
    assert page.evaluate(DROP, ["drop", [["a.txt", "a"]], []])
    expect(chips(page)).to_have_text([re.compile(r"a\.txt\s*1 byte")])
    expect(page.locator("#composer")).not_to_have_attribute("data-over", "")
    assert page.evaluate(DROP, ["paste", [["image.png", "p"]], ["text/html"]])
    expect(chips(page)).to_have_count(2)
    # A document brings a picture of what was copied.
    assert not page.evaluate(DROP, ["paste", [["image.png", "p"]], ["text/plain", "text/html"]])
    assert not page.evaluate(DROP, ["paste", [], ["text/plain"]])
    assert not page.evaluate(DROP, ["dragover", [], ["text/plain"]])
    expect(chips(page)).to_have_count(2)


def test_limits_are_said_before_anything_is_sent(stage: Stage) -> None:
    page = stage.page
    choose(page, file("large.txt", 1001), file("a.txt"))
    expect(page.locator("#toasts")).to_contain_text("large.txt is larger than 1 kB, which is the limit.")
    expect(chips(page)).to_have_text([re.compile(r"a\.txt")])
    choose(page, file("b.txt"), file("c.txt"), file("d.txt"), refused=True)
    expect(page.locator("#toasts")).to_contain_text("At most 3 files go with one message.")
    expect(chips(page)).to_have_count(3)


def test_they_go_one_after_the_other_and_their_message_names_them(stage: Stage) -> None:
    page, held = stage.page, list[Route]()
    # Playwright marks what it calls, and no method of a list.
    page.route(KEPT, lambda route: held.append(route))  # noqa: PLW0108
    choose(page, file("a.txt"), file("b.txt"))
    page.fill("#msg", "Look")
    page.keyboard.press("Enter")
    # Visible where the message is, and on its way.
    expect(own(page)).to_have_attribute("data-state", "sending")
    expect(own(page).locator(".b-file__name")).to_have_text(["a.txt", "b.txt"])
    expect(own(page).get_by_role("progressbar", name="Sending a.txt")).to_be_visible()
    expect(own(page).get_by_role("progressbar", name="Sending b.txt")).to_be_hidden()
    for number in range(2):
        page.wait_for_timeout(50)
        assert len(held) == number + 1
        request = held[number].request
        assert request.headers["x-csrftoken"]
        assert f'filename="{"ab"[number]}.txt"'.encode() in (request.post_data_buffer or b"")
        held[number].fulfill(status=201, json={"artifactId": f"f{number}"})
    sent = stage.wait_for("message")
    assert (sent["text"], sent["files"]) == ("Look", ["f0", "f1"])
    assert {*sent} == {"type", "id", "text", "files", "at", "socket"}


def test_what_fails_in_passing_is_tried_again_and_what_is_there_is_not_sent_twice(
    stage: Stage, desk: Desk
) -> None:
    desk.allow("503")
    desk.allow("403")
    page = stage.page
    came = answer(page, 201, 503, 403, 201)
    choose(page, file("a.txt"), file("b.txt"))
    page.keyboard.press("Tab")
    page.locator("#composer").evaluate("form => form.requestSubmit()")
    sent = stage.wait_for("message")
    assert (sent["text"], sent["files"]) == ("", ["f1", "f4"])
    # The token of a login that is another one was asked for anew.
    assert came[3].request.headers["x-csrftoken"] == "fresh"
    expect(own(page).locator(".b-me__text")).to_be_hidden()


def test_what_is_refused_or_stopped_is_back_in_the_persons_hands(stage: Stage, desk: Desk) -> None:
    desk.allow("413")
    page = stage.page
    answer(page, 201, 413)
    choose(page, file("a.txt"), file("b.txt"))
    page.fill("#msg", "Look")
    page.keyboard.press("Enter")
    expect(own(page)).to_contain_text("The files have no room here.")
    expect(own(page).locator(".b-linkbtn:visible")).to_have_text(["Edit"])
    own(page).get_by_role("button", name="Edit").click()
    expect(page.locator("#msg")).to_have_value("Look")
    expect(chips(page)).to_have_text([re.compile(r"a\.txt"), re.compile(r"b\.txt")])
    expect(own(page)).to_have_count(0)
    # The one that is there is not sent again, nor the one that is taken away.
    chips(page).get_by_role("button", name="Remove b.txt").click()
    page.locator("#composer").evaluate("form => form.requestSubmit()")
    assert stage.wait_for("message")["files"] == ["f1"]
    page.unroute(KEPT)
    page.route(KEPT, lambda route: None)
    choose(page, file("c.txt"))
    page.locator("#composer").evaluate("form => form.requestSubmit()")
    own(page).last.get_by_role("button", name="Stop sending c.txt").click()
    expect(own(page).last).to_contain_text("Not sent: you stopped it.")
    expect(own(page).last.locator(".b-linkbtn:visible")).to_have_text(["Try again", "Edit"])


def test_offline_they_wait_and_a_reload_that_lets_go_of_them_is_asked_about_and_said(stage: Stage) -> None:
    page = stage.page
    page.evaluate("stage.refuse = 99; drop(1006)")
    choose(page, file("a.txt"))
    page.locator("#msg").click()
    page.keyboard.type("Look")
    page.keyboard.press("Enter")
    expect(own(page)).to_contain_text("Waiting for the connection")
    expect(own(page).locator(".b-file__name")).to_have_text(["a.txt"])
    asked: list[str] = []

    def leave(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.once("dialog", leave)
    page.reload()
    assert asked == ["beforeunload"]
    stage.read = 0
    stage.greet()
    expect(own(page)).to_contain_text("Look")
    expect(own(page)).to_contain_text(
        "Not sent: the page was loaded again, which lets go of files. Attach them again: a.txt"
    )
    expect(own(page).locator(".b-linkbtn:visible")).to_have_text(["Edit"])
    own(page).get_by_role("button", name="Edit").click()
    expect(page.locator("#msg")).to_have_value("Look")
    assert [sent for sent in stage.sent() if sent["type"] == "message"] == []
    # Nothing is at stake any more.
    page.reload()


def test_a_module_that_does_not_come_is_told_of_and_asked_for_again(stage: Stage, desk: Desk) -> None:
    desk.allow("Failed to load resource|net::ERR")
    page = stage.page
    page.route("**/beach/files.js", lambda route: route.abort())
    choose(page, file("a.txt"), refused=True)
    expect(page.locator("#toasts")).to_contain_text("That didn’t work. Try again.")
    expect(chips(page)).to_have_count(0)


@pytest.mark.parametrize("way", ["keyboard", "touch"])
def test_the_button_is_reached(stage: Stage, open_desk: Callable[..., Desk], way: str) -> None:
    page = stage.page
    if way == "touch":
        phone = open_desk(viewport={"width": 390, "height": 844}, has_touch=True)
        phone.context.add_init_script(FAKE_SOCKET)
        page = phone.page()
        page.goto(stage.url)
    with page.expect_file_chooser() as opened:
        if way == "keyboard":
            page.get_by_label("Attach files").focus()
            page.keyboard.press("Enter")
        else:
            page.locator(".b-clip").tap()
    assert opened.value.is_multiple()
    box = page.locator(".b-clip").bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= (40 if way == "touch" else 24)
    long = "a name that somebody has given to what was scanned at home.txt"
    choose(page, file("b.txt"), file(long))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for chip in chips(page).all():
        around, inside = page.locator("#composer").bounding_box(), chip.bounding_box()
        assert around is not None
        assert inside is not None
        assert inside["x"] + inside["width"] <= around["x"] + around["width"]


def test_messages_do_not_overtake_one_that_waits_for_its_files(stage: Stage) -> None:
    page, held = stage.page, list[Route]()
    page.route(KEPT, lambda route: held.append(route))  # noqa: PLW0108
    choose(page, file("a.txt"))
    for words in ("This is the passport", "Use it now", "Thanks"):
        page.fill("#msg", words)
        page.keyboard.press("Enter")
    expect(own(page)).to_have_count(3)
    assert [bubble.get_attribute("data-state") for bubble in own(page).all()] == ["sending"] * 3
    page.wait_for_timeout(100)
    assert [sent for sent in stage.sent() if sent["type"] == "message"] == []
    # A lost connection changes nothing of it.
    page.evaluate("drop(1006)")
    stage.greet()
    page.wait_for_timeout(100)
    assert [sent for sent in stage.sent() if sent["type"] == "message"] == []
    held[0].fulfill(status=201, json={"artifactId": "f1"})
    sent = [stage.wait_for("message") for _ in range(3)]
    assert [one["text"] for one in sent] == ["This is the passport", "Use it now", "Thanks"]
    # Stopped, it is in the person's hands, which they see: what is behind it goes.
    choose(page, file("b.txt"))
    for words in ("One more", "Never mind"):
        page.fill("#msg", words)
        page.keyboard.press("Enter")
    own(page).get_by_role("button", name="Stop sending b.txt").click()
    assert stage.wait_for("message")["text"] == "Never mind"


def test_files_that_never_get_through_are_given_back_and_hold_up_nothing(stage: Stage, desk: Desk) -> None:
    desk.allow("503")
    page = stage.page
    page.clock.install()
    came = answer(page, 503)
    choose(page, file("a.txt"))
    for words in ("Look", "And this"):
        page.fill("#msg", words)
        page.keyboard.press("Enter")
    for attempt in range(1, 6):
        for _ in range(100):
            if len(came) >= attempt:
                break
            page.clock.run_for(1000)
    expect(own(page).first).to_contain_text("Not sent: the files did not get through.")
    expect(own(page).first.locator(".b-linkbtn:visible")).to_have_text(["Try again", "Edit"])
    assert stage.wait_for("message")["text"] == "And this"
    assert len(came) == 5


def test_who_was_signed_out_meanwhile_is_told_in_words_for_people(stage: Stage, desk: Desk) -> None:
    desk.allow("401")
    page = stage.page
    answer(page, 401)
    choose(page, file("a.txt"))
    page.locator("#composer").evaluate("form => form.requestSubmit()")
    expect(own(page)).to_contain_text("Not sent: you were signed out.")
    expect(own(page).locator(".b-linkbtn:visible")).to_have_text(["Try again", "Edit"])


def test_a_file_is_called_what_it_is_called(stage: Stage, desk: Desk) -> None:
    """Names that mean something to whoever puts texts together: to the page they are text."""
    page = stage.page
    odd = "$& {} $` <b>.txt"
    choose(page, file(odd))
    expect(chips(page).get_by_role("button", name=f"Remove {odd}", exact=True)).to_be_visible()
    choose(page, file(odd, 2000), refused=True)
    expect(page.locator("#toasts")).to_contain_text(f"{odd} is larger than 1 kB, which is the limit.")
    # What turns the direction of text would show another ending.
    choose(page, file("invoice\u202efdp.exe"), refused=True)
    expect(chips(page).last.locator("[data-name]")).to_have_text("invoicefdp.exe")
    expect(chips(page).get_by_role("button", name="Remove invoicefdp.exe", exact=True)).to_be_visible()
    # Where it is told, a very long one leaves room for what is said of it.
    choose(page, file("w" * 4000 + ".txt", 2000), refused=True)
    long = page.locator("#toasts .b-toast").last
    expect(long).to_have_text(re.compile(r"w{80}…w{16}\.txt is larger than 1 kB, which is the limit\."))


def test_a_drag_over_a_page_that_cannot_load_what_it_needs_is_told_of_once(stage: Stage, desk: Desk) -> None:
    desk.allow("Failed to load resource|net::ERR")
    page = stage.page
    page.route("**/beach/files.js", lambda route: route.abort())
    for _ in range(5):
        page.evaluate(DROP, ["dragover", [["a.txt", "a"]], []])
        page.wait_for_timeout(50)
    expect(page.locator("#toasts .b-toast")).to_have_count(1)


def test_where_no_door_keeps_files_a_drop_does_not_leave_the_page(stage: Stage) -> None:
    page = stage.page
    page.evaluate("delete document.querySelector('#panel').dataset.keep")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    assert page.evaluate(DROP, ["drop", [["a.txt", "a"]], []])
    page.wait_for_timeout(100)
    assert asked == []
    expect(page.locator("#toasts .b-toast")).to_have_count(0)
