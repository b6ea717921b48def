"""Every page by the rules of axe-core, best practices included: no findings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.conftest import Desk, login
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.browser.states import STATES, settled, wordy
from tests.browser.test_main_job import BOOK, SEARCH, open_chat, say
from tests.browser.test_main_job import settled as at_rest
from tests.liveserver import Server

SAMPLES = ("11-every-component", "17-own-catalog")


@pytest.fixture
def desk(open_desk: Callable[..., Desk]) -> Desk:
    """Without the page's policy, since axe tries out styles on the page; every other test holds it."""
    return axe_desk(open_desk)


def axe_desk(open_desk: Callable[..., Desk]) -> Desk:
    desk = open_desk(bypass_csp=True, reduced_motion="reduce")
    # Of a page that is left at once the picture of the tab may not come in time.
    desk.allow("mark.svg")
    return desk


def stage_of(page: Page, name: str) -> None:
    """The page of a conversation in a state, alive."""
    talk = STATES[name]()
    with serving(lambda: render(talk)) as url:
        stage = Stage(page, url, talk)
        stage.open()
        if name == "streaming":
            delta = {"type": "delta", "live": "1", "into": talk.thread.container(1), "partType": "response"}
            stage.push(delta | {"offset": 0, "text": "Hello"})
        stage.settle()


def test_p18_a_conversation_in_each_state(desk: Desk) -> None:
    desk.context.add_init_script(FAKE_SOCKET)
    page = desk.page()
    found = {}
    for name in STATES:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="light")
        stage_of(page, name)
        found[name] = findings(page)
        page.set_viewport_size({"width": 390, "height": 844})
        page.emulate_media(color_scheme="dark")
        found[f"{name}, dark, on a phone"] = findings(page)
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_p18_a_conversation_for_who_only_reads_and_one_of_long_words(desk: Desk) -> None:
    desk.context.add_init_script(FAKE_SOCKET)
    page = desk.page()
    for talk, may_write in ((settled(), False), (wordy(), True)):
        with serving(partial(render, talk, may_write=may_write)) as url:
            Stage(page, url, talk).open()
            assert findings(page) == []


def test_p18_regions_and_headings_of_a_conversation(desk: Desk) -> None:
    desk.context.add_init_script(FAKE_SOCKET)
    page = desk.page()
    stage_of(page, "settled")
    main = page.get_by_role("main")
    expect(main).to_have_count(1)
    expect(main.get_by_role("log", name="Conversation")).to_have_count(1)
    expect(main.get_by_role("textbox", name="Message")).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_role("region")).to_have_count(0)
    levels = [
        int(name[1])
        for name in page.locator("h1, h2, h3, h4, h5, h6").evaluate_all("all => all.map(h => h.localName)")
    ]
    assert all(below - above <= 1 for above, below in pairwise(levels)), levels


def test_p18_the_conversation_of_the_demo(site: Server, desk: Desk) -> None:
    page = desk.page()
    open_chat(page, site)
    assert findings(page) == []
    say(page, SEARCH)
    at_rest(page)
    assert findings(page) == []
    page.get_by_role("button", name="Settings").click()
    assert findings(page) == []


def test_p18_pages_around_the_conversation(site: Server, open_desk: Callable[..., Desk]) -> None:
    """Signing in, what is not there, the gallery with every component, the admin."""
    guest = axe_desk(open_desk)
    guest.allow("404|Failed to load")
    chat = guest.page()
    open_chat(chat, site)
    # Its form stands beside the question in the desk too.
    say(chat, SEARCH)
    at_rest(chat)
    say(chat, BOOK)
    expect(chat.locator(".b-approval")).to_have_attribute("data-state", "pending", timeout=20_000)
    found = {"asked": findings(chat)}
    for path in ("/accounts/login/", "/no-such-page"):
        chat.goto(f"{site.url}{path}")
        found[path] = findings(chat)
    page = axe_desk(open_desk).page()
    login(page, site, "grace", "a sound password", then="/admin/")
    found["admin"] = findings(page)
    lists = ["/admin/settings/", "/admin/password_change/"]
    lists += [f"/admin/envelopes/{name}/" for name in ("approval", "session", "turn", "toolcall", "artifact")]
    for path in [*lists, "/admin/demo/booking/", "/admin/auth/user/"]:
        page.goto(f"{site.url}{path}")
        found[path] = findings(page)
        one = page.locator(":is(#result_list, .dk-table) tbody th a").first
        if path != "/admin/demo/booking/" and one.count():
            with page.expect_navigation():
                one.click()
            if path.endswith("/approval/"):
                expect(page.locator(".dk-still input").first).to_be_attached()
            found[f"{path} one"] = findings(page)
            if path.endswith("/approval/"):
                address = page.url
                for name in ("edit", "history"):
                    page.goto(address.replace("/change/", f"/{name}/"))
                    found[f"{path} {name}"] = findings(page)
    with page.expect_navigation():
        page.get_by_role("link", name="Delete").click()
    found["delete"] = findings(page)
    page.goto(f"{site.url}/admin/auth/group/add/")
    found["group"] = findings(page)
    for sample in SAMPLES:
        page.goto(f"{site.url}/gallery/?sample={sample}")
        found[f"gallery {sample}"] = findings(page)
    assert len(found) >= 17
    assert {name: faults for name, faults in found.items() if faults} == {}
