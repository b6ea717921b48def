"""Feature flags of django-waffle, for whoever asks without a request: by a person, or by nobody who is known.

Percentages, languages and the testing mode belong to one browser, and everybody who looks at a conversation sees the
same: they are not read. What is asked is the database, since waffle's cache is each process's own. A project that does
not list ``waffle`` has no flags.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from django.apps import apps

Signature: TypeAlias = tuple[object, ...]

_TOLD = ("everyone", "authenticated", "staff", "superusers")


def installed() -> bool:
    """Whether there are flags at all."""
    return apps.is_installed("waffle")


def model() -> Any:
    """The model of flags, which a project may have made its own. Only where they are ``installed``."""
    from waffle import get_waffle_flag_model

    return get_waffle_flag_model()


def is_on(name: str, user: Any) -> bool | None:
    """Whether the flag is on for ``user``, or with None for whoever has no account; None where there is no such flag.

    ``everyone`` says it for all of them, where it is set.
    """
    flag = model().objects.filter(name=name).first() if installed() else None
    if flag is None:
        return None
    if flag.everyone is not None:
        return bool(flag.everyone)
    if user is None or not user.is_active:
        return False
    if flag.authenticated or (flag.staff and user.is_staff) or (flag.superusers and user.is_superuser):
        return True
    return bool(flag.users.filter(pk=user.pk).exists() or flag.groups.filter(user=user.pk).exists())


def signatures() -> dict[str, Signature]:
    """For whom each flag is on, as something that differs once that does."""
    if not installed():
        return {}
    found: dict[int, list[object]] = {}
    names: dict[int, str] = {}
    for pk, name, *told in model().objects.values_list("pk", "name", *_TOLD):
        names[pk], found[pk] = name, told
    for member in ("users", "groups"):
        pairs = model().objects.exclude(**{member: None}).order_by("pk", member).values_list("pk", member)
        for pk, whom in pairs:
            if pk in found:
                found[pk].append((member, whom))
    return {name: tuple(found[pk]) for pk, name in names.items()}
