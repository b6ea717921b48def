"""The queue of approvals: which of them, in which order, a page at a time.

Each view is read in the order of an index, and a page begins behind the last row of the one before, so it costs the
same wherever it is. Nothing is counted beyond ``COUNTED``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.db.models import Case, F, JSONField, Q, QuerySet, Value, When
from django.http import QueryDict
from django.utils import timezone

from envelopes.models import Approval, ApprovalVersion, ToolCall

PAGE = 40
"""Rows of one page."""
COUNTED = 999
"""Counts go no further; the page then says that there are more."""
NEIGHBOURS = 100
"""How far into the queue "next" and "previous" of one request look."""

PENDING = Q(state="pending")
VIEWS = ("waiting", "mine", "unknown", "decided", "all")
RISKS = ("high", "medium", "low")
AGES = {"hour": timedelta(hours=1), "day": timedelta(days=1), "older": timedelta(days=1)}
"""Asked within the last hour, within the last day, or before that."""
WIDE = ("tool_call__args", "tool_call__result", "tool_call__error")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Asked:
    """What the reader asked for. ``after`` is where the page begins, as ``cursor`` wrote it."""

    view: str = "waiting"
    risk: str = ""
    tool: str = ""
    agent: str = ""
    age: str = ""
    q: str = ""
    after: str = ""

    @classmethod
    def of(cls, query: QueryDict) -> Asked:
        """Unknown values ask for nothing. Raises BadRequest for NUL in a filter, which PostgreSQL takes in no text."""
        if any("\0" in value for key in query if key != "q" for value in query.getlist(key)):
            raise BadRequest("NUL in a filter.")
        view = query.get("view", "")
        return cls(
            view=view if view in VIEWS else "waiting",
            risk=_one_of(query.get("risk", ""), RISKS),
            tool=query.get("tool", "")[:128],
            agent=query.get("agent", "")[:64],
            age=_one_of(query.get("age", ""), AGES),
            q=query.get("q", "").replace("\0", "").strip()[:200],
            after=query.get("after", ""),
        )

    def address(self, **changes: str) -> str:
        """The query of the same list with other values, from its beginning unless ``after`` is among them."""
        asked = replace(self, **{"after": "", **changes})
        given = {
            name: getattr(asked, name) for name in ("view", "risk", "tool", "agent", "age", "q", "after")
        }
        return "?" + urlencode({name: value for name, value in given.items() if value})

    @property
    def is_filtered(self) -> bool:
        return bool(self.risk or self.tool or self.agent or self.age or self.q)


@dataclass(frozen=True)
class Page:
    """``more`` is the cursor behind the last row; empty where there are no more."""

    rows: list[Any]
    more: str = ""


@dataclass(frozen=True)
class Source:
    """``seen`` are the approvals that the reader may look at, ``decidable`` gives those that wait for a decision which
    the reader may make: it asks for the reader's groups, so only once it is needed."""

    seen: QuerySet[Approval]
    decidable: Callable[[], QuerySet[Approval]]

    @property
    def unknown(self) -> QuerySet[Approval]:
        """Those of which nobody knows whether they took effect. By their calls, of which few are so: by the state of
        the approval it would be all that were ever granted."""
        return self.seen.filter(tool_call__in=ToolCall.objects.filter(state="unknown").values("pk"))


def page(asked: Asked, source: Source, *, size: int = 0) -> Page:
    """The rows of one page, each with ``session``, ``tool_call`` and ``decided_by_user``; two queries at most. ``size``
    is ``PAGE`` unless it is given."""
    size = size or PAGE
    found: list[Any] = []
    for part in _parts(asked, source):
        found += part[: size + 1 - len(found)]
        if len(found) > size:
            return Page(found[:size], cursor(asked.view, found[size - 1]))
    return Page(found)


def cursor(view: str, approval: Approval) -> str:
    """Where the page behind this row begins."""
    match view:
        case "waiting" | "mine":
            return f"{_stamp(approval.expires_at)}.{approval.pk}"
        case "decided":
            return f"{_stamp(approval.decided_at)}.{approval.pk}"
        case _:
            return str(approval.pk)


def counts(source: Source, *, may_decide: bool) -> Mapping[str, str]:
    """How many there are in the views that are short, as it is written. What waits the frame counts."""
    return {"mine": counted(source.decidable()) if may_decide else "", "unknown": counted(source.unknown)}


def counted(rows: QuerySet[Any]) -> str:
    """The number of rows as it is written: exact up to ``COUNTED``."""
    found = rows.order_by()[: COUNTED + 1].count()
    return f"{COUNTED}+" if found > COUNTED else f"{found}"


@dataclass(frozen=True)
class Neighbours:
    """Where a request stands among those that wait: ``place`` of ``total``, both as written; empty beyond
    ``NEIGHBOURS``."""

    before: int | None = None
    after: int | None = None
    place: str = ""
    total: str = ""


def neighbours(approval: Approval, source: Source) -> Neighbours:
    """Next and previous in the order of the queue. Of one that no longer waits, the next is the first that does."""
    keys: list[int] = []
    for part in _waiting(source.seen.filter(PENDING), ""):
        keys += part.values_list("pk", flat=True)[: NEIGHBOURS + 1 - len(keys)]
        if len(keys) > NEIGHBOURS:
            break
    total = f"{NEIGHBOURS}+" if len(keys) > NEIGHBOURS else str(len(keys))
    if approval.pk not in keys:
        return Neighbours(after=next((key for key in keys if key != approval.pk), None))
    at = keys.index(approval.pk)
    return Neighbours(
        keys[at - 1] if at else None, keys[at + 1] if at + 1 < len(keys) else None, str(at + 1), total
    )


# -- one view, as the querysets that are read one after the other ----------------------------------------------------


def _parts(asked: Asked, source: Source) -> Iterable[QuerySet[Any]]:
    match asked.view:
        case "waiting":
            return _waiting(listed(_filtered(asked, source.seen.filter(PENDING))), asked.after)
        case "mine":
            return _waiting(listed(_filtered(asked, source.decidable())), asked.after)
        case "decided":
            return [_newest_decided(listed(_filtered(asked, source.seen)), asked.after)]
    rows = listed(_filtered(asked, source.unknown if asked.view == "unknown" else source.seen))
    key = _number(asked.after)
    return [(rows if key is None else rows.filter(pk__lt=key)).order_by("-pk")]


def listed(rows: QuerySet[Approval]) -> QuerySet[Any]:
    """With what a row of the list shows, and nothing wide: arguments only of what still waits (``waiting_args``)."""
    args = Case(When(PENDING, then=F("args")), default=Value(None, JSONField()), output_field=JSONField())
    return (
        rows.select_related("session", "tool_call", "decided_by_user")
        .defer("args", *WIDE)
        .annotate(waiting_args=args)
    )


def _filtered(asked: Asked, rows: QuerySet[Approval]) -> QuerySet[Approval]:
    for name, value in (("risk", asked.risk), ("tool_name", asked.tool), ("handler", asked.agent)):
        if value:
            rows = rows.filter(**{name: value})
    if asked.age:
        since = timezone.now() - AGES[asked.age]
        rows = rows.filter(**{f"requested_at__{'lt' if asked.age == 'older' else 'gte'}": since})
    if asked.q:
        rows = rows.filter(
            Q(question__icontains=asked.q)
            | Q(tool_name__istartswith=asked.q)
            | Q(approval_id__istartswith=asked.q)
            | Q(pk__in=ApprovalVersion.objects.filter(asked_as=asked.q).values("approval"))
            | Q(digest__istartswith=asked.q.replace(" ", ""))
        )
    return rows


def _waiting(rows: QuerySet[Any], after: str) -> Iterable[QuerySet[Any]]:
    """Those that expire, the next first; then those that do not. Two querysets, each in the order of the index: of
    where NULL stands the databases think differently."""
    at, key = _place(after)
    lasting = rows.filter(expires_at__isnull=True).order_by("pk")
    if key is not None and at is None:
        return [lasting.filter(pk__gt=key)]
    expiring = rows.filter(expires_at__isnull=False).order_by("expires_at", "pk")
    if key is not None:
        # The first condition alone is what the index begins at.
        expiring = expiring.filter(Q(expires_at__gt=at) | Q(pk__gt=key), expires_at__gte=at)
    return [expiring, lasting]


def _newest_decided(rows: QuerySet[Any], after: str) -> QuerySet[Any]:
    at, key = _place(after)
    rows = rows.filter(decided_at__isnull=False).order_by("-decided_at", "-pk")
    if key is None or at is None:
        return rows
    return rows.filter(Q(decided_at__lt=at) | Q(pk__lt=key), decided_at__lte=at)


def _stamp(at: datetime | None) -> str:
    return "" if at is None else str((at - _EPOCH) // _MICROSECOND)


def _place(after: str) -> tuple[datetime | None, int | None]:
    """What ``cursor`` wrote. Something else is the beginning."""
    stamp, dot, key = after.partition(".")
    number, micros = _number(key), _number(stamp)
    if not dot or number is None or (stamp and micros is None):
        return None, None
    try:
        return (None if micros is None else _EPOCH + micros * _MICROSECOND), number
    except OverflowError:
        return None, None


def numbers(texts: Iterable[str]) -> list[int]:
    """The keys among what a page has sent; what no column holds is none."""
    return [number for text in texts if (number := _number(text)) is not None]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _one_of(value: str, allowed: Iterable[str]) -> str:
    return value if value in allowed else ""
