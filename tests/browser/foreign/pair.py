"""The panel and the foreign page side by side at one conversation, and what both have to show."""

from __future__ import annotations

import copy
import random
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Route, expect

from tests.browser.conftest import Desk
from tests.browser.foreign.app.beach import FIRST, row
from tests.browser.foreign.building import built
from tests.browser.test_main_job import open_chat, say, settled
from tests.liveserver import Server

FOREIGN = {"DJANGO_SETTINGS_MODULE": "tests.browser.foreign.app.settings", "BEACH_SCRIPT_PACE": "20000"}

SHOWN = """surface => [
  ...surface.querySelectorAll('input:not([type=checkbox])')].map(field => field.value).concat(
  [...surface.querySelectorAll('input[type=checkbox]')].map(box => box.checked))"""
"""Every field and then every box, in order."""


class Pair:
    """``model`` is what both have to show."""

    def __init__(self, desk: Desk, server: Server) -> None:
        self.server = server
        self.model: dict[str, Any] = copy.deepcopy(FIRST)
        self.panel = desk.page()
        open_chat(self.panel, server)
        say(self.panel, "Show me the list")
        settled(self.panel)
        desk.context.route("**/foreign/*", serve)
        self.foreign = desk.page()
        session = re.split(r"[/?#]", self.panel.url.removeprefix(server.url).strip("/"))[-1]
        token = self.panel.locator("[name=csrfmiddlewaretoken]").first.input_value()
        self.foreign.goto(f"{server.url}/foreign/index.html?session={session}&csrf={token}")
        self.live()

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
        values = [self.model["title"], *(one["note"] for one in rows), *(one["done"] for one in rows)]
        words = [self.model["title"], *(one["words"] for one in rows)]
        for name, page in (("panel", self.panel), ("foreign", self.foreign)):
            surface = self.side(name)
            page.wait_for_function(
                f"([surface, values]) => JSON.stringify(({SHOWN})(surface)) === values",
                arg=[surface.element_handle(), _json(values)],
            )
            text = surface.inner_text()
            places = [text.find(word) for word in words]
            assert -1 not in places and places[1:] == sorted(places[1:]), (name, words, text)
        assert self.foreign.locator("body").get_attribute("data-problem") is None

    def step(self, chance: random.Random) -> str:
        """One thing that somebody does on either side; both show it. Says what."""
        side, rows = chance.choice(["panel", "foreign"]), self.model["rows"]
        ways = ["note", "done", "up", "remove"] if len(rows) > 1 else ["add"]
        way = chance.choice([*ways, "title", "add", "shout"] if len(rows) < 6 else ways)
        at = chance.randrange(len(rows)) if rows else 0
        surface = self.side(side)
        if way in ("note", "title"):
            self._write(surface, way, at, f"{way} {chance.randrange(1000)}")
        elif way == "done":
            surface.get_by_label("Done").nth(at).click()
            rows[at]["done"] = not rows[at]["done"]
        else:
            self._press(surface, way, at)
        self.same()
        return f"{side}: {way} {at}"

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
                self.model["title"] = self.model["title"].upper()


def serve(route: Route) -> None:
    """The foreign page's files, at the site's own address."""
    name = route.request.url.split("?")[0].rsplit("/", 1)[-1]
    folder = built()
    file: Path = folder / "build" / name if name.endswith(".js") else folder / name
    kind = "text/javascript" if name.endswith(".js") else "text/html; charset=utf-8"
    route.fulfill(body=file.read_bytes(), content_type=kind)


def _json(values: list[Any]) -> str:
    import json

    return json.dumps(values, separators=(",", ":"), ensure_ascii=False)
