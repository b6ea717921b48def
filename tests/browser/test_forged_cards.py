"""What an agent shows beside a real question, in Chromium: it neither covers, hides nor changes the card, and nothing
that a person can press in it decides (R3). Each trick alone: tests/envelopes/approvals/test_forged.py."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.test_main_job import say, settled
from tests.envelopes.approvals.test_forged import REFUSED, TRICKS
from tests.liveserver import Server

LOOK = r"""card => {
  card.scrollIntoView({ block: 'center' });
  const style = getComputedStyle(card);
  const on_top = [...card.querySelectorAll('button')].filter(button => button.checkVisibility()).map(button => {
    const box = button.getBoundingClientRect();
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return [button.innerText.trim(), button.contains(top)];
  });
  const styles = [style.color, style.backgroundColor, style.font, style.opacity];
  return { on_top, styles, text: card.innerText.replace(/\d+:\d\d/, '') };
}"""
DIGEST = """
from envelopes.models import Approval
print(Approval.objects.get(approval_id={!r}).digest)
"""
STATE = """
from envelopes.models import Approval, AuditEntry
approval = Approval.objects.get(approval_id={!r})
tried = AuditEntry.objects.filter(approval_id=approval.approval_id, kind__in=["decided", "refused"]).count()
print(approval.state, approval.decisions.count(), tried)
"""


def shell(site: Server, script: str) -> str:
    return site.manage("shell", "-v", "0", "-c", script).strip()


def tricks(site: Server, page: Page, approval_id: str) -> list[Any]:
    """The messages of every trick that is shown at all, each with a surface of its own."""
    approval: Any = SimpleNamespace(approval_id=approval_id, digest=shell(site, DIGEST.format(approval_id)))
    made = []
    for at, trick in enumerate(TRICKS):
        if trick not in REFUSED:
            written = json.dumps(trick(approval, f"<div>{page.locator('#thread').inner_html()}</div>"))
            made.append(json.loads(written.replace('"mine"', f'"mine-{at}"')))
    return made


def press_all(page: Page, surface: Locator) -> int:
    """Everything in a surface that a person can press; how much there was."""
    pressed = 0
    for button in surface.get_by_role("button").all():
        if button.is_visible() and button.is_enabled():
            button.click()
            settled(page)
            pressed += 1
    return pressed


def test_nothing_that_an_agent_shows_covers_hides_or_decides_a_question(planner: Server, page: Page) -> None:
    page.goto(f"{planner.url}/")
    say(page, "Pay Ada")
    card = page.locator(".b-approval")
    expect(card).to_have_attribute("data-state", "pending", timeout=20_000)
    approval_id = card.locator("[data-decide]").first.get_attribute("data-approval") or ""
    before = card.evaluate(LOOK)
    assert [name for name, is_on_top in before["on_top"] if is_on_top][-2:] == ["Deny", "Approve"]

    shown = tricks(planner, page, approval_id)
    say(page, f"show {json.dumps(shown)}")
    settled(page)
    surfaces = page.locator("#thread .b-surface")
    expect(surfaces).to_have_count(len(shown))
    expect(card).to_have_count(1)
    assert card.evaluate(LOOK) == before

    pressed = sum(press_all(page, surface) for surface in surfaces.all())
    assert pressed > len(shown)
    assert card.evaluate(LOOK) == before
    assert shell(planner, STATE.format(approval_id)) == "pending 0 0"

    # The real one still does what it says.
    card.get_by_role("button", name="Deny").click()
    expect(card).to_have_attribute("data-state", "denied", timeout=20_000)
