"""What a thread is told about its session: names, language, time zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_skeleton, format_time
from django.utils.translation import get_supported_language_variant
from django.utils.translation import gettext as _

from envelopes.delivery.panel.markup import SafeString, html


@dataclass(frozen=True)
class ThreadContext:
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
        try:
            return ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return ZoneInfo("UTC")

    @cached_property
    def babel(self) -> Locale:
        try:
            return Locale.parse(self.locale, sep="-" if "-" in self.locale else "_")
        except (UnknownLocaleError, ValueError):
            return Locale.parse("en")

    @cached_property
    def language(self) -> str:
        """The nearest language that there are translations for."""
        try:
            return get_supported_language_variant(self.locale.replace("_", "-").lower())
        except LookupError:
            return "en"

    def name(self, actor: str) -> str:
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
        time = format_time(self.local(at), "HH:mm", locale=self.babel)
        return html(
            '<time datetime="{}" title="{}, {}">{}</time>', at, self.long_day(self.day(at)), time, time
        )

    def short_day(self, at: str) -> str:
        """ "15 Aug": the session's day of a moment, without its year."""
        return str(format_skeleton("MMMd", self.local(at), locale=self.babel))

    def long_day(self, day: str) -> str:
        return format_date(date.fromisoformat(day), "full", locale=self.babel)
