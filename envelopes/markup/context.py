"""What a thread is told about its session: names, language, time zone."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from functools import cached_property, lru_cache
from zoneinfo import ZoneInfo

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_skeleton, format_time
from django.conf import settings
from django.utils.translation import get_language, get_supported_language_variant, override
from django.utils.translation import gettext as _

from envelopes.markup.html import SafeString, html
from envelopes.protocol.originators import is_principal
from envelopes.protocol.surfaces import RUNTIME
from envelopes.protocol.zones import zone_of


def current_locale() -> str:
    """The language of the page that is being served, as formats take it: Django's "en" is American."""
    language = get_language() or settings.LANGUAGE_CODE
    return "en-US" if language == "en" else language


# Each update of a surface says when: the same for a minute, and for everybody who reads that language.
@lru_cache(4096)
def _hours(hour: int, minute: int, locale: Locale) -> str:
    return format_time(time(hour, minute), "HH:mm", locale=locale)


@lru_cache(1024)
def _full(day: date, locale: Locale) -> str:
    return format_date(day, "full", locale=locale)


@lru_cache(64)
def babel_of(locale: str) -> Locale:
    """What formats follow; English for a locale that nobody knows."""
    try:
        return Locale.parse(locale, sep="-" if "-" in locale else "_")
    except (UnknownLocaleError, ValueError):
        return Locale.parse("en")


@dataclass(frozen=True)
class PageContext:
    """``actors``: name to display name. ``locale`` and ``timezone`` (IANA) are the session's; one that does not exist
    falls back to English and UTC, since a page has to be shown all the same. ``image_hosts``: D33."""

    session_id: str
    actors: Mapping[str, str]
    locale: str = "en"
    timezone: str = "UTC"
    debug: bool = False
    image_hosts: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def zone(self) -> ZoneInfo:
        return zone_of(self.timezone)

    @cached_property
    def babel(self) -> Locale:
        return babel_of(self.locale)

    @cached_property
    def language(self) -> str:
        return language_of(self.locale)

    def name(self, actor: str) -> str:
        if is_principal(actor):
            # What it is called may change, and rows do not say.
            return _("A program")
        if actor == RUNTIME:
            return "Beach"
        return self.actors.get(actor) or actor or _("Agent")

    def local(self, at: str) -> datetime:
        """A stored moment (ISO 8601) on the session's clock."""
        moment = datetime.fromisoformat(at)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(self.zone)

    def day(self, at: str) -> str:
        """The session's calendar day of a moment, as an ISO date."""
        return self.local(at).date().isoformat()

    def clock(self, at: str) -> SafeString:
        """``<time>`` with hours and minutes, and the day for whoever points at it."""
        local = self.local(at)
        hours, day = _hours(local.hour, local.minute, self.babel), _full(local.date(), self.babel)
        return html('<time datetime="{}" title="{}, {}">{}</time>', at, day, hours, hours)

    def hours(self, at: str) -> str:
        """Hours and minutes of a moment, as the session writes them."""
        local = self.local(at)
        return _hours(local.hour, local.minute, self.babel)

    def short_day(self, at: str) -> str:
        """ "15 Aug": the session's day of a moment, without its year."""
        return str(format_skeleton("MMMd", self.local(at), locale=self.babel))

    def long_day(self, day: str) -> str:
        return format_date(date.fromisoformat(day), "full", locale=self.babel)


def speaking(language: str) -> AbstractContextManager[object]:
    """Texts are in ``language`` within it. Asked for with each row: a third of the time where that is spoken anyway."""
    return _AS_IT_IS if get_language() == language else override(language)


_AS_IT_IS = nullcontext()


def language_of(locale: str) -> str:
    """The nearest language that there are translations of Beach for. Django has words of its own in many more: with
    those alone a text would be English, called something else, and run from the wrong side."""
    try:
        language = get_supported_language_variant(locale.replace("_", "-").lower())
    except LookupError:
        return "en"
    with override(language):
        return language if language.startswith("en") or _(_PROBE) != _PROBE else "en"


_PROBE = "Your approval is needed"
"""Translated wherever Beach is."""
