"""The page's promise, as docs/architecture.md gives it: every row of its table, walked with a real server."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count, cycle

from playwright.sync_api import Locator, Page, expect

from beachsite.suite import ROOT
from tests.browser.conftest import Desk
from tests.browser.test_main_job import BOOK, QUICK, SEARCH, card, connected, say, settled
from tests.liveserver import PASSWORD, Server

NAME = "ann"
QUOTED = re.compile(r'"([^"]+)"')
# What a page holds its socket by, for a network that is gone at once.
CUT = """
window.opened = [];
window.WebSocket = class extends WebSocket { constructor(url) { super(url); opened.push(this); } };
window.cut = () => opened.forEach(socket => socket.close());
"""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    fault: str
    kinds: list[str]
    sees: list[str]
    places: list[str]
    then: str


def rows() -> list[Row]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("| what fails |")[1].split("\n\n")[0].splitlines()[2:]
    found = []
    for line in table:
        fault, kinds, sees, places, then = (cell.strip() for cell in line.strip("|").split("|"))
        found.append(Row(fault, kinds.split(", "), QUOTED.findall(sees), places.split(", "), then))
    return found


class Walk:
    """A person at a page, and what can fail around them."""

    def __init__(self, server: Server, desk: Desk) -> None:
        self.server = server
        self.desk = desk
        self.page = desk.page()
        self._numbers = count(1)
        self._passengers = cycle(range(2, 10))
        self._name = ""
        self._text = ""
        self._field = ""
        self._events = 0

    # -- the page -----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """A new page, without a conversation."""
        self.page.goto(f"{self.server.url}/?new")
        expect(self.page.locator("#status")).to_have_text("Ready", use_inner_text=True)

    def search(self) -> None:
        """A conversation with a card of fields and buttons."""
        self.begin()
        say(self.page, SEARCH)
        settled(self.page)

    def ready(self, row: Row) -> None:
        """A page on which everything of the row can be done."""
        self.be(NAME if row.fault == "signed out" else "")
        if row.kinds == ["first message"]:
            self.begin()
            return
        if self.page.locator(".b-surface").count() == 0:
            self.search()
        connected(self.page)
        settled(self.page)
        if "decision" in row.kinds and self._approval.count() == 0:
            say(self.page, BOOK)
            expect(self._approval).to_be_visible(timeout=20_000)
            settled(self.page)

    def be(self, name: str) -> None:
        """Signed in, or a stranger who has not been here before."""
        if name == self._name:
            return
        self.page.goto("about:blank")
        self.desk.context.clear_cookies()
        if name:
            self.page.goto(f"{self.server.url}/accounts/login/?next=/healthz")
            self.sign_in(self.page)
        self._name = name

    @property
    def _form(self) -> Locator:
        return card(self.page, "Refine this search")

    @property
    def _approval(self) -> Locator:
        return self.page.locator(".b-approval:has([data-decide])").last

    @property
    def bubble(self) -> Locator:
        words = self.page.get_by_text(self._text, exact=True)
        return self.page.locator("#tail .b-me").filter(has=words)

    # -- what a person does, where it is meanwhile, and that it has come once ---------------------------------------

    def do(self, kind: str) -> None:
        match kind:
            case "message" | "first message":
                self._text = f"Thank you {next(self._numbers)}"
                self.page.fill("#msg", self._text)
                self.page.keyboard.press("Enter")
            case "edit":
                self._field = str(next(self._passengers))
                self._form.get_by_label("Passengers").fill(self._field)
                self.page.keyboard.press("Tab")
            case "click":
                self._events = self.page.locator(".b-event").count()
                self._form.get_by_role("button", name="Search again").click()
            case "decision":
                self._approval.get_by_role("button", name="Deny").click()

    def is_in(self, place: str) -> None:
        again = self._form.get_by_role("button", name="Search again")
        match place:
            case "bubble":
                expect(self.bubble).to_be_visible()
            case "on its way":
                # It may be there by now: nothing but this page has to notice.
                words = self.page.get_by_text(self._text, exact=True)
                expect(self.page.locator(".b-me").filter(has=words)).to_have_count(1)
            case "field":
                expect(self._form.get_by_label("Passengers")).to_have_value(self._field)
            case "button":
                expect(again).to_have_attribute("aria-busy", "true")
            case "freed button":
                expect(again).not_to_have_attribute("aria-busy", "true")
            case "card":
                expect(self._approval).to_have_attribute("data-state", "deciding")
            case "freed card":
                expect(self._approval).to_have_attribute("data-state", "pending")
            case _:
                raise AssertionError(f"The table names a place that is not known here: {place}")

    def has_come(self, kind: str) -> None:
        match kind:
            case "message" | "first message":
                words = re.compile(f"^{self._text}$")
                expect(self.page.locator("#thread > .b-me > .b-me__text", has_text=words)).to_have_count(
                    1, timeout=20_000
                )
                expect(self.page.locator("#tail .b-me")).to_have_count(0)
            case "edit":
                expect(self._form).to_contain_text(f"{self._field} passengers", timeout=20_000)
            case "click":
                expect(self.page.locator(".b-event")).to_have_count(self._events + 1, timeout=20_000)
            case "decision":
                settled_cards = self.page.locator(".b-approval:not(:has([data-decide]))")
                expect(settled_cards.last).to_have_attribute("data-state", "denied", timeout=20_000)

    # -- what fails ---------------------------------------------------------------------------------------------------

    @contextmanager
    def offline(self) -> Iterator[None]:
        self.desk.context.set_offline(True)
        self.page.evaluate("cut()")
        yield
        self.desk.context.set_offline(False)

    @contextmanager
    def server_away(self) -> Iterator[None]:
        self.server.kill()
        yield
        self.back()

    @contextmanager
    def process_replaced(self) -> Iterator[None]:
        self.server.stop()
        yield
        self.back()

    def back(self) -> None:
        self.server.start()
        # The page comes back by itself, at once where somebody looks at it.
        self.page.evaluate("dispatchEvent(new Event('focus'))")

    @contextmanager
    def database_away(self) -> Iterator[None]:
        """As far as anything that a person does is concerned: SQLite has no connection to cut."""
        self.sql("ALTER TABLE envelopes_clientmessage RENAME TO gone")
        yield
        self.sql("ALTER TABLE gone RENAME TO envelopes_clientmessage")

    @contextmanager
    def signed_out(self) -> Iterator[None]:
        self.sql("DELETE FROM django_session")
        yield
        self.bubble.get_by_role("link", name="Sign in").click()
        self.sign_in(self.page)
        expect(self.page.locator("#status")).to_have_attribute("data-state", "connected")

    @contextmanager
    def signed_in_elsewhere(self) -> Iterator[None]:
        other = self.desk.page()
        other.goto(f"{self.server.url}/accounts/login/?next=/healthz")
        self.sign_in(other)
        other.close()
        self._name = NAME
        yield

    @contextmanager
    def token_stale(self) -> Iterator[None]:
        self.page.evaluate(
            "for (const field of document.getElementsByName('csrfmiddlewaretoken')) field.value = 'x'.repeat(64)"
        )
        yield

    @contextmanager
    def too_fast(self) -> Iterator[None]:
        # Each asks whether the connection lives.
        self.page.evaluate("for (let n = 0; n < 90; n++) dispatchEvent(new Event('focus'))")
        yield

    @contextmanager
    def conversation_closed(self) -> Iterator[None]:
        self.sql("UPDATE envelopes_participant SET user_id = NULL, owner_key = 'nobody' WHERE role = 'owner'")
        yield

    def sign_in(self, page: Page) -> None:
        page.fill("input[name=username]", NAME)
        page.fill("input[name=password]", PASSWORD)
        page.click("button[type=submit]")
        page.wait_for_url(re.compile(r"/(chat/\w+/|healthz|\?new)$"))

    def sql(self, statement: str) -> None:
        with closing(sqlite3.connect(self.server.data / "beach.sqlite3", timeout=20)) as database, database:
            database.execute(statement)

    # -- a row --------------------------------------------------------------------------------------------------------

    def walk(self, row: Row) -> None:
        special = SPECIAL.get((row.fault, row.kinds[0]))
        if special is not None:
            special(self, row)
            return
        self.ready(row)
        with getattr(self, row.fault.replace(" ", "_"))():
            for kind in row.kinds:
                self.do(kind)
            self.sees(row)
            for place in row.places:
                self.is_in(place)
            for action in QUOTED.findall(row.then.split(";")[0]):
                expect(self.bubble.locator(".b-linkbtn:visible", has_text=action)).to_have_count(1)
        if row.fault == "signed out":
            if "edit" in row.kinds:
                self.has_come("edit")
            self.bubble.get_by_role("button", name="Try again").click()
            self.has_come("message")
            for kind in row.kinds[2:]:
                self.do(kind)
                self.has_come(kind)
        elif row.fault == "conversation closed":
            self.bubble.get_by_role("button", name="Start a new one with this").click()
            expect(self.page.locator("#msg")).to_have_value(self._text)
            assert self.page.url.endswith("/?new")
        else:
            assert row.then == "sent by itself", row
            for kind in row.kinds:
                self.has_come(kind)

    def sees(self, row: Row) -> None:
        for words in row.sees:
            expect(self.page.locator("body")).to_contain_text(words, use_inner_text=True, timeout=20_000)

    def other_form(self, row: Row) -> None:
        self.begin()
        with self.token_stale():
            self.page.get_by_role("button", name="Settings").click()
            self.page.get_by_role("button", name="Dark", exact=True).click()
            self.sees(row)
        self.page.get_by_role("button", name="Dark", exact=True).click()
        expect(self.page.locator("html")).to_have_attribute("data-theme", "dark")

    def long_message(self, row: Row) -> None:
        self.begin()
        self.page.fill("#msg", "x" * 20_001)
        self.sees(row)
        self.page.keyboard.press("Enter")
        assert len(self.page.input_value("#msg")) == 20_001
        self.do("message")
        self.has_come("message")

    def long_edit(self, row: Row) -> None:
        self.search()
        card(self.page, "London Gatwick to Corfu").get_by_role("button", name="Select").first.click()
        settled(self.page)
        field = self.page.get_by_label(re.compile("Lead passenger")).last
        field.fill("x" * 150_000)
        self.page.keyboard.press("Tab")
        self.sees(row)
        assert len(field.input_value()) == 150_000
        field.fill("Ada Lovelace")
        self.page.keyboard.press("Tab")
        expect(self.page.locator(".a2-error", has_text=row.sees[0])).to_have_count(0)
        self.page.reload()
        connected(self.page)
        expect(field).to_have_value("Ada Lovelace")

    def loaded_again(self, row: Row) -> None:
        self.ready(row)
        with self.database_away():
            self.do("decision")
            self.is_in("card")
            self.page.reload()
            self.sees(row)
            self.is_in("freed card")
        self.do("decision")
        self.has_come("decision")


SPECIAL: dict[tuple[str, str], Callable[[Walk, Row], None]] = {
    ("token stale", "other forms"): Walk.other_form,
    ("too long", "message"): Walk.long_message,
    ("too long", "edit"): Walk.long_edit,
    ("page loaded again", "decision"): Walk.loaded_again,
}


def test_p1_every_row_of_the_promise_holds(make_server: Callable[..., Server], desk: Desk) -> None:
    server = make_server(environ=QUICK)
    server.may_fail = True
    desk.allow(r"WebSocket|ERR_|Failed to (load|fetch)")
    desk.context.add_init_script(CUT)
    walk = Walk(server, desk)
    table = rows()
    assert len(table) == 16
    for row in table:
        walk.walk(row)
