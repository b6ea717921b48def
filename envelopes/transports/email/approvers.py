"""Who is told by mail of an approval: those who could decide it now, as the service says, and have an address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Q

from envelopes.access import principal
from envelopes.approvals.service import may_answer
from envelopes.conf import conf
from envelopes.errors import Forbidden, NotFound
from envelopes.models import Approval
from envelopes.ownership import owner_of

MOST = 50
"""How many are told of one approval."""


def approvers_of(approval: Approval) -> list[Any]:
    """At most ``MOST``, the owner first."""
    found: dict[object, Any] = {}
    for user in _candidates(approval):
        if user.pk not in found and address_of(user) and may_decide(approval, user):
            found[user.pk] = user
        if len(found) == MOST:
            break
    return list(found.values())


def address_of(user: Any) -> str:
    return str(getattr(user, user.get_email_field_name(), "") or "").strip()


def may_decide(approval: Approval, user: Any) -> bool:
    """Now, by the rule that every door asks."""
    try:
        may_answer(approval.approval_id, "denied", principal(user, None))
    except (Forbidden, NotFound):
        return False
    return True


def _candidates(approval: Approval) -> Iterator[Any]:
    """Accounts among which those are whom its rule names."""
    whom = conf.BEACH_APPROVAL_MAIL
    owner = owner_of(approval.session)
    if whom in ("owner", "all") and owner is not None and owner.user is not None:
        yield owner.user
    if whom in ("staff", "all"):
        tokens = approval.deciders.values_list("token", flat=True)
        groups = [token.removeprefix("group:") for token in tokens if token.startswith("group:")]
        codes = [token.rpartition(".")[2] for token in tokens if token.startswith("permission:")]
        may = Q(is_superuser=True) | Q(groups__name__in=groups) | Q(user_permissions__codename__in=codes)
        may |= Q(groups__permissions__codename__in=codes)
        users = get_user_model()._default_manager.filter(may, is_active=True).distinct().order_by("pk")
        yield from users.iterator(200)
