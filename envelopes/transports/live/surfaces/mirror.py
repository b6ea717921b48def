"""Follows the surfaces of a session for readers that draw by themselves. One mirror serves all readers of all versions:
what a row did is said in the words of whoever asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from a2ui import Surface, SurfaceSet
from a2ui.compose import Defaults, Restating, defaults_of, with_defaults
from envelopes.errors import ValidationFailed
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.rows import Row
from envelopes.protocol.surfaces import messages_of
from envelopes.transports.live.surfaces.telling import created, defined, deleted
from envelopes.transports.live.surfaces.versions import Dialect, Version
from envelopes.transports.live.surfaces.writes import Written, said_in, written
from envelopes.types import Json, JsonObject

Key = tuple[str, str]
"""Owner and id of a surface."""


class _Data(NamedTuple):
    """The data of a surface. ``defaults`` are what its forms show where there is none."""

    model: Json
    defaults: Defaults

    def told(self, *, basic: bool) -> Json:
        """The data model of a reader: who knows no forms has their defaults in it."""
        return with_defaults(self.model, self.defaults) if basic else self.model


class _Known(NamedTuple):
    """A surface as readers have it."""

    surface: Surface
    data: _Data


class Update:
    """What a row did to one surface. It has hold of what is said and no more, so it may be asked later too: what nobody
    reads is never put into words."""

    __slots__ = ("_data", "_gone", "_made", "_new", "_told", "_written", "owner", "surface_id")

    def __init__(
        self, key: Key, before: _Data | None, after: _Data | None, told: Restating | None, *, gone: bool
    ) -> None:
        """``before`` is what readers have, None for nothing or for what is ``gone`` and there again; ``after`` what
        they get, None for nothing. ``told`` are the components that come with it."""
        self.owner, self.surface_id = key
        self._told, self._gone = told, gone
        self._new = after if before is None else None
        self._made: dict[Dialect, list[JsonObject]] = {}
        self._written: dict[bool, Written] = {}
        if before is not None and after is not None:
            for basic in (False, True) if before.defaults or after.defaults else (False,):
                models = before.told(basic=basic), after.told(basic=basic)
                self._written[basic] = written(self.surface_id, *models)

    def messages(self, version: Version, *, basic: bool = False) -> list[JsonObject]:
        """For a reader of this version; made once for all of them. ``basic``: for one that knows the Basic Catalog
        only."""
        dialect = Dialect(version, basic and self.differs_in_basic)
        if dialect not in self._made:
            self._made[dialect] = self._messages(dialect)
        return self._made[dialect]

    @property
    def differs_in_basic(self) -> bool:
        """Whether who knows the Basic Catalog only is told otherwise."""
        forms = True in self._written or (self._new is not None and bool(self._new.defaults))
        return forms or (self._told is not None and self._told.uses_own)

    def _messages(self, dialect: Dialect) -> list[JsonObject]:
        version, basic = dialect
        found = [deleted(self.surface_id, version)] if self._gone else []
        if self._new is not None and self._told is not None:
            return [*found, *created(self._told, self._new.told(basic=basic), version, basic=basic)]
        if self._written:
            found += said_in(self._written.get(basic) or self._written[False], version)
        return [*found, *(defined(self._told, version, basic=basic) if self._told is not None else ())]


class Mirror:
    """What readers have, as rows go by. Holds no copies: data models share with those of the surfaces."""

    def __init__(self, surfaces: SurfaceSet) -> None:
        """``surfaces`` are those of the session at the row from which on the mirror follows it."""
        self._surfaces = surfaces
        self._known = {_key(surface): _known(surface) for surface in surfaces}

    def moved_to(self, surfaces: SurfaceSet) -> None:
        """The session's surfaces are other objects now, at the same row: they were built anew."""
        self._surfaces = surfaces
        for key, known in self._known.items():
            surface = surfaces.get(*key)
            if surface is not None:
                self._known[key] = known._replace(surface=surface)

    def initial(self, version: Version, *, basic: bool = False) -> list[tuple[Surface, list[JsonObject]]]:
        """All surfaces for a reader that has none."""
        return [
            (surface, created(Restating(surface), data.told(basic=basic), version, basic=basic))
            for surface, data in self._known.values()
        ]

    @property
    def keys(self) -> tuple[Key, ...]:
        """The surfaces that there are, in order."""
        return tuple(self._known)

    def follow(self, row: Row) -> list[Update]:
        """What a row did that the surfaces have taken just now, surface by surface."""
        return [update for key, ids in _touched(row).items() if (update := self._update(key, ids))]

    def _update(self, key: Key, ids: Sequence[str]) -> Update | None:
        known, surface = self._known.get(key), self._surfaces.get(*key)
        if surface is None:
            if known is None:
                return None
            del self._known[key]
            return Update(key, None, None, None, gone=True)
        if known is None or known.surface is not surface:
            made = self._known[key] = _known(surface)
            return Update(key, None, made.data, Restating(surface), gone=known is not None)
        before, model = known.data, surface.data_model
        if before.model is model and not ids:
            return None
        after = _Data(model, defaults_of(surface, ids, before.defaults) if ids else before.defaults)
        self._known[key] = _Known(surface, after)
        # v0.8 names components of its own kind: which of ours they are is not said.
        told = Restating(surface, None if surface.version == "v0.8" else ids) if ids else None
        return Update(key, before, after, told, gone=False)


def _known(surface: Surface) -> _Known:
    return _Known(surface, _Data(surface.data_model, defaults_of(surface)))


def _key(surface: Surface) -> Key:
    return surface.owner, surface.id


def _touched(row: Row) -> dict[Key, list[str]]:
    """The surfaces that a row names, and the components that it defines on each."""
    if row.audience != "delivered":
        return {}
    if row.kind == "edit":
        return {(row.data["owner"], row.data["surfaceId"]): []}
    if row.kind != "part" or row.part_type != A2UI_SURFACE.name:
        return {}
    try:
        messages = messages_of(row.data["part"].get("data"))
    except ValidationFailed:
        # A row of an earlier version; surfaces leave it out as well.
        return {}
    found: dict[Key, list[str]] = {}
    for message in messages:
        for body in message.values():
            if isinstance(body, dict) and isinstance(surface_id := body.get("surfaceId"), str):
                ids = found.setdefault((row.actor, surface_id), [])
                rows = body.get("components")
                for one in rows if isinstance(rows, list) else ():
                    if isinstance(one, dict) and isinstance(one.get("id"), str):
                        ids.append(one["id"])
    return found
