"""The engine: what all surfaces of a host have in common. Immutable, shared by all sessions and threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from a2ui.catalog.basic import BASIC_CATALOG, MINIMAL_CATALOG
from a2ui.catalog.registry import Catalog, Catalogs
from a2ui.functions.registry import Env
from a2ui.safety.limits import DEFAULT_LIMITS, Limits
from a2ui.surfaces import SurfaceSet


def _system_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Settings of an engine.

    `locale` is a BCP 47 tag, `timezone` the zone of the session; `image_hosts` are the hosts that pictures and
    media may come from (see `safety.urls.safe_image`, D33). `clock` gives aware times. `strict`: schema errors
    refuse the whole message (5.1). `debug`: unknown component types are named on the page. `reveal` gives the
    value behind a handle `{"$secret": ...}` of an obscured field, for checks (D24). `reserved` tells of an owner and
    the id of a surface or the name of an event whether the host keeps that name for itself: a message that uses one is
    refused, in whatever version of the protocol, and a snapshot that holds one is restored without.
    """

    catalogs: tuple[Catalog, ...] = (BASIC_CATALOG, MINIMAL_CATALOG)
    limits: Limits = DEFAULT_LIMITS
    locale: str = "en-US"
    timezone: tzinfo = UTC
    image_hosts: frozenset[str] = frozenset()
    clock: Callable[[], datetime] = _system_clock
    strict: bool = False
    debug: bool = False
    reveal: Callable[[Any], Any] | None = field(default=None)
    reserved: Callable[[str, str], bool] | None = field(default=None)

    @property
    def env(self) -> Env:
        """What functions may know."""
        return Env(self.locale, self.timezone, self.limits, self.clock)


class Engine:
    """Makes the surfaces of sessions."""

    __slots__ = ("catalogs", "env", "options")

    def __init__(self, options: EngineOptions = EngineOptions()) -> None:
        self.options = options
        self.catalogs = Catalogs(options.catalogs)
        self.env = options.env

    def surfaces(self) -> SurfaceSet:
        """The surfaces of a new session: none."""
        return SurfaceSet(self)

    def restore(self, snapshot: Mapping[str, Any]) -> SurfaceSet:
        """The surfaces of a session from `SurfaceSet.snapshot()`: same HTML, same DOM ids."""
        surfaces = SurfaceSet(self)
        surfaces.load(snapshot)
        return surfaces

    def capabilities(self) -> dict[str, Any]:
        """`a2uiClientCapabilities` of v0.9 and v0.9.1 (14.3)."""
        supported = {"supportedCatalogIds": list(self.catalogs.ids)}
        return {"v0.9": supported, "v0.9.1": supported}
