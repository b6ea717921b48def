"""The history of one approval, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from envelopes.audit.recording import UNKNOWN
from envelopes.models import Approval
from envelopes.models.audit import AuditEntry, AuditKind
from envelopes.registries.actors import agent_name
from envelopes.registries.doors import doors

LONGEST = 500
"""Entries of one approval that are read."""


@dataclass(frozen=True)
class Entry:
    """One line. ``words`` is plain text that may hold what people wrote. ``erased``: names and reasons are gone."""

    at: datetime
    kind: str
    words: str
    reason: str
    digest: str
    door: str
    erased: bool


def history_of(approval: Approval | str, reader: str = "") -> list[Entry]:
    """What happened to an approval (or the one with that public id), oldest first. ``reader`` is the
    ``Principal.key`` of who reads: to them, and nobody else, it is "you"."""
    ids = [approval] if isinstance(approval, str) else approval.asked_as
    found = AuditEntry.objects.filter(approval_id__in=ids).order_by("number")[:LONGEST]
    return [line_of(entry, reader) for entry in found]


def line_of(entry: AuditEntry, reader: str = "") -> Entry:
    """One entry as a line."""
    words = _WORDS[AuditKind(entry.kind)](entry, _name(entry, reader))
    return Entry(entry.at, entry.kind, words, entry.reason, entry.digest, entry.door, not entry.salt)


def _name(entry: AuditEntry, reader: str) -> str:
    """In the middle of a sentence."""
    if not entry.salt:
        return _("somebody whose data was erased")
    if reader and entry.who == reader:
        return _("you")
    if entry.who.startswith("agent:"):
        return agent_name(entry.who.removeprefix("agent:"))
    return entry.name or (_("the visitor") if entry.role == "owner" else _("somebody"))


def _place(entry: AuditEntry) -> str:
    door = doors.get(entry.door)
    return str(door.label) if door is not None else entry.door


def _joined(*words: str) -> str:
    return " ".join(filter(None, words))


def _asked(entry: AuditEntry, name: str) -> str:
    return _("Asked by {}, attempt {}").format(name, entry.facts.get("attempt", 1))


def _shown(entry: AuditEntry, name: str) -> str:
    return _joined(_("Shown to {}").format(name), _place(entry))


def _notified(entry: AuditEntry, name: str) -> str:
    count, whom = entry.facts.get("count", 1), str(entry.facts.get("whom", ""))
    to = _joined(str(count), whom) if whom or count != 1 else name
    told = _("Mailed to {}") if entry.facts.get("by", "mail") == "mail" else _("Sent to {}")
    return told.format(to)


def _decided(entry: AuditEntry, name: str) -> str:
    granted = entry.facts.get("decision") == "granted"
    if entry.role == "rule":
        told = _("Approved by the rule {}") if granted else _("Denied by the rule {}")
        return told.format(entry.facts.get("rule") or entry.who.removeprefix("policy:"))
    told = _("Approved by {}") if granted else _("Denied by {}")
    counted = entry.facts.get("needed")
    votes = (
        _("({} of {})").format(entry.facts.get("count", 1), counted)
        if isinstance(counted, int) and counted > 1
        else ""
    )
    return _joined(told.format(name), _place(entry), votes)


def _refused(entry: AuditEntry, name: str) -> str:
    if entry.role == UNKNOWN:
        told = _("{} tried to decide {}; who that was could not be verified, and nothing changed")
        return told.format(name, _place(entry))
    granted = entry.facts.get("decision") == "granted"
    if entry.facts.get("code") in ("already_decided", "already_changed", "expired"):
        told = (
            _("Approval by {} came too late; nothing changed")
            if granted
            else _("Denial by {} came too late; nothing changed")
        )
    else:
        told = (
            _("Approval by {} was refused; nothing changed")
            if granted
            else _("Denial by {} was refused; nothing changed")
        )
    return told.format(name)


def _ended(entry: AuditEntry, name: str) -> str:
    state = entry.facts.get("state")
    if entry.facts.get("found"):
        told = _("Found to have succeeded by {}") if state == "succeeded" else _("Found to have failed by {}")
        return told.format(name)
    if state == "succeeded":
        return _("Ran and succeeded")
    return _("Ended without a known outcome") if state == "unknown" else _("Failed")


def _edited(entry: AuditEntry, name: str) -> str:
    return _joined(_("Arguments changed by {}").format(name), _place(entry))


def _reused(entry: AuditEntry, name: str) -> str:
    return _("Allowed by an earlier approval of the same call")


def _erased(entry: AuditEntry, name: str) -> str:
    return _("Personal data was erased from {} entries").format(entry.facts.get("count", 0))


def _pruned(entry: AuditEntry, name: str) -> str:
    return _("{} entries were deleted at the end of their time").format(entry.facts.get("count", 0))


_WORDS: dict[AuditKind, Callable[[AuditEntry, str], str]] = {
    AuditKind.REQUESTED: _asked,
    AuditKind.SHOWN: _shown,
    AuditKind.NOTIFIED: _notified,
    AuditKind.EDITED: _edited,
    AuditKind.DECIDED: _decided,
    AuditKind.REUSED: _reused,
    AuditKind.EXPIRED: lambda entry, name: _("Expired before anyone decided"),
    AuditKind.WITHDRAWN: lambda entry, name: _("Withdrawn"),
    AuditKind.REFUSED: _refused,
    AuditKind.EXECUTED: _ended,
    AuditKind.ERASED: _erased,
    AuditKind.PRUNED: _pruned,
}
