"""Who may decide an approval, and by what right: the one rule, asked by every door, page and list alike (R10).

It is that of the question: what the tool's policy answered when it was asked (``approvals.rules``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from envelopes.access import NOBODY, Principal, owned_sessions, owns
from envelopes.approvals.rules import StoredRule, owner_key, stored
from envelopes.models import Approval, ApprovalVersion, Decider, Decision, Session
from envelopes.registries.policies import STAFF
from envelopes.registries.statuses import ApprovalStatus
from envelopes.types import PROGRAMS

OWNER = "owner"
_PERMISSION, _GROUP = "permission:", "group:"


def right_to_decide(who: Principal, approval: Approval) -> str | None:
    """By what right ``who`` may decide this question: ``owner``, ``permission``, ``group:<name>``, ``peer``; None where
    they may not. Needs ``approval.session``. Whether it is still open is another matter.

    The owner's own right comes first, so that it counts once, whoever else they are.
    """
    rule = stored(approval)
    if not who.is_known or _is_barred(who, rule, approval.session):
        return None
    if who.kind in PROGRAMS:
        # The agent of a program that calls ours would grant what ours has asked for, unless that is what is wanted.
        named = who.kind == "peer" and who.decides and f"peer:{who.name}" in rule.deciders
        return "peer" if named and owns(who, approval.session) else None
    if OWNER in rule.deciders and owns(who, approval.session):
        return OWNER
    return _role(who, rule)


def right_now(who: Principal, approval: Approval) -> str | None:
    """``right_to_decide`` with the account as the database has it: whoever has waited for a lock brings the one of
    before, with the permissions that were asked for then."""
    if who.user is not None:
        user = get_user_model()._default_manager.filter(pk=who.user.pk, is_active=True).first()
        who = replace(who, user=user) if user is not None else NOBODY
    return right_to_decide(who, approval)


def may_still(decision: Decision, approval: Approval) -> bool:
    """Whether whoever has made ``decision`` could decide ``approval`` now. Of a guest: whether they own it still. Of a
    program nobody can tell: it decides what it asks for itself."""
    if decision.by_user is not None:
        return right_now(Principal(user=decision.by_user), approval) is not None
    return decision.role == OWNER and decision.by == owner_key(approval.session)


def _is_barred(who: Principal, rule: StoredRule, session: Session) -> bool:
    # An owner may have got another key since, by signing in.
    return rule.four_eyes and (who.key in rule.barred or owns(who, session))


def _role(who: Principal, rule: StoredRule) -> str | None:
    """What an account is allowed by its permissions and groups."""
    if who.user is None or not who.user.is_active:
        return None
    for token in rule.deciders:
        if token.startswith(_PERMISSION) and _has_permission(who, token.removeprefix(_PERMISSION)):
            return "permission"
    named = {token.removeprefix(_GROUP) for token in rule.deciders if token.startswith(_GROUP)}
    if named:
        found = who.user.groups.filter(name__in=named).order_by("name").values_list("name", flat=True).first()
        return f"{_GROUP}{found}" if found is not None else None
    return None


def _has_permission(who: Principal, name: str) -> bool:
    return who.may_decide_all() if name == STAFF.name else bool(who.user.has_perm(name))


def decidable(who: Principal) -> QuerySet[Approval]:
    """The open questions that ``who`` may still decide: theirs by ``right_to_decide``, not expired, and not decided by
    them yet. One query; a filter for any list of approvals."""
    open_now = _open_now()
    if not who.is_known:
        return open_now.none()
    owned = Q(session__in=owned_sessions(who).values("pk"))
    if who.kind in PROGRAMS:
        named = Q(token=f"peer:{who.name}") if who.kind == "peer" and who.decides else Q(pk__in=[])
        may = owned & _named(named)
    else:
        may = (owned & _named(Q(token=OWNER))) | _named(_tokens(who))
    barred = Q(rule__fourEyes=True) & (owned | Q(rule__barred__has_key=who.key))
    mine = Decision.objects.filter(approval=OuterRef("pk"), version=OuterRef("version"), by=who.key)
    return open_now.filter(may).exclude(barred).exclude(Exists(mine))


def asked_of_owners() -> QuerySet[Approval]:
    """The open questions that the owners of their conversations may decide as such, and have not; without a query for
    whoever that is."""
    gave = Decision.objects.filter(approval=OuterRef("pk"), version=OuterRef("version"), role=OWNER)
    return _open_now().filter(_named(Q(token=OWNER))).exclude(Exists(gave))


def _open_now() -> QuerySet[Approval]:
    return Approval.objects.filter(state=ApprovalStatus.PENDING).filter(
        Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    )


def _named(tokens: Q) -> Q:
    return Q(Exists(Decider.objects.filter(tokens, approval=OuterRef("pk"))))


def _tokens(who: Principal) -> Q:
    """What an account is listed under."""
    user: Any = who.user
    if user is None or not user.is_active:
        return Q(pk__in=[])
    staff = Q(token=STAFF.token) if who.may_decide_all() else Q(pk__in=[])
    others = Q(token__in=[f"{_GROUP}{name}" for name in user.groups.values_list("name", flat=True)])
    if user.is_superuser:
        return staff | others | (Q(token__startswith=_PERMISSION) & ~Q(token=STAFF.token))
    named = {f"{_PERMISSION}{name}" for name in user.get_all_permissions()} - {STAFF.token}
    return staff | others | Q(token__in=sorted(named))


def kinds_of(who: Principal, session: Session) -> list[str]:
    """As what ``who`` may come to decide in a conversation, for a page that shows many questions to many readers:
    ``owner``, ``staff`` and, for whoever may be in a group or have a permission of an application, ``member``."""
    kinds = [OWNER] if who.kind not in PROGRAMS and owns(who, session) else []
    if who.may_decide_all():
        kinds.append("staff")
    return [*kinds, "member"] if who.user is not None else kinds


def find(approval_id: str) -> tuple[Approval, ApprovalVersion | None] | None:
    """The approval that is asked under this id, or was: then with the version that had it."""
    if not approval_id.isalnum():
        # What is no id at all is not looked for: databases refuse some texts.
        return None
    known = Approval.objects.select_related("session", "turn", "tool_call", "decided_by_user")
    if (found := known.filter(approval_id=approval_id).first()) is not None:
        return found, None
    was = ApprovalVersion.objects.filter(asked_as=approval_id).select_related("by_user").first()
    return (known.get(pk=was.approval_id), was) if was is not None else None
