"""Approvals: decided, expired. Nothing else changes the state of one that people are asked about (R4).

A question is settled by one conditional
update, when as many have approved as its rule needs or one has denied; every later click is told what happened and is
recorded beside it, never instead of it.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from envelopes import audit
from envelopes.access import Principal, visible_sessions
from envelopes.approvals import rights, rules
from envelopes.approvals.lateness import late_for
from envelopes.approvals.rights import right_to_decide
from envelopes.approvals.settling import record, settle
from envelopes.approvals.versions import Anew, ask_anew, tool_of
from envelopes.errors import BeachError, Expired, Forbidden, NotFound, ValidationFailed
from envelopes.log.append import Writer, writing
from envelopes.models import Approval, Session
from envelopes.protocol.decision_rows import EditIgnoredData, GrantData, LateDecisionData
from envelopes.protocol.text import clean_json, clean_text, clip
from envelopes.registries.doors import CHAT, POLICY, doors
from envelopes.registries.policies import ASKED_AGAIN
from envelopes.registries.statuses import ApprovalStatus
from envelopes.types import JsonObject

EXPIRY_POLICY = "policy:expiry"


def decide(
    approval_id: str,
    decision: str,
    who: Principal,
    *,
    reason: str = "",
    source: str = CHAT.name,
    sent: JsonObject | None = None,
) -> Approval:
    """Decide an approval, once. Where more people have to approve, it is still ``pending`` afterwards. ``sent``: what
    else came along, such as other arguments; it is recorded and has no effect (D20).

    Raises what ``may_answer`` does, and ``AlreadyDecided``, ``AlreadyChanged`` and ``Expired`` with what happened. A
    late click is recorded in the log; it changes nothing.
    """
    session_pk = may_answer(approval_id, decision, who)
    with writing(session_pk) as writer:
        decided = answer(writer, approval_id, decision, who, reason=reason, source=source, sent=sent)
    if isinstance(decided, BeachError):
        raise decided
    return decided


def may_answer(approval_id: str, decision: str, who: Principal) -> int:
    """The key of the session whose approval ``who`` may decide with that word.

    Raises ``ValidationFailed`` for another word than granted or denied, ``NotFound`` when it does not exist or is not
    theirs to see, ``Forbidden`` when they may see but not decide it.
    """
    if decision not in ("granted", "denied"):
        raise ValidationFailed("A decision is 'granted' or 'denied'.", allowed=["granted", "denied"])
    found = rights.find(approval_id)
    approval = found[0] if found is not None else None
    may = approval is not None and right_to_decide(who, approval) is not None
    if approval is None or not (may or visible_sessions(who).filter(pk=approval.session_id).exists()):
        raise NotFound("This request does not exist, or you do not have access to it.")
    if not may:
        raise Forbidden("You can view this request but not decide it.")
    return approval.session_id


def answer(
    writer: Writer,
    approval_id: str,
    decision: str,
    who: Principal,
    *,
    reason: str,
    source: str,
    sent: JsonObject | None = None,
) -> Approval | BeachError:
    """Decide inside an open append, after ``may_answer``, whose errors it raises as well: rights are asked for again,
    under the lock. ``source`` is the name of a door (``registries.doors``); raises ``ValidationFailed`` where nobody
    registered it. What comes too late is recorded, and the error that tells so is returned, not raised: the record has
    to be committed."""
    if source not in doors:
        raise ValidationFailed(f"There is no approval door {source!r}.", allowed=doors.names())
    reason = clip(clean_text(reason), 512)
    found = rights.find(approval_id)
    if found is None:
        raise NotFound("This request does not exist, or you do not have access to it.")
    approval, was = found
    role = rights.right_now(who, approval)
    if role is None:
        raise Forbidden("You can view this request but not decide it.")
    if sent:
        extra: EditIgnoredData = {
            "approvalId": approval_id,
            "by": who.key,
            "source": source,
            "sent": clean_json(sent),
        }
        writer.add("edit-ignored", extra, turn=approval.turn)
    late = expire_if_due(writer, approval, reader=who.key) or late_for(approval, was, who.key, role)
    if late is not None:
        late_record: LateDecisionData = {
            "approvalId": approval_id,
            "decision": decision,
            "by": who.key,
            "reason": reason,
            "source": source,
        }
        writer.add("late-decision", late_record, turn=approval.turn)
        audit.refused(writer, approval, who, decision, late, door=source, reason=reason)
        return late
    approval.decided_by_user = who.user
    approval.source = source
    record(writer, approval, decision, by=who.key, name=who.name, role=role, reason=reason, user=who.user)
    given = approval.decisions.filter(version=approval.version, decision=ApprovalStatus.GRANTED).count()
    needed = rules.stored(approval).needed
    facts: JsonObject = {"decision": decision}
    if decision == ApprovalStatus.GRANTED and needed > 1:
        facts |= {"count": given, "needed": needed}
    audit.record(writer, "decided", approval, who=who, role=role, door=source, reason=reason, facts=facts)
    if decision == ApprovalStatus.GRANTED and given < needed:
        grant: GrantData = {
            "approvalId": approval_id,
            "by": who.key,
            "name": who.name,
            "role": role,
            "source": source,
            "reason": reason,
            "given": given,
            "needed": needed,
        }
        writer.add("grant", grant, turn=approval.turn)
        return approval
    settle(writer, approval, decision, by=who.key, name=who.name, reason=reason)
    return approval


def expire_due(now: datetime | None = None) -> int:
    """Expire every pending approval whose time has passed; returns how many. Waits for sessions that are locked."""
    return sum(expire(approval_id, session, now) for approval_id, session in due_approvals(now))


def due_approvals(now: datetime | None = None) -> list[tuple[str, int]]:
    """``(approval, session)`` of every pending approval whose time has passed."""
    due = Approval.objects.filter(state=ApprovalStatus.PENDING, expires_at__lte=now or timezone.now())
    return list(due.values_list("approval_id", "session_id"))


def expire(approval_id: str, session_pk: int, now: datetime | None = None, *, wait: bool = True) -> bool:
    """Expire one of ``due_approvals``; whether that was done. Without ``wait``, not in a session that somebody has
    locked (on PostgreSQL; SQLite locks none by itself)."""
    with transaction.atomic():
        if not wait and not Session.objects.select_for_update(skip_locked=True).filter(pk=session_pk).first():
            return False
        with writing(session_pk) as writer:
            known = Approval.objects.select_related("turn", "tool_call", "decided_by_user")
            approval = known.filter(approval_id=approval_id).first()
            # None where somebody else was faster, and it is asked again as another.
            return approval is not None and expire_if_due(writer, approval, now) is not None


def expire_if_due(
    writer: Writer, approval: Approval, now: datetime | None = None, *, reader: str = ""
) -> BeachError | None:
    """Expire a question whose time has passed, or ask it again; the error that tells whoever came too late so, None
    where it is open."""
    if (
        approval.state != ApprovalStatus.PENDING
        or approval.expires_at is None
        or approval.expires_at > (now or writer.now)
    ):
        return None
    audit.record(writer, "expired", approval, by=EXPIRY_POLICY, role=audit.RULE, door=POLICY.name)
    if _asked_again(writer, approval):
        return Expired("This request expired before anyone decided. It is asked again.", state="expired")
    approval.source = POLICY.name
    approval.decided_by_user = None
    told = {"by": EXPIRY_POLICY, "name": EXPIRY_POLICY, "reason": "expired"}
    record(writer, approval, ApprovalStatus.DENIED, role=EXPIRY_POLICY, **told)
    settle(writer, approval, ApprovalStatus.EXPIRED, **told)
    return late_for(approval, None, reader, None)


def _asked_again(writer: Writer, approval: Approval) -> bool:
    """Ask anew what nobody answered, where its rule says so and it was not asked too often."""
    rule, tool = rules.stored(approval), tool_of(approval)
    if rule.on_expiry != "ask-again" or tool is None:
        return False
    if approval.earlier.filter(cause="expired").count() >= ASKED_AGAIN:
        return False
    same = Anew(approval.args, approval.question, approval.why, rule, "expired", EXPIRY_POLICY)
    ask_anew(writer, approval, tool, same)
    audit.asked(writer, approval)
    return True
