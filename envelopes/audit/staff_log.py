"""What users decide, or try to, in Django's own log: the same for all doors, in the transaction of the decision."""

from __future__ import annotations

from typing import Any

from django.apps import apps

from envelopes.models import Approval
from envelopes.models.audit import AuditEntry, AuditKind
from envelopes.registries.doors import doors

_TOLD = (AuditKind.DECIDED, AuditKind.REFUSED, AuditKind.EDITED)


def tell(user: Any, approval: Approval, entry: AuditEntry) -> None:
    """Add an entry for ``user``, where the site has that log and ``entry`` is something that was decided or tried."""
    if entry.kind not in _TOLD or not apps.is_installed("django.contrib.admin"):
        return
    from django.contrib.admin.models import CHANGE, LogEntry

    LogEntry.objects.log_actions(user.pk, [approval], CHANGE, _words(entry), single_object=True)


def _words(entry: AuditEntry) -> str:
    """In English, as Django stores it: it is read by whoever comes, in whatever language."""
    found = doors.get(entry.door)
    where = str(found.label) if found is not None else entry.door
    reason = entry.reason
    if entry.kind == AuditKind.EDITED:
        return f"Changed the arguments {where}." + (f" Reason: {reason}" if reason else "")
    if entry.kind == AuditKind.DECIDED:
        word = "Approved" if entry.facts.get("decision") == "granted" else "Denied"
        return f"{word} {where}." + (f" Reason: {reason}" if reason else "")
    word = "approve" if entry.facts.get("decision") == "granted" else "deny"
    why = "without the right to" if entry.facts.get("code") == "forbidden" else "too late"
    told = [f"Tried to {word} this {why}, {where}. Nothing changed.", str(entry.details.get("told", ""))]
    return " ".join([*filter(None, told), *([f"Reason given: {reason}"] if reason else [])])
