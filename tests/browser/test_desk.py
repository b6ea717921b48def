"""The desk as staff use it: the queue that follows what others do, keys, a page of one that decides once more asked."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.conftest import QUICK, login
from tests.liveserver import Server

ASK = """
from datetime import timedelta
from django.utils import timezone
from envelopes.models import Approval
from tests import factories
visitor = factories.make_visitor()[0]
approval = factories.make_approval(factories.make_session(visitor, title="{order}"), {{"order": "{order}"}})
Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() + timedelta(minutes={minutes}))
"""
DENY = """
from django.contrib.auth.models import User
from envelopes.approvals.service import decide
from envelopes.models import Approval
from tests import factories
approval = Approval.objects.get(question__contains="{order}")
decide(approval.approval_id, "denied", factories.make_principal(User.objects.get(username="maria")), source="admin")
"""


def test_the_queue_follows_and_is_walked_with_keys(page: Page, make_server: Callable[..., Server]) -> None:
    server = make_server(environ=QUICK)

    def run(code: str, **values: object) -> None:
        server.manage("shell", "-v", "0", "-c", code.format(**values))

    server.add_user("maria", "a sound password", staff=True)
    for order, minutes in (("A1", 10), ("A3", 30)):
        run(ASK, order=order, minutes=minutes)
    login(page, server, "grace", "a sound password", then="/admin/envelopes/approval/")
    rows = page.locator(".dk-table tbody tr")
    expect(rows).to_have_count(2)
    expect(page.locator("[data-live]")).to_have_text("Live")

    # What is new comes into its place, and the head of the page counts it.
    run(ASK, order="A2", minutes=20)
    expect(rows).to_contain_text(["A1", "A2", "A3"])
    expect(page).to_have_title("(3) Approvals | Beach")
    # While the pointer is over the list nothing moves: what is new waits behind a button.
    rows.nth(1).hover()
    run(ASK, order="A0", minutes=5)
    more = page.get_by_role("button", name="1 new request")
    expect(more).to_be_visible()
    expect(rows).to_have_count(3)
    more.press("Enter")
    expect(rows).to_contain_text(["A0", "A1", "A2", "A3"])
    # What somebody else decided is crossed out where it stands.
    run(DENY, order="A1")
    expect(rows.nth(1)).to_have_attribute("data-state", "gone")
    expect(rows.nth(1)).to_contain_text("Denied by maria")
    assert findings(page) == []

    for key in ("j", "j", "j", "x"):
        page.keyboard.press(key)
    expect(rows.nth(2).get_by_role("link")).to_be_focused()
    expect(page.get_by_role("region", name="Selection")).to_contain_text("1 selected.")
    page.keyboard.press("d")
    expect(page.get_by_role("button", name="Deny")).to_be_focused()
    assert findings(page) == []
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Approve")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Approved. It will run once.")).to_be_visible()
    # Told once the page listens to keys.
    expect(page.locator(".dk-keys, [data-keys]").filter(has_text="back to the queue").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page).to_have_url(f"{server.url}/admin/envelopes/approval/")
    for width in (320, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        for path in ("/admin/", "/admin/envelopes/approval/?view=all"):
            page.goto(f"{server.url}{path}")
            over = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert over <= 0, (width, path)

    page.goto(f"{server.url}/admin/envelopes/approval/")
    rows.first.get_by_role("checkbox").check()
    page.get_by_role("button", name="Deny selected").click()
    cancel, deny = page.get_by_role("link", name="Cancel"), page.get_by_role("button", name="Deny")
    # Its buttons are there before its styles are.
    expect(cancel).to_be_visible()
    page.wait_for_load_state()
    places = [button.bounding_box() or {} for button in (cancel, deny)]
    assert places[0]["y"] == places[1]["y"] and places[1]["width"] < 200, places
