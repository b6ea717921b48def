"""The list of a person's conversations beside the thread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from babel import Locale, UnknownLocaleError
from babel.dates import format_datetime
from django.utils import timezone
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from envelopes.access import Principal, owned_sessions, with_news
from envelopes.approvals.rights import asked_of_owners
from envelopes.models import Session
from envelopes.protocol.zones import zone_of

SHOWN = 60


@dataclass(frozen=True)
class Entry:
    """``time``: when something last happened, as short as it stays clear; ``moment``: the same in full."""

    session: Session
    name: str
    at: str
    time: str
    moment: str
    waiting: bool
    working: bool
    current: bool


@dataclass(frozen=True)
class Group:
    """``cut``: how many are shown, when there are more than that (R6)."""

    name: str
    entries: list[Entry]
    cut: int = 0


def sidebar(who: Principal, *, current: str) -> list[Group]:
    """The conversations of ``who``: today's, then earlier ones. One query, whatever they hold. ``current``: a public
    id, or empty."""
    found = list(with_news(owned_sessions(who), asked_of_owners())[: SHOWN + 1])
    today: list[Entry] = []
    earlier: list[Entry] = []
    for session in found[:SHOWN]:
        moment = session.updated_at.astimezone(zone_of(session.timezone))
        now = timezone.now().astimezone(moment.tzinfo)
        entry = Entry(
            session=session,
            name=session.title or _("New conversation"),
            at=session.updated_at.isoformat(),
            time=_short(moment, now),
            moment=format_datetime(moment, "EEEE d MMMM y, HH:mm", locale=_locale()),
            waiting=session.waiting,
            working=session.working,
            current=session.public_id == current,
        )
        (today if moment.date() == now.date() else earlier).append(entry)
    groups = [
        Group(name, entries)
        for name, entries in ((pgettext("conversations", "Today"), today), (_("Earlier"), earlier))
        if entries
    ]
    if len(found) > SHOWN:
        groups[-1] = replace(groups[-1], cut=SHOWN)
    return groups


def _short(moment: datetime, now: datetime) -> str:
    """As short as it stays clear: a time today, a weekday this week, a date before that."""
    days = (now.date() - moment.date()).days
    pattern = (
        "HH:mm" if days <= 0 else "EEE" if days < 7 else "d MMM" if moment.year == now.year else "d MMM y"
    )
    return format_datetime(moment, pattern, locale=_locale())


def _locale() -> Locale:
    try:
        return Locale.parse(get_language() or "en", sep="-")
    except (UnknownLocaleError, ValueError):
        return Locale.parse("en")
