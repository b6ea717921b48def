"""What stands around the card on the page of one approval: its place in the queue and its history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from envelopes import audit
from envelopes.access import Principal
from envelopes.admin.queue import Neighbours
from envelopes.admin.timeline import log_of
from envelopes.desk.times import clock
from envelopes.markup.html import SafeString, html, reveal
from envelopes.models import Approval
from envelopes.models.audit import AuditKind


@dataclass(frozen=True)
class Happened:
    """One line of the history. ``state`` is ``ask`` for the question, ``done`` for a grant."""

    at: SafeString
    words: SafeString
    state: str = ""


def history(approval: Approval, reader: Principal) -> list[Happened]:
    """What the decision log has about it, oldest first; of questions older than that, what their conversation has."""
    told = [
        Happened(clock(one.at, seconds=True), _told(one), "ask" if one.kind == AuditKind.REQUESTED else "")
        for one in audit.history_of(approval, reader.key)
    ]
    return told or [
        Happened(clock(line.row.at, seconds=True), html("<b>{}</b> {}", line.who, line.words))
        for line in log_of(approval, reader)
    ]


def _told(entry: Any) -> SafeString:
    words = reveal(entry.words)
    return html("{} <q>{}</q>", words, reveal(entry.reason)) if entry.reason else words


def ways(found: Neighbours) -> dict[str, str]:
    """The addresses of the requests before and after this one in the queue; empty where there is none."""
    return {
        "previous": reverse("admin:envelopes_approval_change", args=[found.before]) if found.before else "",
        "next": reverse("admin:envelopes_approval_change", args=[found.after]) if found.after else "",
    }
