"""Who somebody elsewhere is here: BEACH_BUTTON_USERS says it, and nothing else does."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib.auth import get_user_model

from envelopes.conf import conf
from envelopes.registries.doors import doors


class Known(NamedTuple):
    """One line of the setting."""

    door: str
    by: str
    username: str


def read(line: str) -> Known | None:
    """``slack:T0123/U0456=grace``; None for what is no such line."""
    there, _, username = line.rpartition("=")
    door, _, by = there.partition(":")
    return Known(door, by, username) if door in doors and by and username else None


def user_of(door: str, by: str) -> Any:
    """The account; None where nobody is named, or more than one, or they have none that counts."""
    found = {
        known.username for known in map(read, conf.BEACH_BUTTON_USERS) if known and known[:2] == (door, by)
    }
    if len(found) != 1:
        return None
    users = get_user_model()
    return users._default_manager.filter(**{users.USERNAME_FIELD: found.pop()}, is_active=True).first()
