"""All hostile texts in real Chromium, in every place of the engine and of the panel: nothing runs, nothing loads.

One page holds all of them; it is opened with the policy switched off (so that only the sanitising protects) and on
(where nothing may even be tried).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from envelopes.transports.panel.presenter.thread import Thread
from tests.a2ui import test_xss as engine
from tests.browser.conftest import Desk
from tests.browser.stage import FAKE_SOCKET, render, serving
from tests.envelopes.transports.panel.talk import Talk, surface
from tests.shared import needs_shared, xss_payloads

pytestmark = [pytest.mark.shared, needs_shared]

ALARM = """
window.ran = [];
window.xss = (...given) => { window.ran.push(String(given)); };
for (const name of ['alert', 'confirm', 'prompt']) window[name] = given => { window.ran.push(`${name} ${given}`); };
"""
HANDLERS = """
() => [...document.querySelectorAll('*')].flatMap(e => [...e.attributes].map(a => a.name)
  .filter(name => name.startsWith('on') || name === 'srcdoc'))
"""
ADDRESSES = """
() => [...document.querySelectorAll('[href], [src], [action], [formaction], [poster], [data]')].flatMap(e =>
  ['href', 'src', 'action', 'formaction', 'poster', 'data'].filter(n => e.hasAttribute(n))
    .map(n => e[n]?.baseVal ?? String(e[n])))
"""


def payloads() -> list[dict[str, Any]]:
    return [param.values[0] for param in xss_payloads()]


def in_the_panel(talk: Talk, text: str, number: int) -> None:
    """Everything of an agent that the panel draws itself."""
    turn = number + 1
    talk.me(text)
    talk.turn(turn)
    for kind in ("ack", "thinking", "response", "clarify", "error"):
        talk.part(kind, text, turn=turn)
    talk.part("citation", data={"path": text, "title": text, "url": text, "quote": text}, turn=turn)
    talk.part(
        "domain-data",
        data={text: text, "rows": [{text: text, "n": 1}, {text: [text]}]},
        turn=turn,
        dataKind=text,
    )
    talk.part(
        "progress", data={"id": text, "label": text, "current": 1, "total": 2, "status": text}, turn=turn
    )
    artifact = {"artifactId": text, "mimeType": text, "sizeBytes": 1, "name": text, "url": text}
    talk.part("artifact", data=artifact, turn=turn)
    talk.part("response", text, turn=turn, partId=text, slotKey=text)
    talk.ask(
        f"{text}{number}", turn=turn, args={text: text, "list": [text]}, question=text, why=text, risk=text
    )
    talk.decide("denied", f"{text}{number}", turn=turn, reason=text, decidedByName=text)
    talk.part(
        "a2ui-surface", data=surface(text, {"id": "root", "component": "Text", "text": text}), turn=turn
    )
    talk.row("action", {"label": text, "action": {"name": text}}, turn=turn)
    talk.settle(turn)


def panel_page(entries: list[dict[str, Any]]) -> Callable[[], str]:
    # Drawn whole, without a page of earlier messages, and read by the browser.
    talk = Talk(follows=False)
    talk.thread = Thread(talk.context, sys.maxsize)
    for number, entry in enumerate(entries):
        in_the_panel(talk, entry["payload"], number)
    return lambda: render(talk)


def engine_page(entries: list[dict[str, Any]]) -> Callable[[], str]:
    body = "".join(engine.PLACES[place][0](entry["payload"]) for entry in entries for place in engine.PLACES)
    return lambda: (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><main>{body}</main></html>'
    )


PAGES = {"engine": engine_page, "panel": panel_page}


def poke(page: Page) -> None:
    """What a person might do that wakes something up: hover, focus, scroll."""
    page.evaluate("""() => { for (const e of document.querySelectorAll('*')) {
      for (const kind of ['mouseover', 'focus', 'pointerenter', 'animationstart', 'toggle'])
        e.dispatchEvent(new Event(kind));
    } }""")
    page.wait_for_timeout(300)


@pytest.mark.parametrize("policy", ["off", "on"])
@pytest.mark.parametrize("place", PAGES)
def test_nothing_runs_and_nothing_loads(open_desk: Callable[..., Desk], place: str, policy: str) -> None:
    # A policy only takes away, so where all of them did nothing without one, a third is enough with it.
    hostile = payloads()[:: 3 if (place, policy) == ("panel", "on") else 1]
    made = PAGES[place](hostile)
    desk = open_desk(bypass_csp=policy == "off")
    desk.context.add_init_script(ALARM)
    desk.context.add_init_script(FAKE_SOCKET)
    page = desk.page()
    foreign: list[str] = []
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    # Hosts that the engine's page allows for pictures are fetched from; they are answered here, not by the net.
    allowed = engine.HOSTS if place == "engine" else frozenset()

    def asked(route: Any) -> None:
        host = urlsplit(route.request.url).hostname
        if host == "127.0.0.1":
            route.continue_()
            return
        if host not in allowed:
            foreign.append(route.request.url)
        route.abort()

    page.route("**/*", asked)
    if allowed:
        desk.allow(
            "Failed to load resource|policy: (img|media)-src blocked https?://(ok|evil|benign)|Loading the|violates"
        )
        desk.allow("ERR_FAILED|404")
    else:
        desk.allow("404")
    with serving(made) as url:
        page.goto(url, wait_until="load")
        assert place != "panel" or page.locator("#thread .b-me").count() == len(hostile)
        poke(page)

        assert page.evaluate("window.ran") == []
        assert dialogs == []
        assert foreign == []
        assert page.evaluate(HANDLERS) == []
        schemes = {urlsplit(address).scheme for address in page.evaluate(ADDRESSES)}
        assert schemes <= {"", "http", "https", "mailto", "data", "blob"}
        assert page.url.startswith(url)
        violations = [
            p
            for p in desk.problems
            if p.startswith("console error: policy: ") and "img-src" not in p and "media-src" not in p
        ]
        assert violations == []


def test_the_alarm_would_ring(open_desk: Callable[..., Desk]) -> None:
    """The page does run script where something gets through: otherwise the test above says nothing."""
    desk = open_desk(bypass_csp=True)
    desk.context.add_init_script(ALARM)
    page = desk.page()
    with serving(
        lambda: "<!doctype html><title>t</title><img src=x onerror=xss(1)><script>xss(2)</script>"
    ) as url:
        desk.allow("404")
        page.goto(url)
        page.wait_for_function("window.ran.length === 2")
