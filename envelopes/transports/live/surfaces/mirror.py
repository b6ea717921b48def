"""Follows the surfaces of a session for readers that draw by themselves. One mirror serves all readers of all versions:
what a row did is kept until the next one, and said in the words of whoever asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from a2ui import Surface, SurfaceSet
from a2ui.compose import uses_own
from envelopes.errors import ValidationFailed
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.rows import Row
from envelopes.protocol.surfaces import messages_of
from envelopes.transports.live.surfaces.telling import defined, deleted, initial
from envelopes.transports.live.surfaces.versions import VERSIONS, Dialect, Version, as_said_in
from envelopes.transports.live.surfaces.writes import shared_writes, writes
from envelopes.types import Json, JsonObject

Key = tuple[str, str]
"""Owner and id of a surface."""


@dataclass(slots=True)
class Update:
    """What a row did to one surface. Ask before the next row: messages are made from what the surface is then."""

    owner: str
    surface_id: str
    _gone: bool
    _surface: Surface | None
    _is_new: bool
    _before: Json
    _ids: Sequence[str] | None
    _made: dict[Dialect, list[JsonObject]] = field(default_factory=dict)
    _writes: dict[Version, list[JsonObject]] = field(default_factory=dict)

    def messages(self, version: Version, *, basic: bool = False) -> list[JsonObject]:
        """For a reader of this version; made once for all of them. ``basic``: for one that knows the Basic Catalog
        only."""
        dialect = Dialect(version, basic and self.uses_own)
        if dialect not in self._made:
            self._made[dialect] = self._messages(dialect)
        return self._made[dialect]

    @property
    def differs(self) -> bool:
        """Whether versions say it in other words than under another name."""
        if self._surface is None:
            return False
        return self._is_new or self._defines or self._written("1.0") is not self._written("0.9.1")

    @property
    def uses_own(self) -> bool:
        """Whether it brings components of our own catalog."""
        if self._surface is None or not (self._is_new or self._defines):
            return False
        return uses_own(self._surface, None if self._is_new else self._ids)

    @property
    def _defines(self) -> bool:
        return self._ids is None or bool(self._ids)

    def _messages(self, dialect: Dialect) -> list[JsonObject]:
        version, basic = dialect
        found = [deleted(self.surface_id, version)] if self._gone else []
        surface = self._surface
        if surface is None:
            return found
        if self._is_new:
            return [*found, *initial(surface, version, basic=basic)]
        return [
            *as_said_in(self._written(version), version),
            *(defined(surface, self._ids, version, basic=basic) if self._defines else ()),
        ]

    def _written(self, version: Version) -> list[JsonObject]:
        """What is written to the data model, the same list for all versions where that is the same."""
        if not self._writes and self._surface is not None:
            shared = shared_writes(self.surface_id, self._before, self._surface.data_model)
            if shared is not None:
                self._writes = dict.fromkeys(VERSIONS, shared)
        if version not in self._writes and self._surface is not None:
            self._writes[version] = writes(self.surface_id, self._before, self._surface.data_model, version)
        return self._writes[version]


@dataclass(slots=True)
class _Known:
    surface: Surface
    model: Json


class Mirror:
    """What readers have, as rows go by. Holds no copies: data models share with those of the surfaces."""

    def __init__(self, surfaces: SurfaceSet) -> None:
        """``surfaces`` are those of the session at the row from which on the mirror follows it."""
        self._surfaces = surfaces
        self._known = {_key(surface): _Known(surface, surface.data_model) for surface in surfaces}

    def moved_to(self, surfaces: SurfaceSet) -> None:
        """The session's surfaces are other objects now, at the same row: they were built anew."""
        self._surfaces = surfaces
        for key, known in self._known.items():
            surface = surfaces.get(*key)
            if surface is not None:
                known.surface = surface

    def initial(self, version: Version, *, basic: bool = False) -> list[tuple[Surface, list[JsonObject]]]:
        """All surfaces for a reader that has none."""
        return [
            (known.surface, initial(known.surface, version, basic=basic)) for known in self._known.values()
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
            return Update(*key, True, None, False, None, ())
        model = surface.data_model
        is_new = known is None or known.surface is not surface
        before = None if known is None else known.model
        self._known[key] = _Known(surface, model)
        # v0.8 names components of its own kind: which of ours they are is not said.
        told = None if surface.version == "v0.8" and ids else ids
        if not is_new and before is model and not ids:
            return None
        return Update(*key, is_new and known is not None, surface, is_new, before, told)


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
