"""``manage.py beach costs``: what models took and cost, by day, person, conversation or agent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from envelopes.access import principal_key
from envelopes.costs import money
from envelopes.models import Turn

BY = ("day", "person", "conversation", "agent")

SHOWN = 100
"""Lines at most, the most expensive ones; of days the last ones."""


def add_arguments(commands: Any) -> None:
    """The subcommand."""
    costs = commands.add_parser("costs", help="prints what models took and cost")
    costs.add_argument("--by", choices=BY, default="day", help="a line for each (default: %(default)s)")
    costs.add_argument(
        "--days", type=int, default=30, help="of answers so many days old at most (default: %(default)s)"
    )


def rows(by: str, days: int) -> Iterator[tuple[str, ...]]:
    """Who or what, answers, tokens and cost, and all together at the end."""
    turns = Turn.objects.filter(created_at__gte=timezone.now() - timedelta(days=days)).order_by()
    grouped = _grouped(turns, by)
    found = list(
        grouped.annotate(answers=Count("pk", distinct=True), took=Sum("tokens"), paid=Sum("cost")).order_by(
            *(("-day",) if by == "day" else ("-paid", "-took", "-answers"))
        )[:SHOWN]
    )
    for each in reversed(found) if by == "day" else found:
        yield _line(_name(by, each), each)
    yield _line("all", turns.aggregate(answers=Count("pk"), took=Sum("tokens"), paid=Sum("cost")))


def _grouped(turns: Any, by: str) -> Any:
    match by:
        case "day":
            return turns.annotate(day=TruncDate("created_at")).values("day")
        case "person":
            owned = Q(session__participants__role="owner")
            return turns.filter(owned).values(
                user=F("session__participants__user_id"),
                named=F("session__participants__user__username"),
                key=F("session__participants__owner_key"),
            )
        case "conversation":
            return turns.values(named=F("session__public_id"))
        case _:
            return turns.values(named=F("actor"))


def _name(by: str, row: dict[str, Any]) -> str:
    if by == "day":
        return str(row["day"])
    return str(row["named"] or principal_key(row.get("user"), row.get("key") or "") or "nobody")


def _line(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    return name, f"{row['answers']:,} answers", f"{row['took'] or 0:,} tokens", money(row["paid"] or 0.0)
