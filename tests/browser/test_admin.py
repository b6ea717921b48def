"""The admin as staff see it: lists that fit the window."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.conftest import QUICK, login
from tests.liveserver import Server

LISTS = [
    *(f"envelopes/{name}" for name in ("session", "turn", "toolcall", "approval", "artifact", "peer")),
    "demo/booking",
]
ROWS = """
from datetime import date, timedelta
from django.utils import timezone
from beachsite.demo.models import Booking
from envelopes import peers
from envelopes.models import Approval, Session, ToolCall, Turn
from tests import factories
from tests.envelopes.admin.pages import one_of_each
for title in ("Find flights from London Gatwick to Corfu on 15 August for 2", "Wolfeschlegelsteinhausenberger " * 3):
    rows = one_of_each()
    Session.objects.filter(pk=rows[Session].pk).update(title=title.strip()[:80], actor="sally")
    Turn.objects.filter(pk=rows[Turn].pk).update(created_at=timezone.now() - timedelta(days=2, hours=3))
    ToolCall.objects.filter(pk=rows[ToolCall].pk).update(
        name="find_and_compare_all_flights_of_one_day", state="awaiting-approval"
    )
    decided = factories.make_approval(rows[Session], {"order": "A1 " * 9})
    Approval.objects.filter(pk=decided.pk).update(state="granted", decided_at=timezone.now(), decided_by="user:1")
Booking.objects.create(
    reference="BCH-48213", call_id="c", session_id="s", flight="Nordvind Airlines NV 4180", date=date(2027, 8, 15),
    lead_passenger="Wolfeschlegelsteinhausenberger Bergerdorff", tickets=2, total=1188, currency="GBP",
)
peers.add("a-desk-with-a-rather-long-name-for-a-program", ["chat", "read", "decide", "documents", "live"])
"""


def test_all_columns_of_a_list_are_in_the_window(page: Page, make_server: Callable[..., Server]) -> None:
    """With the longest names and states, and where the stock layout has its filters beside the list as well."""
    server = make_server(environ=QUICK)
    server.manage("shell", "-v", "0", "-c", ROWS)
    login(page, server, "grace", "a sound password", then="/admin/")
    cut: dict[str, int] = {}
    for width in (1280, 1501):
        page.set_viewport_size({"width": width, "height": 800})
        for name in LISTS:
            page.goto(f"{server.url}/admin/{name}/")
            over = page.locator(".results, .dk-panel:has(table)").first.evaluate(
                "list => list.scrollWidth - list.clientWidth"
            )
            if over > 0:
                cut[f"{name} at {width}"] = over
    assert not cut
