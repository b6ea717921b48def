"""The panel and the foreign page side by side at one conversation, and what both have to show."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

from playwright.sync_api import Error, Locator, Page, expect

from tests.browser.conftest import Desk
from tests.browser.foreign.app.rows import FIRST, row
from tests.browser.test_main_job import say, settled
from tests.liveserver import Server

FOREIGN = {"DJANGO_SETTINGS_MODULE": "tests.browser.foreign.app.settings", "BEACH_SCRIPT_PACE": "20000"}

SHOWN = """surface => {
  const root = surface.shadowRoot ?? surface, all = kind => [...root.querySelectorAll(kind)];
  const words = [...root.children].map(element => element.innerText ?? '').join('\\n');
  return [
    words.trim().split('\\n')[0], words.match(/row \\d+/g) ?? [],
    all('input:not([type=checkbox])').map(field => field.value), all('input[type=checkbox]').map(box => box.checked)];
}"""
"""The title, the rows, every field, every box: all in order."""


def address(panel: Page, server: Server) -> str:
    """Of the foreign page, at the conversation that the panel shows."""
    session = re.split(r"[/?#]", panel.url.removeprefix(server.url).strip("/"))[-1]
    token = panel.locator("[name=csrfmiddlewaretoken]").first.input_value()
    return f"{server.url}/static/foreign/index.html?session={session}&csrf={token}"


class Pair:
    """``model`` is what both have to show."""

    def __init__(self, desk: Desk, server: Server) -> None:
        self.server = server
        self.model: dict[str, Any] = copy.deepcopy(FIRST)
        self.panel = desk.page()
        self.panel.goto(f"{server.url}/")
        say(self.panel, "Show me the list")
        settled(self.panel)
        self.foreign = desk.page()
        self.targets: list[Any] = []
        self.done: list[str] = []
        self.foreign.on("websocket", lambda socket: socket.on("framesent", self._sent))
        self.foreign.goto(address(self.panel, server))
        self.live()

    def _sent(self, frame: str | bytes) -> None:
        """Keeps how the foreign page names what somebody is at."""
        payload = json.loads(frame)["payload"]
        if payload.get("type") == "data:submit":
            self.targets.append(payload["payload"]["data"]["target"])

    def live(self) -> None:
        """The foreign page has what there is."""
        expect(self.foreign.locator("body")).to_have_attribute("data-state", "live", timeout=20_000)

    def side(self, name: str) -> Locator:
        return (
            self.panel.locator(".b-surface .a2-surface").last
            if name == "panel"
            else self.foreign.locator("a2ui-surface")
        )

    def same(self) -> None:
        """Both show the model."""
        rows = self.model["rows"]
        notes = [self.model["title"], *(one["note"] for one in rows)]
        wanted = [
            self.model["title"],
            [one["words"] for one in rows],
            notes,
            [one["done"] for one in rows],
        ]
        for name, page in (("panel", self.panel), ("foreign", self.foreign)):
            shown = f"([surface, wanted]) => JSON.stringify(({SHOWN})(surface)) === wanted"
            surface = self.side(name)
            try:
                page.wait_for_function(shown, arg=[surface.element_handle(), _json(wanted)])
            except Error as error:
                found = surface.evaluate(SHOWN)
                raise AssertionError(f"After {self.done[-4:]} {name} shows {found}, not {wanted}") from error
        assert self.foreign.locator("body").get_attribute("data-problem") is None

    def step(self, chance: random.Random) -> None:
        """One thing that somebody does on either side; both show it."""
        side, rows = chance.choice(["panel", "foreign"]), self.model["rows"]
        ways = ["note", "done", "up", "remove"] if len(rows) > 1 else ["add"]
        way = chance.choice([*ways, "title", "add", "shout"] if len(rows) < 6 else ways)
        # What changes nothing would be over before anybody can see that it is.
        at = chance.randrange(1 if way == "up" else 0, len(rows)) if rows else 0
        self.done.append(f"{side}: {way} {at}")
        surface = self.side(side)
        if way in ("note", "title"):
            self._write(surface, way, at, f"{way} {chance.randrange(1000)}")
        elif way == "done":
            surface.get_by_label("Done").nth(at).click()
            rows[at]["done"] = not rows[at]["done"]
        else:
            self._press(surface, way, at)
        self.same()

    def _write(self, surface: Locator, way: str, at: int, words: str) -> None:
        field = surface.locator("input:not([type=checkbox])").nth(0 if way == "title" else at + 1)
        field.fill(words)
        field.blur()
        if way == "title":
            self.model["title"] = words
        else:
            self.model["rows"][at]["note"] = words

    def _press(self, surface: Locator, way: str, at: int) -> None:
        rows = self.model["rows"]
        button = surface.get_by_role("button", name=way.capitalize(), exact=True)
        (button.nth(at) if way in ("up", "remove") else button).click()
        match way:
            case "add":
                rows.append(row(1 + max((one["id"] for one in rows), default=0)))
            case "remove":
                del rows[at]
            case "up":
                rows.insert(max(at - 1, 0), rows.pop(at))
            case _:
                self.model["title"] = f"{self.model['title'].upper()}!"


def _json(values: list[Any]) -> str:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False)
