"""A whole surface, and the messages of 1.0 that make it and change it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final

from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.registry import Catalog
from a2ui.compose.component import Component
from a2ui.compose.errors import ComposeError
from a2ui.compose.flattening import ROOT, check_positions, flattened
from a2ui.compose.values import JsonObject, Path
from a2ui.programs.conversion import Converted, Target, convert
from a2ui.state.composition import may_stand_in

VERSION: Final = "1.0"


@dataclass(frozen=True)
class Surface:
    """One surface as it is at first. ``catalog`` is its own: components and functions of others name theirs.

    ``also`` are components that do not stand below ``root`` yet, each with an id; ``extensions`` those of the surface's
    metadata. Raises ComposeError: where two components have one id, for a text that calls an unknown function.
    """

    surface_id: str
    root: Component
    data: Mapping[str, Any] = field(default_factory=dict)
    _: KW_ONLY
    also: tuple[Component, ...] = ()
    catalog: Catalog = BASIC_CATALOG_1_0
    send_data_model: bool = False
    extensions: Mapping[str, Any] | None = None
    components: list[JsonObject] = field(init=False, repr=False)
    """The adjacency list."""

    def __post_init__(self) -> None:
        if self.root.id not in ("", ROOT):
            raise ComposeError(f"The id of a root is {ROOT!r}.", component=self.root.kind.name, property="id")
        if not may_stand_in(self.root.kind, None):
            raise ComposeError("It may not be the root of a surface.", component=self.root.kind.name)
        check_positions(self.root)
        tops = [(ROOT, self.root), *_named(self.also)]
        object.__setattr__(self, "components", flattened(tops, self.catalog))

    def create(self) -> list[JsonObject]:
        """The message that makes it, with components and data."""
        body: JsonObject = {"surfaceId": self.surface_id, "catalogId": self.catalog.id}
        if self.send_data_model:
            body["sendDataModel"] = True
        body |= {"components": deepcopy(self.components), "dataModel": deepcopy(dict(self.data))}
        if self.extensions is not None:
            body["metadata"] = {"extensions": deepcopy(dict(self.extensions))}
        return [{"version": VERSION, "createSurface": body}]

    def again(self) -> list[JsonObject]:
        """The messages that make a surface of this id, which is there, what ``create`` would."""
        return [
            update_data(self.surface_id, "/", dict(self.data)),
            _update(self.surface_id, deepcopy(self.components)),
        ]


def update_data(surface_id: str, pointer: str, value: Any) -> JsonObject:
    """One write to the data model; None removes what is there."""
    Path(pointer)
    body = {"surfaceId": surface_id, "path": pointer, "value": deepcopy(value)}
    return {"version": VERSION, "updateDataModel": body}


def update_components(
    surface_id: str, *components: Component, catalog: Catalog = BASIC_CATALOG_1_0
) -> JsonObject:
    """Other components for a surface that is there: each has an id; ``ref`` names those that stay as they are."""
    return _update(surface_id, flattened(_named(components), catalog))


def delete_surface(surface_id: str) -> JsonObject:
    """The end of a surface."""
    return {"version": VERSION, "deleteSurface": {"surfaceId": surface_id}}


def lowered(messages: Iterable[JsonObject], version: Target = "0.9.1") -> Converted:
    """The messages for a reader of an older version, and what that cannot say (``a2ui.programs.conversion``)."""
    return convert(messages, version)


def _update(surface_id: str, rows: list[JsonObject]) -> JsonObject:
    return {"version": VERSION, "updateComponents": {"surfaceId": surface_id, "components": rows}}


def _named(components: Iterable[Component]) -> list[tuple[str, Component]]:
    found = []
    for one in components:
        if not one.id:
            raise ComposeError("It needs an id here.", component=one.kind.name, property="id")
        found.append((one.id, one))
    return found
