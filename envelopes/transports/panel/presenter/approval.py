"""The approval card as a part of the thread."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from envelopes.markup.approval import ApprovalCard
from envelopes.markup.context import PageContext
from envelopes.markup.html import SafeString
from envelopes.transports.panel.presenter.part_view import Key, PartView, RenderContext, stored


@stored
@dataclass
class ApprovalView(ApprovalCard, PartView):
    """A card is updated in place, wherever the conversation has gone meanwhile."""

    kind = "approval"

    @property
    def settled(self) -> bool:
        """A call whose end is unknown may still be resolved by staff, and a job goes on after its turn (D19)."""
        return self.state not in ("pending", "running", "unknown")

    def keys(self) -> tuple[Key, ...]:
        called = self.call.get("toolCallId")
        return (
            *([("approval", self.approval_id)] if self.approval_id else []),
            *([("call", called)] if isinstance(called, str) and called else []),
        )

    def edit_address(self, page: PageContext) -> str:
        if not self.approval_id.isalnum():
            return ""
        return reverse("envelopes:edit", args=[page.session_id, self.approval_id])

    def html(self, render: RenderContext) -> SafeString:
        return self.card(render.page)
