"""The A2UI engines of this process: one for each locale and time zone, shared by all sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from a2ui import BASIC_CATALOG_1_0, BEACH_CATALOG, BEACH_CATALOG_1_0, Catalog, Engine, EngineOptions, Limits
from envelopes.conf import conf
from envelopes.engine_settings import a2ui_limits, image_hosts
from envelopes.protocol.surfaces import RUNTIME, is_reserved
from envelopes.protocol.zones import zone_of
from envelopes.registries import catalogs
from envelopes.secrets import reveal

_OURS = frozenset({BEACH_CATALOG.id, BEACH_CATALOG_1_0.id})
_TAUGHT_ELSEWHERE = _OURS | {BASIC_CATALOG_1_0.id}
_engines: dict[tuple[str, str, Limits, tuple[Catalog, ...], tuple[str, ...]], Engine] = {}


def engine_for(locale: str, timezone: str) -> Engine:
    """The shared engine for a locale and a time zone."""
    limits, zone = a2ui_limits(), zone_of(timezone)
    own, files = catalogs.registered(), tuple(conf.BEACH_INLINE_CATALOGS)
    key = (locale, zone.key, limits, own, files)
    if key not in _engines:
        engine = Engine(
            EngineOptions(
                own=own,
                limits=limits,
                locale=locale,
                timezone=zone,
                image_hosts=image_hosts(),
                debug=settings.DEBUG,
                contained=True,
                reveal=reveal,
                reserved=lambda owner, name: owner != RUNTIME and is_reserved(name),
            )
        )
        _engines[key] = with_files(engine, files) if files else engine
    return _engines[key]


def with_files(engine: Engine, files: Iterable[str]) -> Engine:
    """An engine that has the inline catalogs of these files as well, and takes none from anybody else.

    Raises OSError and ValueError for a file that cannot be read or is no JSON, A2uiError for one that is no catalog.
    """
    allowed = Engine(replace(engine.options, inline_catalogs=True))
    taken = allowed.with_inline([_document(name) for name in files])
    return Engine(replace(taken.options, inline_catalogs=False))


@lru_cache(maxsize=64)
def _document(name: str) -> Any:
    return json.loads(Path(name).read_text(encoding="utf-8"))


def taught_catalogs(engine: Engine, named: Sequence[str] | None = None) -> tuple[Catalog, ...]:
    """The catalogs that models are told of, those that matter most first: the ``named`` ones of their actor; else those
    of the setting, then those of applications, and the Basic Catalog. A system check tells of one that is not there."""
    if named is None:
        others = [
            one.id for one in engine.catalogs if one.id not in _TAUGHT_ELSEWHERE and one.protocol != "0.9"
        ]
        named = [*conf.BEACH_A2UI_CATALOGS, *others, BASIC_CATALOG_1_0.id]
    found = [engine.catalogs.find(name) for name in named]
    return tuple(dict.fromkeys(catalog for catalog in found if catalog is not None))


def capabilities(engine: Engine) -> dict[str, Any] | None:
    """`a2uiRendererCapabilities` of an engine that has catalogs beside the standard's and ours, inline ones whole; else
    None: those of the standard every agent is told of anyway, of ours by the setting `BEACH_A2UI_CATALOGS`."""
    options = engine.options
    others = [one for one in options.own if one.id not in _OURS]
    if not others and options.catalogs is None:
        return None
    found: dict[str, Any] = engine.metadata(inline=True)["a2uiRendererCapabilities"]
    return {"1.0": found["1.0"]}
