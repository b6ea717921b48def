"""The list of conversations: found by their words, filtered by how they stand, newest first, older and newer from where
one is. Nothing is counted but what waits and works, and that up to a bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from envelopes import search
from envelopes.admin.newest import AFTER, BEFORE, place_in
from envelopes.admin.people import account_name
from envelopes.desk.times import clock
from envelopes.markup.html import SafeString, reveal, trusted
from envelopes.models import Claim, ConversationFacts, Participant, Session
from envelopes.registries.actors import actors, agent_name
from envelopes.search import Filters, OwnerKind, Query, State
from envelopes.search.listing import COUNTED, counts, facts_of
from envelopes.search.marking import best_line, marked
from envelopes.search.places import moment_of
from envelopes.search.said import CHARACTERS as SEARCHED
from envelopes.search.visitors import guest_code

PAGE = 50
CAUGHT_UP = 20
"""So many conversations are read while somebody looks, where the search is behind."""

STATES = {
    State.WAITING: (gettext_lazy("Waiting"), "pending"),
    State.WORKING: (gettext_lazy("Working"), "running"),
    State.UNKNOWN: (gettext_lazy("Outcome unknown"), "failed"),
    State.FAILED: (gettext_lazy("Error"), "failed"),
    State.SUSPENDED: (gettext_lazy("Put aside"), "closed"),
    State.STOPPED: (gettext_lazy("Stopped"), "closed"),
    State.ASKED: (gettext_lazy("Asked a question"), "closed"),
    State.ANSWERED: (gettext_lazy("Answered"), "done"),
    State.EMPTY: (gettext_lazy("No message yet"), "closed"),
}
"""What each state is called, and its mark."""

_TABS = (State.WAITING, State.WORKING, State.FAILED)
_DAYS = {
    # In a context, since Django's admin has a translation of the bare word, and no other on the page would have one.
    "1": pgettext_lazy("conversations", "Today"),
    "7": gettext_lazy("Last 7 days"),
    "30": gettext_lazy("Last 30 days"),
}
_OWNERS = {
    OwnerKind.PEOPLE: gettext_lazy("With an account"),
    OwnerKind.GUESTS: gettext_lazy("Guests"),
    OwnerKind.PROGRAMS: gettext_lazy("Programs"),
}
_KEPT = ("q", "state", "agent", "owner", "approval", "error", "day")
"""What stays in an address when one goes on from it."""


@dataclass(frozen=True)
class Choice:
    """One of a filter, or a view: where it leads, and whether it is chosen."""

    name: str
    url: str
    chosen: bool
    count: str = ""


@dataclass(frozen=True)
class Drop:
    """A filter whose choices open under its name; ``chosen`` is the name of the one that is, ``without`` where it is
    taken back. A filter without choices is on or off."""

    name: str
    choices: Sequence[Choice]
    chosen: str = ""
    without: str = ""
    day: str | None = None


@dataclass(frozen=True)
class Line:
    """One conversation as the list shows it."""

    facts: ConversationFacts
    title: SafeString
    words: SafeString
    visitor: SafeString
    about: SafeString
    of_owner: str
    state: str
    mark: str
    agent: SafeString | str
    claimed: SafeString
    when: SafeString


@dataclass(frozen=True)
class Conversations:
    """The page. ``behind``: older ones are still being read. ``cut``: of what was looked for only ``looked_for``
    counts (R6). ``searched`` is how much of a long one is searched, None where none is long."""

    query: Query
    tabs: Sequence[Choice]
    drops: Sequence[Drop]
    kept: Mapping[str, str]
    lines: Sequence[Line]
    newer: str
    older: str
    behind: bool
    looked_for: str
    searched: str | None
    is_filtered: bool


def conversations(asked: QueryDict, reader: int | None = None) -> Conversations:
    """The page that an address asks for, for the account with the key ``reader``. Whatever the address holds that means
    nothing is left out."""
    behind = search.catch_up(CAUGHT_UP)
    kept = {name: value for name in _KEPT if (value := asked.get(name, "").strip())}
    filters = _filters(kept)
    found = search.listed(filters, before=place_in(asked, BEFORE), after=place_in(asked, AFTER), size=PAGE)
    query = filters.query
    facts = facts_of(found.sessions, words=not query.is_empty) if found.sessions else []
    owners = _owners(found.sessions) if facts else {}
    return Conversations(
        query,
        _tabs(kept),
        _drops(kept, filters, owners.values()),
        {name: value for name, value in kept.items() if name != "q"},
        [_line(one, owners.get(one.session_id), query, reader) for one in facts],
        _url(kept, after=str(found.newer)) if found.newer is not None else "",
        _url(kept, before=str(found.older)) if found.older is not None else "",
        behind,
        " ".join(query.words) if query.cut else "",
        f"{SEARCHED:,}" if not query.is_empty and any(one.is_cut for one in facts) else None,
        bool(kept),
    )


def _filters(kept: Mapping[str, str]) -> Filters:
    state, owner = kept.get("state", ""), kept.get("owner", "")
    since, until = _days(kept.get("day", ""))
    return Filters(
        query=search.read_query(kept.get("q", "")),
        state=State(state) if state in set(State) else None,
        actor=kept.get("agent", ""),
        owner="" if owner in set(OwnerKind) else owner,
        owner_kind=OwnerKind(owner) if owner in set(OwnerKind) else None,
        has_approval="approval" in kept,
        has_error="error" in kept,
        since=since,
        until=until,
    )


def _days(asked: str) -> tuple[datetime | None, datetime | None]:
    """Of the reader's days: the last so many, or one by its date."""
    today = timezone.localdate()
    if asked in _DAYS:
        return _midnight(today - timedelta(days=int(asked) - 1)), None
    day = _date(asked)
    return (None, None) if day is None else (_midnight(day), _midnight(day + timedelta(days=1)))


def _date(text: str) -> date | None:
    try:
        day = parse_date(text)
    except ValueError:
        return None
    # What is before or after has no place in the order, and no conversation.
    return day if day is not None and 1970 < day.year < 9999 else None


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _url(kept: Mapping[str, str], **changes: str) -> str:
    """The address of the list with these changes; "" takes one away."""
    values = {name: value for name, value in {**kept, **changes}.items() if value}
    return f"?{urlencode(values)}" if values else "?"


def _owners(pks: Sequence[int]) -> dict[int, Participant]:
    found = Participant.objects.filter(session__in=pks, role=Participant.Role.OWNER).select_related("user")
    return {owner.session_id: owner for owner in found.order_by("-pk")}


def _tabs(kept: Mapping[str, str]) -> list[Choice]:
    state, counted = kept.get("state", ""), counts(_TABS)
    tabs = [Choice(_("All"), _url(kept, state=""), not state)]
    for one in _TABS:
        name = _("With an error") if one is State.FAILED else str(STATES[one][0])
        count = counted[one]
        told = f"{COUNTED}+" if count > COUNTED else str(count or "")
        tabs.append(Choice(name, _url(kept, state=one), state == one, told))
    return tabs


def _drops(kept: Mapping[str, str], filters: Filters, owners: Iterable[Participant]) -> list[Drop]:
    days = {**{key: str(name) for key, name in _DAYS.items()}}
    day = kept.get("day", "")
    chosen_day = days.get(day) or (day if filters.since is not None else "")
    agents = {actor.name: actor.display_name for actor in actors}
    owner = str(_OWNERS[filters.owner_kind]) if filters.owner_kind is not None else ""
    if filters.owner:
        shown = next((one for one in owners), None)
        owner = str(_name(shown)) if shown is not None else filters.owner
    return [
        Drop(
            _("Day"),
            _choices(kept, "day", days),
            chosen_day,
            _url(kept, day=""),
            day if day not in days else "",
        ),
        _drop(_("State"), kept, "state", {str(state): str(name) for state, (name, _mark) in STATES.items()}),
        _drop(_("Agent"), kept, "agent", agents),
        Drop(
            _("Owner"),
            _choices(kept, "owner", {str(kind): str(name) for kind, name in _OWNERS.items()}),
            owner,
            _url(kept, owner=""),
        ),
        _switch(_("Has approval"), kept, "approval"),
        _switch(_("Had an error"), kept, "error"),
    ]


def _drop(name: str, kept: Mapping[str, str], key: str, values: Mapping[str, str]) -> Drop:
    chosen = kept.get(key, "")
    return Drop(name, _choices(kept, key, values), values.get(chosen, chosen), _url(kept, **{key: ""}))


def _choices(kept: Mapping[str, str], key: str, values: Mapping[str, str]) -> list[Choice]:
    return [
        Choice(name, _url(kept, **{key: value}), kept.get(key) == value) for value, name in values.items()
    ]


def _switch(name: str, kept: Mapping[str, str], key: str) -> Drop:
    is_on = key in kept
    return Drop(name, (), name if is_on else "", _url(kept, **{key: "" if is_on else "1"}))


def _line(facts: ConversationFacts, owner: Participant | None, query: Query, reader: int | None) -> Line:
    session = facts.session
    words, mark = STATES[State(facts.state)]
    said = facts.last_words
    if not query.is_empty:
        # Where only its name or its owner was found, what was said last stands there as in any list.
        said = best_line(session.words.said, query.words) or said
    return Line(
        facts,
        marked(str(session), query.words),
        marked(said, query.words),
        _name(owner),
        _about(owner, query),
        _url({"owner": facts.owner}) if facts.owner else "",
        str(words),
        mark,
        reveal(agent_name(session.actor)),
        _claimed(session, reader),
        clock(moment_of(facts.place)),
    )


def _claimed(session: Session, reader: int | None) -> SafeString:
    claim: Claim | None = getattr(session, "claim", None)
    if claim is None:
        return SafeString("")
    return reveal(_("You") if claim.user_id == reader else claim.name)


def _name(owner: Participant | None) -> SafeString:
    """Guests without a name are told apart by the beginning of their id, by which they are found too."""
    if owner is None:
        return reveal(_("Nobody"))
    if owner.user is not None:
        return reveal(account_name(owner.user))
    if ":" in owner.owner_key:
        return reveal(owner.name or owner.owner_key)
    return reveal(
        owner.name
        or (_("Guest {}").format(guest_code(owner.owner_key)) if owner.owner_key else _("Deleted account"))
    )


def _about(owner: Participant | None, query: Query) -> SafeString:
    if owner is None:
        return SafeString("")
    if owner.user is not None:
        email = str(getattr(owner.user, owner.user.get_email_field_name(), "") or "")
        login = owner.user.get_username()
        told = marked(email or ("" if login == account_name(owner.user) else login), query.words)
        # Where there is no room for an address on one line, it goes on with its host.
        return trusted(told.replace("@", "<wbr>@"))
    if ":" in owner.owner_key:
        return reveal(_("program"))
    return reveal(_("guest {}").format(guest_code(owner.owner_key)) if owner.name and owner.owner_key else "")
