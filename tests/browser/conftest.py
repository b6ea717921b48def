"""A real Chromium that reports everything it finds wrong: broken policies, script errors, lines on the console."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from beachsite.suite import CHROMIUM, ROOT
from tests import needs
from tests.liveserver import Server, running
from tests.outcome import FAILED

# Playwright's synchronous API keeps a loop running in this thread, where Django refuses to touch the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
REPORT_VIOLATIONS = """
addEventListener('securitypolicyviolation', event => console.error(
  `policy: ${event.effectiveDirective} blocked ${event.blockedURI} ${event.sample} ` +
  `at ${event.sourceFile}:${event.lineNumber}`));
"""
QUICK = {"BEACH_SCRIPT_PACE": "6000", "BEACH_DEMO_PACE": "0.3"}
"""Sally writes faster than anybody reads."""
PLANNER = {"DJANGO_SETTINGS_MODULE": "tests.consumer.settings", "BEACH_SCRIPT_PACE": "6000"}
"""The application in tests/consumer beside her."""
PICTURES = ROOT / "var" / "test" / "pictures"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


CUT_OFF = re.compile(r"net::ERR_CONNECTION_|Failed to fetch|htmx-request")
"""What a page says whose server has gone: no problem once its test is over."""

_over = False


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """A test begins."""
    global _over
    _over = False


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """It is over: servers end before browsers do, which show what has failed until then."""
    global _over
    _over = True


class Desk:
    """One person's browser: a context with cookies of its own, its tabs, and what went wrong in them."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.pages: list[Page] = []
        self.problems: list[str] = []
        self._allowed: list[re.Pattern[str]] = []
        context.add_init_script(REPORT_VIOLATIONS)

    def page(self) -> Page:
        """A new tab."""
        page = self.context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.problems.append(f"script error: {error}"))
        self.pages.append(page)
        return page

    def allow(self, pattern: str) -> None:
        """Expect this problem: a killed server, for one, makes the browser complain about its socket."""
        self._allowed.append(re.compile(pattern))

    def unexpected(self) -> list[str]:
        """The problems that the test did not say it expects."""
        return [text for text in self.problems if not any(pattern.search(text) for pattern in self._allowed)]

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not (_over and CUT_OFF.search(message.text)):
            where = message.location
            self.problems.append(f"console {message.type}: {message.text} ({where.get('url')})")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One Chromium for the whole run; tests are kept apart by contexts."""
    if not CHROMIUM.exists():
        needs.absent("browser", f"there is no Chromium at {CHROMIUM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_desk(
    chromium: Browser, request: pytest.FixtureRequest, make_server: Callable[..., Server]
) -> Iterator[Callable[..., Desk]]:
    """Another person at another browser. Options are those of Playwright's `new_context`."""
    desks: list[Desk] = []

    def open_one(**options: Any) -> Desk:
        desk = Desk(
            chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "en-GB"} | options)
        )
        desks.append(desk)
        return desk

    yield open_one
    failed = request.node.stash.get(FAILED, False)
    for number, desk in enumerate(desks):
        if failed:
            _photograph(desk, f"{request.node.name}-{number}")
        desk.context.close()
    assert not [problem for desk in desks for problem in desk.unexpected()]


@pytest.fixture
def desk(open_desk: Callable[..., Desk]) -> Desk:
    """The browser of the test's main person."""
    return open_desk()


@pytest.fixture
def page(desk: Desk) -> Page:
    """The first tab of the test's main person."""
    return desk.page()


@pytest.fixture(scope="session")
def site(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One quick server for tests that only add to it; grace of ``ACCOUNTS`` is staff."""
    yield from _for_many(demo_data, tmp_path_factory, QUICK)


@pytest.fixture(scope="session")
def planner(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The same of the application in tests/consumer."""
    yield from _for_many(demo_data, tmp_path_factory, PLANNER)


def _for_many(
    demo_data: Path, factory: pytest.TempPathFactory, environ: Mapping[str, str]
) -> Iterator[Server]:
    data = factory.mktemp("site") / "data"
    shutil.copytree(demo_data, data)
    with running(data, environ=environ) as server:
        yield server
    assert "Traceback" not in server.log.read_text(errors="replace")


def login(page: Page, server: Server, name: str, password: str, *, then: str = "/") -> None:
    """Sign in through the form, as a person does."""
    page.goto(f"{server.url}/accounts/login/?next={then}")
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", password)
    page.click("button[type=submit], input[type=submit]")
    page.wait_for_url(f"{server.url}{then}**")


def _photograph(desk: Desk, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for tab, page in enumerate(desk.pages):
        if not page.is_closed():
            page.screenshot(path=PICTURES / f"{re.sub(r'[^A-Za-z0-9-]+', '_', name)}-{tab}.png")
