"""Times as the desk writes them, all of them: 24 hours, in the reader's zone (``zone``), for machines too.

``clock`` for today's work, ``moment`` for the record, ``ago`` for lists, ``left`` for what expires.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import lru_cache

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from envelopes.markup.html import SafeString, html

SOON = timedelta(minutes=5)
"""What has less time left than this is marked."""
COUNTED_DOWN = timedelta(hours=1)
"""With less time left than this the seconds are told, and counted by the page."""


def length(span: timedelta) -> str:
    """A length of time in two units at most: ``22 s``, ``2 min``, ``1 h 12 min``, ``3 d 4 h``."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < 60:
        return _("{} s").format(seconds)
    if seconds < 3600:
        return _("{} min").format(seconds // 60)
    if seconds < 86_400:
        return _("{} h {} min").format(seconds // 3600, seconds % 3600 // 60)
    return _("{} d {} h").format(seconds // 86_400, seconds % 86_400 // 3600)


def moment(at: datetime) -> SafeString:
    """A time to the second, with its day."""
    return _time(at, _whole(at))


def clock(at: datetime, *, seconds: bool = False) -> SafeString:
    """The time of day, with the day before it unless that is today."""
    return _time(at, _day(at, "%H:%M:%S" if seconds else "%H:%M"))


def ago(at: datetime, now: datetime | None = None) -> SafeString:
    """How long ago, as a list tells it: ``28 s ago``, ``3 min ago``, ``2 h ago``, ``yesterday 16:40``, ``8 August``."""
    now = now or timezone.now()
    span, day = now - at, timezone.localtime(at).date()
    if span < timedelta(minutes=1):
        told = _("{} s ago").format(max(0, int(span.total_seconds())))
    elif span < timedelta(hours=1):
        told = _("{} min ago").format(int(span.total_seconds()) // 60)
    elif day == timezone.localtime(now).date():
        told = _("{} h ago").format(int(span.total_seconds()) // 3600)
    else:
        told = _day(at, "%H:%M", now)
    return _time(at, told)


def left(at: datetime | None, now: datetime | None = None) -> SafeString:
    """What is left until something expires: ``2:14 left``, ``today 18:00``, ``tomorrow 09:00``, ``No limit``."""
    if at is None:
        return html('<span class="dk-when">{}</span>', _("No limit"))
    now = now or timezone.now()
    rest = at - now
    state = "soon" if rest < SOON else ""
    if rest <= timedelta(0):
        told = _("Time is up")
    elif rest < COUNTED_DOWN:
        told = _("{} left").format(countdown(rest))
    else:
        told = _day(at, "%H:%M", now, named=True)
    return html(
        '<time class="dk-when" datetime="{}" data-left title="{}"{}>{}</time>',
        at.isoformat(),
        _whole(at),
        html(' data-state="{}"', state) if state else "",
        told,
    )


def countdown(span: timedelta) -> str:
    """``2:14``, of minutes and seconds."""
    seconds = max(0, int(span.total_seconds()))
    return f"{seconds // 60}:{seconds % 60:02}"


def due(at: datetime | None, now: datetime | None = None) -> SafeString:
    """When something expires, in a sentence: ``in 14 min``, ``3 min ago``, ``never``."""
    if at is None:
        return html("{}", _("never"))
    rest = at - (now or timezone.now())
    return _time(
        at, _("in {}").format(length(rest)) if rest > timedelta(0) else _("{} ago").format(length(-rest))
    )


def _day(at: datetime, form: str, now: datetime | None = None, *, named: bool = False) -> str:
    """The day as people name it, and the time of day; of today the latter alone, unless it is to be ``named``."""
    local = timezone.localtime(at)
    today = timezone.localtime(now or timezone.now()).date()
    time = f"{local:{form}}"
    match (local.date() - today).days:
        case 0:
            return _("today {}").format(time) if named else time
        case 1:
            return _("tomorrow {}").format(time)
        case -1:
            return _("yesterday {}").format(time)
    return date_format(local, "j F" if local.year == today.year else "j M Y") + (f" {time}" if named else "")


def _time(at: datetime, told: str) -> SafeString:
    return html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), _whole(at), told)


def _whole(at: datetime) -> str:
    local = timezone.localtime(at)
    return f"{_date(local.date(), get_language())}, {local:%H:%M:%S}"


@lru_cache(maxsize=256)
def _date(day: date, language: str | None) -> str:
    """``day`` in the language of now, by which it is kept: a list has two times in each row, of few days."""
    return date_format(day, "j M Y")
