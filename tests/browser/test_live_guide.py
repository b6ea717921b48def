"""The JavaScript client of docs/live-channel.md, run as it stands there in a page of the site."""

from __future__ import annotations

import re
from collections.abc import Callable

from beachsite.suite import ROOT
from tests.browser.conftest import QUICK, Desk
from tests.liveserver import Server

GUIDE = (ROOT / "docs" / "live-channel.md").read_text(encoding="utf-8")
(CODE,) = re.findall(r"```js\n(.*?)```", GUIDE, re.DOTALL)

BEGIN = """async () => {
  const csrf = document.querySelector('[name=csrfmiddlewaretoken]').value;
  const made = await fetch('/chat/new', {method: 'POST', headers: {'X-CSRFToken': csrf, Accept: 'application/json'}});
  const heard = window.heard = [];
  const session = (await made.json()).id;
  window.front = (%s)({site: location.origin, session, csrf, hear: (envelope) => heard.push(envelope)});
  await window.front.act('beach:message', {text: 'Find flights from London Gatwick to Corfu on 15 August for 2'});
}"""
SETTLED = "() => window.heard.filter((one) => one.payload?.event === 'settled').length >= %d"
SEQS = "window.heard.filter((one) => one.seq).map((one) => one.seq)"


def test_the_client_follows_acts_and_comes_back(make_server: Callable[..., Server], desk: Desk) -> None:
    server = make_server(environ=QUICK)
    desk.allow("WebSocket|ERR_CONNECTION")
    page = desk.page()
    page.goto(server.url)
    page.evaluate(BEGIN % CODE)
    page.wait_for_function(SETTLED % 1)
    # Text that is written comes before the part that replaces it.
    assert page.evaluate("window.heard.some((one) => !one.seq && one.payload.delta)")
    server.stop()
    server.start()
    page.evaluate("window.front.act('beach:message', {text: 'Thank you'})")
    page.wait_for_function(SETTLED % 2)
    seqs = page.evaluate(SEQS)
    assert seqs == list(range(1, len(seqs) + 1))
    page.evaluate("window.front.close()")
