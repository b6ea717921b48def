"""Adding to the audit log: one entry for each thing that happens to an approval."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from envelopes import access
from envelopes.access import Principal
from envelopes.audit import chain, staff_log
from envelopes.errors import BeachError
from envelopes.log.append import Writer
from envelopes.models import Approval, Session, ToolCall
from envelopes.models.audit import AuditEntry, AuditKind
from envelopes.protocol.text import clean_text, clip
from envelopes.registries.statuses import ApprovalStatus
from envelopes.types import PROGRAMS, Json

logger = logging.getLogger(__name__)

RULE = "rule"
AGENT = "agent"
UNKNOWN = "unknown"
"""Roles of those who are no principals."""

TURNED_AWAY = 20
"""Attempts of people whom nobody knows here that are recorded, of one question and door: anybody may try."""

SHOWN_AT_ONCE = 50


def record(
    writer: Writer,
    kind: str,
    approval: Approval,
    *,
    who: Principal | None = None,
    by: str = "",
    name: str = "",
    role: str = "",
    door: str = "",
    reason: str = "",
    facts: Mapping[str, Json] | None = None,
    details: Mapping[str, Json] | None = None,
) -> None:
    """Add an entry of ``kind`` (``AuditKind``) about ``approval`` to what ``writer`` commits, or nothing if it fails.

    ``who`` did it; where nobody did, ``by`` is the key of what did (``policy:expiry``) with its ``role``. ``facts``
    tell of nobody, and stay when a person's data is erased; ``details`` go then. Both hold JSON. What a user decides,
    or tries to, stands in Django's own log too.
    """
    if who is not None:
        by, name = who.key, name or name_of(who)
        role = role or role_of(who, writer.session)
    entry = _entry(kind, approval, writer.session, door=door, role=role, facts=facts, details=details)
    entry.at, entry.who, entry.name = writer.now, by[:128], clip(clean_text(name), 150)
    entry.reason = clip(clean_text(reason), 512)
    writer.last(chain.append, entry)
    if who is not None and who.user is not None:
        staff_log.tell(who.user, approval, entry)


def asked(writer: Writer, approval: Approval) -> None:
    """Record a question, as it was stored."""
    record(
        writer,
        AuditKind.REQUESTED,
        approval,
        by=f"agent:{approval.handler}",
        role=AGENT,
        facts={"attempt": approval.attempt, "tool": approval.tool_name, "risk": approval.risk},
        details={"question": approval.question, "why": approval.why},
    )


def refused(
    writer: Writer,
    approval: Approval,
    who: Principal,
    decision: str,
    error: BeachError,
    *,
    door: str,
    reason: str = "",
) -> None:
    """Record that ``who`` tried to decide, and was told ``error``."""
    facts: dict[str, Json] = {"decision": decision, "code": error.code}
    details: dict[str, Json] = {"told": error.message}
    record(
        writer, AuditKind.REFUSED, approval, who=who, door=door, reason=reason, facts=facts, details=details
    )


def has_room(approval: Approval, door: str) -> bool:
    """Whether another attempt of somebody whom nobody knows is recorded."""
    tried = AuditEntry.objects.filter(
        approval_id=approval.approval_id, kind=AuditKind.REFUSED, door=door, role=UNKNOWN
    )
    return tried.count() < TURNED_AWAY


def turned_away(
    writer: Writer, approval: Approval, claimed: str, decision: str, why: str, *, door: str
) -> None:
    """Record that somebody tried to decide who was not known to be anybody here: ``claimed`` is who they said they
    were, ``decision`` what they seem to have meant. To be asked first: ``has_room``."""
    record(
        writer,
        AuditKind.REFUSED,
        approval,
        name=claimed,
        role=UNKNOWN,
        door=door,
        facts={"decision": decision, "code": UNKNOWN},
        details={"told": why},
    )


def executed(writer: Writer, call: ToolCall, state: str, resolved_by: Principal | None = None) -> None:
    """Record how ``call`` ended, if a person was asked about it. ``resolved_by`` is who found that out later."""
    approval: Approval | None = getattr(call, "approval", None)
    if approval is None:
        return
    facts: dict[str, Json] = {"state": str(state), "tool": call.name}
    if resolved_by is not None:
        record(
            writer,
            AuditKind.EXECUTED,
            approval,
            who=resolved_by,
            door="admin",
            facts={**facts, "found": True},
        )
        return
    record(writer, AuditKind.EXECUTED, approval, by=f"agent:{approval.handler}", role=AGENT, facts=facts)


def shown(approval: Approval, who: Principal, door: str) -> bool:
    """Record that a door shows the open question to ``who``, once for each person and door; whether it was now.

    A transaction of its own, which locks the chain alone: not to be called inside an open append.
    """
    if not who.is_known or approval.state != ApprovalStatus.PENDING or _was_shown(approval, who, door):
        return False
    with transaction.atomic():
        chain.locked_head()
        # All entries are added under that lock, so nobody has done so meanwhile.
        if _was_shown(approval, who, door):
            return False
        session = approval.session
        entry = _entry(AuditKind.SHOWN, approval, session, door=door, role=role_of(who, session))
        entry.at, entry.who, entry.name = timezone.now(), who.key[:128], clip(clean_text(name_of(who)), 150)
        chain.append([entry])
    return True


@contextmanager
def beside_a_page() -> Iterator[None]:
    """Round ``shown`` and ``shown_in`` where a page is being made: it is shown all the same where the database cannot
    be written to in time, as in the chat, and recorded when it is shown again."""
    try:
        yield
    except (OperationalError, InterfaceError):
        logger.exception("That a question was shown was not recorded.")


def shown_in(session: Session, who: Principal, door: str) -> int:
    """``shown`` for all open questions of a session, as far as a page shows them; how many were recorded now."""
    if not who.is_known:
        return 0
    found = session.approvals.filter(state=ApprovalStatus.PENDING).select_related("session")
    waiting = list(found[:SHOWN_AT_ONCE])
    if not waiting:
        return 0
    ids = [approval.approval_id for approval in waiting]
    before = set(_shown_to(who, door).filter(approval_id__in=ids).values_list("approval_id", flat=True))
    return sum(shown(one, who, door) for one in waiting if one.approval_id not in before)


def _was_shown(approval: Approval, who: Principal, door: str) -> bool:
    return _shown_to(who, door).filter(approval_id=approval.approval_id).exists()


def _shown_to(who: Principal, door: str) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(kind=AuditKind.SHOWN, who=who.key[:128], door=door)


def _entry(
    kind: str,
    approval: Approval,
    session: Session,
    *,
    door: str,
    role: str,
    facts: Mapping[str, Json] | None = None,
    details: Mapping[str, Json] | None = None,
) -> AuditEntry:
    return AuditEntry(
        kind=str(AuditKind(kind)),
        approval_id=approval.approval_id,
        session_id=session.public_id,
        role=role[:64],
        door=door[:16],
        facts=dict(facts or {}),
        details=dict(details or {}),
        digest=approval.digest,
    )


def role_of(who: Principal, session: Session) -> str:
    """In what role ``who`` acts: ``owner`` of the conversation, ``approver``, ``viewer``, or the kind of a program."""
    if who.kind in PROGRAMS:
        return str(who.kind)
    if access.owns(who, session):
        return "owner"
    return "approver" if who.may_decide_all() else "viewer"


def told_of(key: str, user: Any = None) -> Q:
    """Entries about what somebody did, and about what was tried by who said that they were them."""
    told = Q(who=key)
    address = getattr(user, user.get_email_field_name(), "") if user is not None else ""
    return told | Q(role=UNKNOWN, name__iexact=address) if address else told


def name_of(who: Principal) -> str:
    """The whole name of an account, else what the principal is called."""
    return str(who.user.get_full_name() or who.user.get_username()) if who.user is not None else who.name
