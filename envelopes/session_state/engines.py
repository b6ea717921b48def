"""The A2UI engines of this process: one for each locale and time zone, shared by all sessions."""

from __future__ import annotations

from django.conf import settings

from a2ui import Catalog, Engine, EngineOptions, Limits
from envelopes.conf import a2ui_limits, image_hosts
from envelopes.protocol.surfaces import RUNTIME, is_reserved
from envelopes.protocol.zones import zone_of
from envelopes.registries import catalogs
from envelopes.secrets import reveal

_engines: dict[tuple[str, str, Limits, tuple[Catalog, ...]], Engine] = {}


def engine_for(locale: str, timezone: str) -> Engine:
    """The shared engine for a locale and a time zone."""
    limits, zone = a2ui_limits(), zone_of(timezone)
    key = (locale, zone.key, limits, catalogs.registered())
    if key not in _engines:
        _engines[key] = Engine(
            EngineOptions(
                own=key[-1],
                limits=limits,
                locale=locale,
                timezone=zone,
                image_hosts=image_hosts(),
                debug=settings.DEBUG,
                reveal=reveal,
                reserved=lambda owner, name: owner != RUNTIME and is_reserved(name),
            )
        )
    return _engines[key]
