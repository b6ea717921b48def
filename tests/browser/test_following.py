"""The page of one approval in the desk while it stands open: what becomes of the question is there without a reload,
and what somebody does on the page is not lost."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, Request, expect

from tests.browser.axe import findings
from tests.browser.conftest import Desk, login
from tests.browser.test_main_job import BOOK, open_chat, say, settled
from tests.liveserver import PASSWORD, Server

ASK = """
from envelopes.registries.policies import STAFF, Ask
from tests import factories
tool = factories.asking(Ask([STAFF], needed=2))
session = factories.make_session(factories.make_visitor()[0], actor="sally")
approval = factories.make_approval(session, {"order": "F1"}, tool=tool)
print(approval.pk)
"""
PEOPLE = """
from django.contrib.auth.models import User
from datetime import timedelta
from django.utils import timezone
from envelopes.approvals.editing import edit
from envelopes.approvals.service import decide
from envelopes.models import Approval
from envelopes.registries.policies import STAFF, Ask
from tests import factories
frida = factories.make_principal(User.objects.get(username="frida"))
approval = Approval.objects.get(pk={pk})
"""
GRANT = 'decide(approval.approval_id, "granted", frida, reason="Seen the invoice.", source="admin")'
EDIT = """
tool = factories.asking(Ask([STAFF], needed=2))
import envelopes.approvals.editing as editing
from envelopes.approvals import versions
editing.tool_of = versions.tool_of = lambda approval: tool
edit(approval.approval_id, {{"order": "F2", "amount": 7, "note": ""}}, frida, source="admin")
"""
AGAIN = """
Approval.objects.filter(pk=approval.pk).update(
    state="pending", approval_id="again", decided_at=None, expires_at=timezone.now() + timedelta(hours=1)
)
"""
EXPIRE = "Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() + timedelta(seconds=1))"
RUNNING = """
from datetime import timedelta
from django.utils import timezone
from envelopes.models import Approval, ToolCall
from tests import factories
approval = factories.make_approval(factories.make_session(factories.make_visitor()[0], actor="sally"))
Approval.objects.filter(pk=approval.pk).update(
    state="granted", decided_at=timezone.now(), decided_by="x", reason="Go ahead.", source="admin"
)
later = timezone.now() + timedelta(hours=1)
ToolCall.objects.filter(pk=approval.tool_call_id).update(
    state="running", lease_owner="elsewhere", lease_until=later
)
print(approval.pk)
"""
FAIL = """
from envelopes.log.append import writing
from envelopes.models import ToolCall
from envelopes.turns.outcomes import Outcome, record_outcome
call = ToolCall.objects.select_related("turn__session", "approval").get(approval={pk})
with writing(call.session_id) as writer:
    record_outcome(writer, call.turn, call, Outcome("failed", error={{"code": "x", "message": "The shop is closed."}}))
"""
CARET = "document.activeElement.name + document.activeElement.selectionStart"


def opened(page: Page, server: Server, path: str) -> None:
    """The desk's page, with a mark that a reload would wipe out."""
    login(page, server, "grace", PASSWORD, then=path)
    page.evaluate("window.same = true")


def not_reloaded(page: Page) -> None:
    assert page.evaluate("window.same") is True


def test_a_decision_brings_the_words_of_its_result_to_both_tabs_and_then_nobody_asks_any_more(
    open_desk: Callable[..., Desk], desk: Desk, site: Server
) -> None:
    chat = desk.page()
    open_chat(chat, site)
    say(chat, BOOK.replace("Ada Lovelace", "Rosalind Franklin"))
    expect(chat.locator(".b-approval")).to_have_attribute("data-state", "pending", timeout=20_000)
    admin = open_desk(color_scheme="dark").page()
    login(admin, site, "grace", PASSWORD, then="/admin/envelopes/approval/")
    admin.get_by_role("link", name=re.compile("Buy 2 tickets")).last.click()
    expect(admin.locator(".b-approval").first).to_contain_text("Rosalind Franklin")
    admin.evaluate("window.same = true")
    other = admin.context.new_page()
    other.goto(admin.url)
    other.get_by_label("Reason").fill("The fare still holds.")
    other.get_by_role("button", name="Approve").click()
    expect(other.get_by_text("Approved. It will run once.")).to_be_visible()
    expect(other.locator("[data-part=card] .b-approval")).to_have_attribute(
        "data-state", "done", timeout=20_000
    )
    admin.bring_to_front()

    card = admin.locator("[data-part=card] .b-approval")
    expect(card).to_have_attribute("data-state", "done", timeout=20_000)
    expect(card).to_contain_text(re.compile(r"2 tickets booked: BCH-\w+"))
    expect(card).to_contain_text("Reason: The fare still holds.")
    expect(admin.locator(".dk-history")).to_contain_text("Ran and succeeded")
    expect(admin.locator("[data-part=facts]")).to_contain_text("Outcome")
    expect(admin.get_by_role("status").filter(has_text="2 tickets booked")).to_have_count(1)
    # The conversation beside it goes on until the agent has said all.
    expect(admin.locator("[data-seen]")).to_contain_text("Your receipt is above", timeout=20_000)
    not_reloaded(admin)
    assert findings(admin) == []
    # The customer reads the reason on the card, as the field said.
    settled(chat)
    expect(chat.locator(".b-approval")).to_contain_text("Reason: The fare still holds.")

    asked: list[str] = []

    def note(request: Request) -> None:
        if "part=stand" in request.url:
            asked.append(request.url)

    # The last question may be on its way.
    admin.wait_for_timeout(2_000)
    admin.on("request", note)
    admin.wait_for_timeout(2_500)
    assert asked == []


def test_the_result_of_what_runs_for_long_is_there_as_the_page_has_promised(page: Page, site: Server) -> None:
    pk = site.manage("shell", "-v", "0", "-c", RUNNING).split()[-1]
    opened(page, site, f"/admin/envelopes/approval/{pk}/change/")
    card = page.locator("[data-part=card] .b-approval")
    expect(card).to_contain_text("You can close this page. The result will be here.")
    expect(card).to_contain_text("Reason: Go ahead.")

    site.manage("shell", "-v", "0", "-c", FAIL.format(pk=pk))

    expect(card).to_have_attribute("data-state", "failed", timeout=20_000)
    expect(card).to_contain_text("The shop is closed.")
    expect(page.get_by_role("status").filter(has_text="The shop is closed.")).to_have_count(1)
    not_reloaded(page)


def test_one_that_is_decided_elsewhere_says_so_and_hands_back_what_was_typed(
    open_desk: Callable[..., Desk], desk: Desk, site: Server
) -> None:
    chat = desk.page()
    open_chat(chat, site)
    say(chat, BOOK.replace("Ada Lovelace", "Emmy Noether"))
    expect(chat.locator(".b-approval")).to_have_attribute("data-state", "pending", timeout=20_000)
    admin = open_desk().page()
    login(admin, site, "grace", PASSWORD, then="/admin/envelopes/approval/")
    admin.get_by_role("link", name=re.compile("Buy 2 tickets")).last.click()
    admin.evaluate("window.same = true")
    admin.get_by_label("Reason").press_sequentially("Wait for the")

    chat.get_by_role("button", name="Deny").click()

    card = admin.locator("[data-part=card] .b-approval")
    expect(card).to_have_attribute("data-state", "denied", timeout=20_000)
    expect(card).to_contain_text("Nothing was run")
    expect(admin.get_by_text("Your reason was not sent: “Wait for the”")).to_be_visible()
    expect(admin.get_by_role("button", name="Approve")).to_have_count(0)
    expect(admin.locator("[data-keys]").filter(has_text="deny")).to_have_count(0)
    # What had the focus is gone; it stays at the card.
    expect(card).to_be_focused()
    expect(admin.locator(".dk-history")).to_contain_text("Denied by the visitor")
    not_reloaded(admin)
    assert findings(admin) == []


def test_what_is_typed_stays_while_others_vote_an_edit_is_announced_and_time_runs_out(
    page: Page, site: Server
) -> None:
    site.add_user("frida", PASSWORD, staff=True)
    pk = site.manage("shell", "-v", "0", "-c", ASK).split()[-1]

    def run(code: str) -> None:
        site.manage("shell", "-v", "0", "-c", (PEOPLE + code).format(pk=pk))

    opened(page, site, f"/admin/envelopes/approval/{pk}/change/")
    card = page.locator("[data-part=card] .b-approval")
    page.get_by_text("Exact call").first.click()
    reason = page.get_by_label("Reason")
    reason.press_sequentially("Half a sent")
    page.keyboard.press("ArrowLeft")
    run(GRANT)
    expect(card).to_contain_text("1 of 2 approved", timeout=20_000)
    expect(card).to_contain_text("frida approved: Seen the invoice.")
    expect(reason).to_have_value("Half a sent")
    assert page.evaluate(CARET) == "reason10"
    expect(card.locator(".b-exact")).to_have_attribute("open", "")

    # The buttons do not come to mean another call by themselves.
    run(EDIT)
    show = page.get_by_role("button", name="Show the new version")
    expect(show).to_be_visible(timeout=20_000)
    expect(card).to_contain_text("Someone has changed this request.")
    for name in ("Approve", "Deny"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()
    assert page.evaluate(CARET) == "reason10"
    assert findings(page) == []
    expect(card).to_contain_text("F1")
    show.click()
    expect(card).to_contain_text("F2")
    expect(page.get_by_role("heading", level=1)).to_contain_text("F2")
    expect(reason).to_have_value("Half a sent")
    expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    expect(card).to_be_focused()

    run(EXPIRE)
    expect(card).to_have_attribute("data-state", "expired", timeout=30_000)
    expect(page.locator(".dk-history")).to_contain_text(re.compile("expired", re.IGNORECASE))
    unsent = page.get_by_text("Your reason was not sent: “Half a sent”")
    expect(unsent).to_be_visible()

    # Nobody has said anything about the one that is asked again; what was typed before is not lost with it.
    run(AGAIN)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    expect(card).to_have_attribute("data-state", "pending", timeout=20_000)
    expect(reason).to_have_value("")
    expect(unsent).to_be_visible()
    not_reloaded(page)
