"""Whose a conversation is, as the desk calls them: by name, and guests apart from each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.utils.translation import gettext as _

from envelopes.admin.people import account_name
from envelopes.markup.html import SafeString, reveal
from envelopes.models import Participant
from envelopes.search.visitors import guest_code


def owners(sessions: Iterable[int]) -> Mapping[int, SafeString]:
    """The owners of these conversations by the conversation's key, in one query; none where there is nothing to ask."""
    keys = set(sessions)
    if not keys:
        return {}
    found = Participant.objects.filter(session__in=keys, role=Participant.Role.OWNER).select_related("user")
    return {one.session_id: owner_name(one) for one in found.order_by("-pk")}


def owner_name(owner: Participant) -> SafeString:
    """A name with the account behind it, an account, or a guest by the code that lists and search show."""
    user = owner.user
    account = account_name(user) if user is not None else ""
    if user is not None and owner.name and account and owner.name not in (account, user.get_username()):
        return reveal(f"{owner.name} ({user.get_username()})")
    name = account or owner.name
    if name:
        return reveal(name)
    return reveal(_("Guest {}").format(guest_code(owner.owner_key)) if owner.owner_key else _("Visitor"))
