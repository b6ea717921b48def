"""Feature flags as a file has them, where the site has django-waffle."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import Group

from envelopes import flags
from envelopes.config_transfer.payload import FlagState
from envelopes.errors import ValidationFailed
from envelopes.types import Json


def flags_here() -> list[FlagState] | None:
    """All of them by name; None where there are none of that kind."""
    if not flags.installed():
        return None
    return [state_of(flag) for flag in flags.model().objects.order_by("name").prefetch_related("groups")]


def state_of(flag: Any) -> FlagState:
    """One of them."""
    told = {name: getattr(flag, name) for name in FlagState.model_fields if name not in ("percent", "groups")}
    percent = None if flag.percent is None else str(flag.percent)
    return FlagState(**told, percent=percent, groups=sorted(group.name for group in flag.groups.all()))


def write(number: int, state: FlagState) -> tuple[bool, list[tuple[str, Json, Json]]]:
    """Make the flag of this name what ``state`` says; its people stay. Whether it is new, and its members that have
    changed: name, value before and after. Raises ``ValidationFailed`` for a group that is neither here nor in the
    file."""
    flag = flags.model().objects.filter(name=state.name).first()
    before = None if flag is None else state_of(flag)
    groups = list(Group.objects.filter(name__in=state.groups))
    if missing := sorted(set(state.groups) - {group.name for group in groups}):
        raise ValidationFailed(
            f"{state.name!r} is on for groups that do not exist: {', '.join(missing)}.",
            path=f"/flags/{number}/groups",
        )
    different = list(_different(before, state))
    if flag is None or different:
        flag = flag or flags.model()(name=state.name)
        for name, value in state.model_dump(exclude={"percent", "groups"}).items():
            setattr(flag, name, value)
        flag.percent = None if state.percent is None else Decimal(state.percent)
        # Saved, so that what waffle has in its cache goes.
        flag.save()
        flag.groups.set(groups)
    return before is None, different


def _different(before: FlagState | None, state: FlagState) -> Iterator[tuple[str, Json, Json]]:
    was = {} if before is None else before.model_dump()
    untold = FlagState(name=state.name).model_dump()
    becomes = {**state.model_dump(), "groups": sorted(set(state.groups))}
    for name, value in becomes.items():
        if name != "name" and was.get(name, untold[name]) != value:
            yield name, was.get(name), value
