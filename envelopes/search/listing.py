"""Pages of conversations, newest words first, by what they hold and how they stand: older and newer from where one is,
with nothing counted and nothing skipped."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.models import Approval, Artifact, ConversationFacts, Session, Turn
from envelopes.search.backends import backend_for
from envelopes.search.backends.port import FACTS, Matching
from envelopes.search.places import first_place
from envelopes.search.query import Query, read_query
from envelopes.search.states import State

COUNTED = 99
"""Nobody counts further."""


EVERYTHING = read_query("")


class OwnerKind(StrEnum):
    """Whose a conversation is."""

    PEOPLE = "people"
    GUESTS = "guests"
    PROGRAMS = "programs"


_OF_KIND = {
    OwnerKind.PEOPLE: "f.owner >= 'user:' AND f.owner < 'user;'",
    OwnerKind.GUESTS: "f.owner >= 'anonymous:' AND f.owner < 'anonymous;'",
    OwnerKind.PROGRAMS: "f.owner <> '' AND NOT (f.owner >= 'user:' AND f.owner < 'user;')"
    " AND NOT (f.owner >= 'anonymous:' AND f.owner < 'anonymous;')",
}
"""As a ``Principal.key`` begins."""


@dataclass(frozen=True)
class Filters:
    """What is asked of conversations, all at once; what is not said is not asked. ``owner`` is a ``Principal.key``.
    Something was last said in them from ``since`` on, and before ``until``. ``among`` are their primary keys."""

    query: Query = EVERYTHING
    state: State | None = None
    actor: str = ""
    owner: str = ""
    owner_kind: OwnerKind | None = None
    has_approval: bool = False
    has_error: bool = False
    since: datetime | None = None
    until: datetime | None = None
    among: Collection[int] | None = None


@dataclass(frozen=True)
class Listed:
    """Conversations by primary key, in order. ``newer`` and ``older`` are the places to go on from, None for where
    there are none."""

    sessions: list[int]
    newer: int | None
    older: int | None


def listed(filters: Filters, *, before: int | None = None, after: int | None = None, size: int) -> Listed:
    """The newest conversations, or those next to a place: older than ``before``, or newer than ``after``. Two queries
    at most."""
    matching = _matching(filters.query)
    conditions, values = _conditions(filters, matching)
    upwards = after is not None and before is None
    edge = after if upwards else before
    if edge is not None:
        conditions.append(f"{matching.place} {'>' if upwards else '<'} %s")
        values.append(edge)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    order = f" ORDER BY {matching.place} {'ASC' if upwards else 'DESC'} LIMIT %s"
    statement = f"SELECT f.session_id, f.place FROM {matching.source}{where}{order}"  # noqa: S608 - texts of ours
    found = _rows(statement, [*values, size + 1])
    has_more = len(found) > size
    found = found[:size]
    if upwards:
        found.reverse()
    if not found:
        return Listed([], None, None)
    first, last = found[0][1], found[-1][1]
    # Of where one has come from there is something.
    newer = first if (has_more if upwards else edge is not None) else None
    older = last if (edge is not None if upwards else has_more) else None
    return Listed([pk for pk, _ in found], newer, older)


def _matching(query: Query) -> Matching:
    if query.is_empty or query.public_id:
        return Matching(f"{FACTS} f", "", (), "f.place")
    return backend_for().matching(query.tokens)


def _conditions(filters: Filters, matching: Matching) -> tuple[list[str], list[Any]]:
    asked: list[tuple[str, tuple[Any, ...]]] = []
    if matching.condition:
        asked.append((matching.condition, matching.values))
    among = filters.among
    if filters.query.public_id:
        of_id = _of_id(filters.query)
        among = of_id if among is None else [pk for pk in among if pk in of_id]
    if among is not None:
        # No conversation has the key 0.
        keys = sorted(among) or [0]
        asked.append((f"f.session_id IN ({', '.join(['%s'] * len(keys))})", tuple(keys)))
    if filters.state is not None:
        asked.append(("f.state = %s", (str(filters.state),)))
    if filters.actor:
        asked.append(("f.actor = %s", (filters.actor,)))
    if filters.owner:
        asked.append(("f.owner = %s", (filters.owner,)))
    if filters.owner_kind is not None:
        asked.append((_OF_KIND[filters.owner_kind], ()))
    if filters.has_approval:
        asked.append(("f.has_approval", ()))
    if filters.has_error:
        asked.append(("f.has_error", ()))
    if filters.since is not None:
        asked.append((f"{matching.place} >= %s", (first_place(filters.since),)))
    if filters.until is not None:
        asked.append((f"{matching.place} < %s", (first_place(filters.until),)))
    return [condition for condition, _ in asked], [value for _, given in asked for value in given]


def _of_id(query: Query) -> set[int]:
    """The conversations that an id belongs to: their own, or that of an answer, a question or a file. Looked up where
    it is unique, so however long a conversation is; in one query."""
    owners = (
        (Session, "public_id", "pk"),
        (Turn, "public_id", "session"),
        (Approval, "approval_id", "session"),
        (Artifact, "artifact_id", "session"),
    )
    first, *rest = (
        model._default_manager.filter(**{name: query.public_id}).order_by().values_list(session, flat=True)
        for model, name, session in owners
    )
    return set(first.union(*rest, all=True))


def counts(states: Collection[State]) -> dict[State, int]:
    """How many conversations stand like each of these, up to one more than ``COUNTED``. One query."""
    if not states:
        return {}
    piece = f"SELECT COUNT(*) FROM (SELECT 1 FROM {FACTS} WHERE state = %s LIMIT {COUNTED + 1}) c"  # noqa: S608 - names of ours
    (row,) = _rows(f"SELECT {', '.join([f'({piece})'] * len(states))}", [str(state) for state in states])
    return dict(zip(states, map(int, row), strict=True))


def _rows(statement: str, values: list[Any]) -> list[Any]:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def facts_of(pks: Collection[int], *, words: bool) -> list[ConversationFacts]:
    """These in the order of their places, with their conversations and, where ``words`` are asked for, with what was
    said in them. One query."""
    claim = "session__claim"
    related = (claim, "session__words") if words else (claim,)
    return list(ConversationFacts.objects.filter(pk__in=pks).select_related(*related).order_by("-place"))
