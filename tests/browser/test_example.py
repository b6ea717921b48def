"""The helpdesk of docs/example in a site: one conversation in which each of its pieces is seen, and one of a customer
whom the policy asks nothing."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk
from tests.browser.test_main_job import say, settled
from tests.liveserver import PASSWORD, Server

HELPDESK = {"DJANGO_SETTINGS_MODULE": "tests.example.settings", "BEACH_SCRIPT_PACE": "6000"}
PREPARE = """
from django.contrib.auth.models import Group, User
from django.core.management import call_command
call_command("helpdesk_demo", "ann")
call_command("helpdesk_demo", "alma", first=2001)
Group.objects.create(name="Regulars").user_set.add(User.objects.get(username="alma"))
"""


def signed_in(page: Page, server: Server, name: str) -> Page:
    page.goto(f"{server.url}/sign-in")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="What can I do for you?")).to_be_visible()
    return page


def test_the_example_does_what_its_page_says(
    make_server: Callable[..., Server], open_desk: Callable[..., Desk], page: Page
) -> None:
    server = make_server(environ=HELPDESK)
    server.manage("shell", "-v", "0", "-c", PREPARE)

    signed_in(page, server, "ann")
    say(page, "How far is order L-1042?")
    settled(page)
    track = page.locator(".helpdesk-track")
    expect(track.locator("li")).to_have_text(["Ordered", "Packed", "Shipped", "Delivered"])
    expect(track.locator("[aria-current=step]")).to_have_text("Shipped")
    # The application's own sheet is on the page.
    assert track.evaluate("one => getComputedStyle(one).listStyleType") == "none"

    page.get_by_role("button", name="Where is it?").click()
    settled(page)
    parcel = page.locator(".helpdesk-parcel")
    expect(parcel).to_contain_text("Order L-1042 travels with Blue Van.")
    expect(parcel.locator("[aria-current=location]")).to_contain_text("Depot, Cologne")
    expect(page.locator("#thread")).to_contain_text("Asking the carrier")

    say(page, "Refund 12.50 euros for order L-1042, the shade is broken")
    expect(page.locator("#thread")).to_contain_text("Refund 12.50 euros for order L-1042?")
    page.get_by_role("button", name="Approve").click()
    settled(page)
    expect(page.locator("#thread")).to_contain_text("12.50 euros are on their way to you.")

    say(page, "Thanks, that is all")
    expect(page.locator("#thread")).to_contain_text("I have closed your case.")
    settled(page)
    say(page, "Please hold my case")
    settled(page)
    expect(page.locator("#thread")).to_contain_text("This case is closed, and stays so.")

    other = signed_in(open_desk().page(), server, "alma")
    say(other, "Refund 12.50 euros for order L-2001, the shade is broken")
    settled(other)
    expect(other.locator("#thread")).to_contain_text("Small refund for a regular customer")
    expect(other.get_by_role("button", name="Approve")).to_have_count(0)
