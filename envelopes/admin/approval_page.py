"""What stands around the card on the page of one approval: its place in the queue, its history, what came before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from envelopes.access import Principal
from envelopes.admin.approval_state import mark_of
from envelopes.admin.display import change_url
from envelopes.admin.queue import PENDING, WIDE, Neighbours
from envelopes.admin.timeline import log_of
from envelopes.desk.times import ago, clock
from envelopes.markup.html import SafeString, html, reveal
from envelopes.models import Approval

BEFORE = 5
"""Other requests of the same conversation that are told."""


@dataclass(frozen=True)
class Happened:
    """One line of the history. ``state`` is ``ask`` for the question, ``done`` for a grant."""

    at: SafeString
    words: SafeString
    state: str = ""


@dataclass(frozen=True)
class Earlier:
    """Another request of the conversation."""

    url: str
    question: SafeString
    mark: SafeString
    at: SafeString


def history(approval: Approval, reader: Principal) -> list[Happened]:
    """What the log of the conversation has about it, oldest first."""
    told = log_of(approval, reader)
    return [
        Happened(
            clock(line.row.at, seconds=True),
            html("<b>{}</b> {}", line.who, line.words),
            "ask" if number == 0 else "done" if approval.state == "granted" and line is told[-1] else "",
        )
        for number, line in enumerate(told)
    ]


def earlier(approval: Approval) -> list[Earlier]:
    """The newest other requests of the same conversation that no longer wait."""
    rows: Any = Approval.objects.filter(session=approval.session_id).exclude(PENDING).exclude(pk=approval.pk)
    rows = rows.select_related("tool_call").defer("args", *WIDE).order_by("-pk")[:BEFORE]
    return [
        Earlier(change_url(one), reveal(one.question), mark_of(one), ago(one.requested_at)) for one in rows
    ]


def ways(found: Neighbours) -> dict[str, str]:
    """The addresses of the requests before and after this one in the queue; empty where there is none."""
    return {
        "previous": reverse("admin:envelopes_approval_change", args=[found.before]) if found.before else "",
        "next": reverse("admin:envelopes_approval_change", args=[found.after]) if found.after else "",
    }
