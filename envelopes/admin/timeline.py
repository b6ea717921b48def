"""A session's log as a page of readable rows, in the order of its numbers, grouped by turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby

from django.db.models import Q
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from envelopes.access import Principal
from envelopes.admin.approval_state import mark_of
from envelopes.admin.display import change_url, folded, turn_mark
from envelopes.admin.people import People, account_name, people
from envelopes.admin.sentences import DECISIONS, sentence, speaker_of
from envelopes.desk.times import length
from envelopes.markup.html import reveal
from envelopes.models import Approval, Event, Participant, Session, Turn
from envelopes.part_types.approval_request import APPROVAL_REQUEST
from envelopes.part_types.approval_response import APPROVAL_RESPONSE
from envelopes.protocol.rows import Row
from envelopes.registries.actors import actors
from envelopes.registries.part_types import part_types
from envelopes.types import JsonObject

PAGE = 200
EVENT_CHARACTERS = 6_000
ABOUT_APPROVALS = (APPROVAL_REQUEST.name, APPROVAL_RESPONSE.name)


@dataclass(frozen=True)
class Line:
    """One event. ``words`` and ``json`` are escaped."""

    row: Row
    who: str
    what: str
    words: SafeString
    json: SafeString
    approval: Approval | None = None
    mark: SafeString | str = ""
    approval_url: str = ""

    @property
    def audit(self) -> bool:
        return self.row.audience == "audit"


@dataclass(frozen=True)
class Group:
    """Rows that follow each other and belong to one turn, or to none."""

    number: int
    lines: list[Line]
    turn: Turn | None = None

    @property
    def url(self) -> str:
        return change_url(self.turn) if self.turn else ""

    @property
    def state(self) -> SafeString | str:
        if self.turn is None:
            return ""
        return turn_mark(self.turn.status, self.turn.turn_state, self.turn.finalized_by)

    @property
    def lasted(self) -> str:
        if self.turn is None or self.turn.settled_at is None:
            return ""
        span = self.turn.settled_at - self.turn.created_at
        return _("less than a second") if span < timedelta(seconds=1) else length(span)


@dataclass(frozen=True)
class Timeline:
    """Page ``number`` of ``pages``; the last one is the newest."""

    groups: list[Group]
    number: int
    pages: int
    total: int
    first: int
    last: int
    shown: list[int] = field(default_factory=list)

    @property
    def earlier(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def later(self) -> int | None:
        return self.number + 1 if self.number < self.pages else None


def timeline(session: Session, asked: str | None, reader: Principal | None = None) -> Timeline:
    """The page that was asked for by number, or the newest, as ``reader`` reads it. Numbers have no gaps, so nothing is
    counted."""
    pages = max(1, -(-session.last_seq // PAGE))
    is_number = asked is not None and asked.isascii() and asked.isdigit() and len(asked) < 19
    number = min(max(int(asked or 0), 1), pages) if is_number else pages
    first, last = (number - 1) * PAGE + 1, min(number * PAGE, session.last_seq)
    events = Event.objects.filter(session=session, seq__gte=first, seq__lte=last).order_by("seq")
    rows = [event.as_row() for event in events]
    turns = Turn.objects.filter(session=session, number__in={row.turn for row in rows if row.turn}).defer(
        "messages", "results", "live", "trigger"
    )
    by_number = {turn.number: turn for turn in turns}
    known = _approvals(session, rows)
    named = people(reader, map(_decider, rows), owner=_owner(session))
    lines = (_line(session, row, known, named) for row in rows)
    groups = _grouped(lines, by_number)
    shown = sorted({1, *range(max(1, number - 2), min(pages, number + 2) + 1), pages})
    return Timeline(groups, number, pages, session.last_seq, first, last, shown)


def log_of(approval: Approval, reader: Principal) -> list[Line]:
    """What the log of the conversation has about one approval, oldest first, as ``reader`` reads it."""
    asked = Q(kind__in=DECISIONS) | Q(part_type__in=ABOUT_APPROVALS)
    session = approval.session
    events = Event.objects.filter(asked, session=session, turn=approval.turn.shown_in).order_by("seq")
    ids = set(approval.asked_as)
    rows = [row for event in events if _approval_id(row := event.as_row()) in ids]
    named = people(reader, map(_decider, rows), owner=_owner(session))
    return [_line(session, row, {}, named) for row in rows]


def for_staff(part_type: str, data: JsonObject) -> JsonObject:
    """What staff see of the data of a row."""
    kind = part_types.get(part_type)
    return data if kind is None or kind.for_staff is None else kind.for_staff(data)


def _grouped(lines: Iterable[Line], turns: Mapping[int, Turn]) -> list[Group]:
    """By turn. What stands right before a turn's first row began it, and heads it: a message, a click."""
    groups: list[Group] = []
    seen = 0
    for number, found in groupby(lines, key=lambda line: line.row.turn):
        group = Group(number, list(found), turns.get(number))
        if number > seen and groups and not groups[-1].number:
            group.lines[:0] = groups.pop().lines
        seen = max(seen, number)
        groups.append(group)
    return groups


def _approvals(session: Session, rows: Iterable[Row]) -> Mapping[str, Approval]:
    ids = {found for row in rows if (found := _approval_id(row))}
    if not ids:
        return {}
    asked = (
        Approval.objects.filter(session=session, approval_id__in=ids)
        .select_related("tool_call")
        .defer("args")
    )
    return {approval.approval_id: approval for approval in asked}


def _approval_id(row: Row) -> str:
    part = row.data.get("part")
    holder: object = (
        part.get("data") if isinstance(part, dict) and row.part_type in ABOUT_APPROVALS else row.data
    )
    found = holder.get("approvalId") if isinstance(holder, dict) else None
    return found if isinstance(found, str) else ""


def _owner(session: Session) -> str:
    found = session.participants.filter(role=Participant.Role.OWNER).select_related("user").first()
    if found is None:
        return ""
    return found.name or (account_name(found.user) if found.user else "")


def _decider(row: Row) -> object:
    """The key of whoever decided, or tried to."""
    if row.kind in DECISIONS:
        return row.data.get("by")
    if row.part_type != APPROVAL_RESPONSE.name:
        return None
    data = _member(row.data.get("part"), "data")
    return _member(data, "decidedBy")


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _line(session: Session, row: Row, approvals: Mapping[str, Approval], named: People) -> Line:
    approval = approvals.get(_approval_id(row))
    asks = approval is not None and row.part_type == APPROVAL_REQUEST.name
    raw = reverse("admin:envelopes_session_event", args=[session.pk, row.seq])
    return Line(
        row=row,
        who=_who(row, named),
        what=row.part_type or row.kind,
        words=reveal(sentence(row, named)),
        json=folded(for_staff(row.part_type, row.data), raw=raw, limit=EVENT_CHARACTERS, label=_("Data")),
        approval=approval,
        mark=mark_of(approval) if approval is not None and asks else "",
        approval_url=change_url(approval) if approval is not None else "",
    )


def _who(row: Row, named: People) -> str:
    match speaker_of(row):
        case "person":
            return str(row.data.get("name") or named.owner or _("Visitor"))
        case "decider":
            metadata = _member(row.data.get("part"), "metadata")
            return named.heading(_decider(row), _member(metadata, "decidedByName"))
        case "staff":
            data = _member(_member(row.data.get("part"), "data") if row.kind == "part" else row.data, "name")
            return str(data or _("Staff"))
        case "runtime":
            return _("Runtime")
        case "actor":
            actor = actors.get(row.actor)
            return actor.display_name if actor else row.actor or _("Agent")
