"""A live surface in the words of one version of the protocol, for renderers elsewhere: how it was made, and its
components as they are now, whichever versions said them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from a2ui.compose.fallback import is_ours, lowered_rows
from a2ui.compose.values import JsonObject
from a2ui.programs.conversion import Note, Target, convert
from a2ui.protocol.catalog_ids import BASIC, BASIC_1_0, BEACH, BEACH_1_0
from a2ui.protocol.dialects import BARE, CANDIDATE, PLAIN, V0_9_1, V1_0, speaks_1_0
from a2ui.state.components import Component
from a2ui.surface.surface import Surface as LiveSurface

_SAID_IN: Final = {PLAIN.name: V0_9_1.version, BARE.name: CANDIDATE.version}
_CATALOGS: Final[dict[Target, dict[str, str]]] = {
    "0.9.1": {BASIC_1_0: BASIC, BEACH_1_0: BEACH},
    "1.0": {BASIC: BASIC_1_0, BEACH: BEACH_1_0},
}


class Restated(NamedTuple):
    """``create`` is the body of ``createSurface`` without components and data, ``components`` are definitions, and
    ``notes`` say what the version cannot."""

    create: JsonObject
    components: list[JsonObject]
    notes: list[Note]


class Restating:
    """A surface, or some of its components, as they are at this moment: what becomes of it later changes nothing here.

    :param ids: of the components that are wanted, those that are not there left out; None for all
    """

    __slots__ = ("_components", "_created", "_known", "surface_id", "uses_own")

    surface_id: str
    uses_own: bool
    """Whether a renderer without our own catalog needs it in other words."""

    def __init__(self, surface: LiveSurface, ids: Iterable[str] | None = None) -> None:
        stored = surface.store.by_id
        names = stored if ids is None else (name for name in dict.fromkeys(ids) if name in stored)
        self.surface_id = surface.id
        self._components = [stored[name] for name in names]
        self._created = _created(surface)
        self._known = surface.catalog.id
        self.uses_own = is_ours(self._known) or any(
            is_ours(one.raw.get("@catalogId")) for one in self._components
        )

    def said_in(self, version: Target, *, basic: bool = False) -> Restated:
        """In the words of ``version``.

        :param basic: for one that does not know our own catalog: what is of it is said in components of the Basic
            Catalog
        """
        messages = [self._created, *_defined(self.surface_id, self._components)]
        known = self._known
        if basic and self.uses_own:
            ours = is_ours(known)
            messages = [_lowered(message, ours=ours) for message in convert(messages, "1.0").messages]
            known = BASIC_1_0 if ours else known
        done = convert(messages, version)
        create: JsonObject = {}
        components: list[JsonObject] = []
        for message in done.messages:
            create = message.get("createSurface", create)
            components += message.get("updateComponents", {}).get("components", ())
        if known:
            create = {**create, "catalogId": _CATALOGS[version].get(known, known)}
        return Restated(create, components, done.notes)


def restated(surface: LiveSurface, version: Target, *, basic: bool = False) -> Restated:
    """All of the surface for a renderer of ``version`` (``Restating``)."""
    return Restating(surface).said_in(version, basic=basic)


def _lowered(message: JsonObject, *, ours: bool) -> JsonObject:
    for verb, body in message.items():
        if isinstance(body, dict) and isinstance(body.get("components"), list):
            return {**message, verb: {**body, "components": lowered_rows(body["components"], ours=ours)}}
    return message


def _created(surface: LiveSurface) -> JsonObject:
    body: JsonObject = {"surfaceId": surface.id}
    if surface.catalog_id:
        body["catalogId"] = surface.catalog_id
    if surface.theme:
        body["theme"] = dict(surface.theme)
    if surface.send_data_model:
        body["sendDataModel"] = True
    if surface.metadata is not None:
        body["metadata"] = surface.metadata
    version = V1_0.version if speaks_1_0(surface.version) else V0_9_1.version
    return {"version": version, "createSurface": body}


def _defined(surface_id: str, components: Iterable[Component]) -> list[JsonObject]:
    """Messages that define them, one for each run of definitions in one notation."""
    runs: list[tuple[str, list[Any]]] = []
    for component in components:
        version = _SAID_IN.get(component.notation.name, V1_0.version)
        row = {**component.raw, "id": component.id, "component": component.type_name}
        if not runs or runs[-1][0] != version:
            runs.append((version, []))
        runs[-1][1].append(row)
    return [
        {"version": version, "updateComponents": {"surfaceId": surface_id, "components": rows}}
        for version, rows in runs
    ]
