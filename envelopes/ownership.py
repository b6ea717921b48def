"""Whose a conversation is, for work that nobody asked for: webhooks, polls, gates. What somebody who asks may see or do
is a matter of ``access``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from envelopes.models import Participant, Session


def owner_of(session: Session) -> Participant | None:
    """The owner, with the user where it is one."""
    owners = session.participants.filter(role=Participant.Role.OWNER).select_related("user")
    return owners.order_by("pk").first()


def sessions_since(moment: datetime, owner_key: str = "") -> QuerySet[Session]:
    """Those in which something has been written since; of one owner (``access.Principal.key``), where it is given."""
    sessions = Session.objects.filter(updated_at__gte=moment)
    if not owner_key:
        return sessions
    owned = Participant.objects.filter(role=Participant.Role.OWNER, owner_key=owner_key)
    return sessions.filter(pk__in=owned.values("session"))


def is_operator(user: Any) -> bool:
    """Whether ``user``, None for whoever is no user, is of the staff."""
    return user is not None and bool(user.is_active and user.is_staff)
