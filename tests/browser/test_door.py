"""Signing in, in a real browser, and that the watch over a page notices what it is there to notice."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk, login
from tests.liveserver import Server


def test_a_person_signs_in(page: Page, site: Server) -> None:
    login(page, site, "ann", "a sound password", then="/healthz")

    expect(page.locator("body")).to_contain_text("ok")


def test_a_wrong_password_is_said_beside_the_form(page: Page, site: Server) -> None:
    page.goto(f"{site.url}/accounts/login/")

    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill("not it")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("alert")).to_contain_text("Please enter a correct username and password")
    expect(page.get_by_label("Password")).to_be_focused()


def test_staff_reach_the_admin(page: Page, site: Server) -> None:
    login(page, site, "grace", "a sound password", then="/admin/")

    expect(page.get_by_role("heading", name="Desk")).to_be_visible()


def test_a_page_that_is_not_there_is_said_in_words(desk: Desk, site: Server) -> None:
    desk.allow("404")
    page = desk.page()

    page.goto(f"{site.url}/no-such-page")

    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()


@pytest.mark.parametrize(
    ("script", "noticed"),
    [
        (
            "document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">x</p>')",
            "policy: style-src",
        ),
        (
            "document.body.insertAdjacentHTML('beforeend', '<img src=\"http://127.0.0.1:9/x\">')",
            "policy: img-src",
        ),
        ("setTimeout(() => { throw new Error('broken') })", "script error: broken"),
        ("console.error('bad news')", "console error: bad news"),
    ],
)
def test_the_watch_notices(desk: Desk, site: Server, script: str, noticed: str) -> None:
    desk.allow(".*")
    page = desk.page()
    page.goto(f"{site.url}/accounts/login/")

    # An expression for the debugger, which the page's policy does not bind.
    page.evaluate(script)

    page.wait_for_timeout(300)
    assert any(noticed in problem for problem in desk.problems), desk.problems
