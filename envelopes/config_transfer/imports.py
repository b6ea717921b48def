"""What an import changes here: all of it in one transaction. What is here and not in the file stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db import transaction

from envelopes import flags
from envelopes.config_transfer.files import permissions_of
from envelopes.config_transfer.flags import write
from envelopes.config_transfer.payload import FlagState, GroupState, Payload, PeerState
from envelopes.errors import Conflict, ValidationFailed
from envelopes.models import Peer
from envelopes.types import Json

TOLD = ("scopes", "rate", "is_active")
"""Members of a peer whose values are told; of the others only that they change."""


@dataclass(frozen=True)
class Change:
    """One row: ``verb`` is ``added``, ``changed`` or ``only here``; ``members`` are name, value before and value after.

    No value is a secret: of a token it is the last four characters, and a card is only ``changed``.
    """

    what: str
    name: str
    verb: str
    members: tuple[tuple[str, Json, Json], ...] = ()


@dataclass
class Report:
    """What an import changed, or would change; ``same`` is how many rows were as the file has them."""

    changes: list[Change] = field(default_factory=list)
    same: int = 0

    @property
    def changed(self) -> int:
        """How many rows are not what they were."""
        return sum(change.verb != "only here" for change in self.changes)


def carry_over(payload: Payload, *, dry: bool = False) -> Report:
    """Make this site what the file says; ``dry`` takes all of it back again.

    Raises ``ValidationFailed`` for a permission that does not exist here, and for flags where there are none;
    ``Conflict`` for a token that another peer of this site has. Nothing is changed then.
    """
    report = Report()
    with transaction.atomic():
        _groups(payload.groups, report)
        if payload.flags is not None:
            _flags(payload.flags, report)
        if payload.peers is not None:
            _peers(payload.peers, report)
        if dry:
            transaction.set_rollback(True)
    return report


# -- peers ------------------------------------------------------------------------------------------------------------


def _peers(wanted: list[PeerState], report: Report) -> None:
    here = {peer.name: peer for peer in Peer.objects.select_for_update()}
    names = {state.name for state in wanted}
    others = {peer.token_digest: peer.name for peer in here.values() if peer.name not in names}
    written: list[tuple[Peer, PeerState]] = []
    for number, state in enumerate(wanted):
        if (other := others.get(state.token_digest)) is not None:
            raise Conflict(
                f"The token of {state.name!r} is the one of {other!r} here.", path=f"/peers/{number}"
            )
        peer = here.get(state.name) or Peer()
        if not (different := tuple(_different(peer, state))):
            report.same += 1
            continue
        written.append((peer, state))
        verb = "changed" if peer.pk else "added"
        report.changes.append(Change("peer", state.name, verb, different))
    # Peers of the file may have each other's tokens here: all of them let go of theirs first.
    for peer, _ in written:
        if peer.pk:
            Peer.objects.filter(pk=peer.pk).update(token_digest=f"moving {peer.pk}")
    for peer, state in written:
        for name, value in state.model_dump().items():
            setattr(peer, name, value)
        peer.save()
    report.changes += [Change("peer", name, "only here") for name in sorted(set(here) - names)]


def _different(peer: Peer, state: PeerState) -> Iterator[tuple[str, Json, Json]]:
    before: Any = peer if peer.pk else None
    if before is None or before.token_digest != state.token_digest:
        yield "token", before and _end(before.token_end), _end(state.token_end)
    for name in TOLD:
        was, becomes = before and getattr(before, name), getattr(state, name)
        if was != becomes:
            yield name, was, becomes
    card = before and before.card
    if card != state.card:
        yield "card", _there(card), "another" if card and state.card else _there(state.card)


def _end(characters: str) -> str:
    return f"...{characters}"


def _there(card: Json) -> Json:
    return None if card is None else "there"


# -- groups -----------------------------------------------------------------------------------------------------------


def _groups(wanted: list[GroupState], report: Report) -> None:
    known = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type")
    }
    for number, state in enumerate(wanted):
        if unknown := sorted(set(state.permissions) - known.keys()):
            raise ValidationFailed(
                f"{state.name!r} may do what nobody can do here: {', '.join(unknown)}.",
                path=f"/groups/{number}/permissions",
                hint="The applications that they belong to are not installed here, or not migrated.",
            )
        group, is_new = Group.objects.get_or_create(name=state.name)
        before, after = permissions_of(group), sorted(set(state.permissions))
        if not is_new and before == after:
            report.same += 1
            continue
        group.permissions.set(known[name] for name in after)
        told: tuple[str, Json, Json] = ("permissions", None if is_new else list(before), list(after))
        report.changes.append(Change("group", state.name, "added" if is_new else "changed", (told,)))
    names = {state.name for state in wanted}
    only_here = Group.objects.exclude(name__in=names).order_by("name").values_list("name", flat=True)
    report.changes += [Change("group", name, "only here") for name in only_here]


# -- flags ------------------------------------------------------------------------------------------------------------


def _flags(wanted: list[FlagState], report: Report) -> None:
    if not flags.installed():
        if not wanted:
            return
        raise ValidationFailed(
            "The file has feature flags, and there are none here.",
            path="/flags",
            hint="Add 'waffle' to INSTALLED_APPS, and migrate.",
        )
    for number, state in enumerate(wanted):
        is_new, different = write(number, state)
        if is_new or different:
            verb = "added" if is_new else "changed"
            report.changes.append(Change("flag", state.name, verb, tuple(different)))
        else:
            report.same += 1
    names = {state.name for state in wanted}
    here = flags.model().objects.exclude(name__in=names).order_by("name").values_list("name", flat=True)
    report.changes += [Change("flag", name, "only here") for name in here]
