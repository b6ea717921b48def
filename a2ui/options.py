"""What a host decides for all of its surfaces, and what they share once an engine is made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, Protocol

from a2ui.catalog.registry import Catalog, Catalogs
from a2ui.functions.registry import Env, system_clock
from a2ui.safety.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Settings of an engine.

    `catalogs`: None for the basic and the minimal one; `own` are offered beside them. `locale` is a BCP 47 tag,
    `timezone` the zone of the session;
    `image_hosts` are the hosts that pictures and media may come from (see `safety.urls.safe_image`, D33). `clock` gives
    aware times. `strict`: schema errors refuse the whole message (5.1). `debug`: unknown component types are named on
    the page. `reveal` gives the value behind a handle `{"$secret": ...}` of an obscured field, for checks (D24).
    `reserved` tells of an owner and the id of a surface or the name of an event whether the host keeps that name for
    itself: a message that uses one is refused, in whatever version of the protocol, and a snapshot that holds one is
    restored without. `inline_catalogs`: whether catalogs may be added that come as documents (`Engine.with_inline`).
    `contained`: a surface that cannot be drawn for a fault of ours shows a notice, and the fault is logged; else it is
    raised.
    """

    catalogs: tuple[Catalog, ...] | None = None
    own: tuple[Catalog, ...] = ()
    limits: Limits = DEFAULT_LIMITS
    locale: str = "en-US"
    timezone: tzinfo = UTC
    image_hosts: frozenset[str] = frozenset()
    clock: Callable[[], datetime] = system_clock
    strict: bool = False
    debug: bool = False
    reveal: Callable[[Any], Any] | None = field(default=None)
    reserved: Callable[[str, str], bool] | None = field(default=None)
    inline_catalogs: bool = False
    contained: bool = False

    @property
    def env(self) -> Env:
        """What functions may know."""
        return Env(self.locale, self.timezone, self.limits, self.clock)


class Shared(Protocol):
    """What all surfaces of a host have in common: an `Engine`, as those below it see it."""

    options: EngineOptions
    catalogs: Catalogs
    env: Env
