"""The end of entries: the oldest are deleted once their time is over, and a person's content is erased. The chain holds
after both."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import QuerySet
from django.utils import timezone

from envelopes.audit import chain
from envelopes.audit.verifying import Walk, entries_upto, ranges
from envelopes.conf import conf
from envelopes.errors import BeachError
from envelopes.models.audit import AuditEntry, AuditKind
from envelopes.types import Json

PRUNED_AT_ONCE = 1_000
ERASED_AT_ONCE = 500
EMPTY: dict[str, Json] = {"who": "", "name": "", "reason": "", "digest": "", "details": {}, "salt": ""}


class AuditBroken(BeachError):
    """The audit log is not what was written, so nothing of it is deleted."""

    code = "audit_broken"


def prune_old() -> int:
    """What BEACH_AUDIT_DAYS says, some entries at a time; 0 where it says nothing."""
    days = conf.BEACH_AUDIT_DAYS
    return prune(timezone.now() - timedelta(days=days)) if days else 0


def prune(before: datetime) -> int:
    """Delete the oldest entries, those in a row that are older than ``before``, ``PRUNED_AT_ONCE`` at most; returns how
    many.

    The head keeps the digest of the last of them, from which the rest is verified, and so does an entry of its own. The
    newest entry stays. Raises ``AuditBroken``, and deletes nothing, where they are not what was written.
    """
    with transaction.atomic():
        head = chain.locked_head()
        walk = Walk(head.first - 1, head.anchor)
        only_pruned = True
        for entry in entries_upto(min(head.number - 1, walk.number + PRUNED_AT_ONCE), walk.number):
            if entry.at >= before:
                break
            problem = walk.step(entry)
            if problem:
                raise AuditBroken(
                    f"Entry {entry.number}: {problem} Nothing was deleted.", number=entry.number
                )
            only_pruned &= entry.kind == AuditKind.PRUNED
        count = walk.number - head.first + 1
        if count == 0 or only_pruned:
            # What pruning itself has left is no reason to prune: it would never end.
            return 0
        _check_named(walk)
        chain.move(head, is_sealed=chain.holds(head), first=walk.number + 1, anchor=walk.digest)
        _past_the_guard().filter(number__lte=walk.number)._raw_delete(DEFAULT_DB_ALIAS)
        _add(AuditKind.PRUNED, {"count": count, "upto": walk.number, "digest": walk.digest})
    return count


def _check_named(walk: Walk) -> None:
    """What was erased of those that go may be named by entries that stay."""
    if not walk.unnamed:
        return
    for entry in AuditEntry.objects.filter(kind=AuditKind.ERASED, number__gt=walk.number):
        walk.name(entry)
    if walk.unnamed:
        first = min(walk.unnamed)
        raise AuditBroken(
            f"Entry {first}: its content is gone, and no erasure is on record. Nothing was deleted.",
            number=first,
        )


def erase(entries: QuerySet[AuditEntry]) -> int:
    """Erase what tells of people in ``entries``, and say so in an entry that names them; returns how many.

    Inside a transaction, as the last thing that it locks. Who may do that is the caller's affair.
    """
    chain.locked_head()
    numbers = list(entries.exclude(salt="").order_by("number").values_list("number", flat=True))
    for begin in range(0, len(numbers), ERASED_AT_ONCE):
        some = numbers[begin : begin + ERASED_AT_ONCE]
        _past_the_guard().filter(number__in=some).update(**EMPTY)
        _add(AuditKind.ERASED, {"count": len(some), "entries": ranges(some)})
    return len(numbers)


def _add(kind: AuditKind, facts: dict[str, Json]) -> None:
    entry = AuditEntry(kind=str(kind), at=timezone.now(), role="operator", facts=facts)
    chain.append([entry])


def _past_the_guard() -> QuerySet[AuditEntry]:
    """Entries without the methods that refuse: for here alone. The triggers of the table look on."""
    return QuerySet(AuditEntry)
