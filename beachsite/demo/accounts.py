"""The two accounts of the demo: one that owns conversations, one that looks after them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.db.models import Q

OWNER, STAFF = "ada", "staff"
GROUP = "Travel desk staff"
MANAGERS = "Travel managers"
"""The group of those who approve large bookings (``demo.booking``)."""

STAFF_MAY = (
    "decide_approval",
    "operate_session",
    "export_session",
    "export_auditentry",
    "add_peer",
    "change_peer",
)
"""Beside looking at everything."""


@dataclass(frozen=True)
class Account:
    """``password`` is empty unless it was just made: only its hash is kept."""

    name: str
    role: str
    password: str


def ensure_accounts(*, reset: bool = False, agent: str = "Sally") -> list[Account]:
    """Create what is missing; ``reset`` gives new passwords to what is there. ``agent``: who answers."""
    group, _ = Group.objects.get_or_create(name=GROUP)
    group.permissions.set(
        Permission.objects.filter(
            Q(content_type__app_label__in=("envelopes", "demo"), codename__startswith="view_")
            | Q(
                content_type__app_label="envelopes",
                codename__in=STAFF_MAY,
            )
        )
    )
    owner = _ensure(OWNER, f"talks to {agent}", reset=reset, first_name="Ada", last_name="Lovelace")
    staff = _ensure(STAFF, "reads, decides, writes and exports in the desk", reset=reset, is_staff=True)
    managers, _ = Group.objects.get_or_create(name=MANAGERS)
    get_user_model().objects.get(username=STAFF).groups.add(group, managers)
    return [owner, staff]


def _ensure(name: str, role: str, *, reset: bool, **fields: Any) -> Account:
    users = get_user_model().objects
    user, created = users.get_or_create(username=name, defaults=fields)
    if not created and not reset:
        return Account(name, role, "")
    password = secrets.token_urlsafe(9)
    user.set_password(password)
    user.save(update_fields=["password"])
    return Account(name, role, password)
