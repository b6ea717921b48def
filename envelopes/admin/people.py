"""What to call whoever did something, for the one who reads. Stored keys tell principals apart, and people nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth import get_user_model
from django.utils.translation import gettext as _

from envelopes.access import Principal
from envelopes.approvals.service import EXPIRY_POLICY
from envelopes.models import Peer


@dataclass(frozen=True)
class People:
    """``reader`` is the key of whoever reads, ``owner`` the name of the conversation's owner, ``accounts`` the names by
    key."""

    reader: str = ""
    owner: str = ""
    accounts: Mapping[str, str] = field(default_factory=dict)

    def name(self, key: object, fallback: object = "") -> str:
        """In the middle of a sentence: "you" for the reader alone, a name, or "the visitor". ``fallback`` is the name
        that was written beside the key, for accounts that are gone."""
        if not isinstance(key, str) or not key:
            return self._written(fallback) or _("somebody")
        if key == self.reader:
            return _("you")
        if key.startswith("anonymous:"):
            return _("the visitor")
        if key == EXPIRY_POLICY:
            return _("nobody")
        if key.startswith("policy:"):
            return _("the rule “{}”").format(self._written(fallback) or key.removeprefix("policy:"))
        return self.accounts.get(key) or self._written(fallback) or _("a deleted account")

    def heading(self, key: object, fallback: object = "") -> str:
        """The same where it stands alone."""
        if isinstance(key, str) and key.startswith("anonymous:"):
            return _("Visitor")
        if key == EXPIRY_POLICY:
            return _("Runtime")
        name = self.name(key, fallback)
        return name[:1].upper() + name[1:]

    @staticmethod
    def _written(name: object) -> str:
        # Older rows call the owner "you", whoever reads.
        return name if isinstance(name, str) and name != "you" else ""


def account_name(user: Any) -> str:
    """``user``: of whatever model the site has for accounts."""
    return str(user.get_full_name() or user.get_username())


def people(reader: Principal | None, keys: Iterable[object], *, owner: str = "") -> People:
    """The names of the accounts and of the peers among ``keys``, in one query each."""
    wanted = {key for key in keys if isinstance(key, str)}
    users, programs = _numbers(wanted, "user:"), _numbers(wanted, "peer:")
    found = get_user_model()._default_manager.in_bulk(users) if users else {}
    accounts = {f"user:{pk}": account_name(user) for pk, user in found.items()}
    named = Peer.objects.filter(pk__in=programs).values_list("pk", "name") if programs else ()
    accounts |= {f"peer:{pk}": name for pk, name in named}
    return People(reader.key if reader is not None else "", owner, accounts)


def _numbers(keys: Iterable[str], prefix: str) -> set[int]:
    return {int(number) for key in keys if (number := key.removeprefix(prefix)) != key and number.isdecimal()}
