"""Surface templates: for each kind of data the function that shows it as an interface (D11).

Data of that kind, a ``domain-data`` part or the result of a tool with that ``data_kind``, is drawn by it: in the panel
as a live surface, and for whoever can draw A2UI as messages beside the data. Later data for the same slot changes the
surface that is there (``turns.templates``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from a2ui.compose import Surface
from envelopes.errors import RegistrationError
from envelopes.protocol.surfaces import is_reserved
from envelopes.registries.base import Registry
from envelopes.registries.policies import check_callable
from envelopes.types import JsonObject

APPROVAL: Final = "beach:approval"
"""The runtime's own template: what a person is asked (``approvals.surface``)."""


@dataclass(frozen=True)
class TemplateContext:
    """What a template knows beside the data. ``slot`` is what the data is about: its slot key, else its kind.
    ``locale`` and ``timezone`` are the session's, as stored: neither need exist."""

    surface_id: str
    session_id: str
    actor: str
    slot: str
    locale: str
    timezone: str


Draw: TypeAlias = Callable[[JsonObject, TemplateContext], Surface]


@dataclass(frozen=True)
class SurfaceTemplate:
    """``name`` is the kind of data. ``draw(data, context)`` gives a surface of ``context.surface_id``: a pure function,
    called with all data of the slot as it is now, under the session's lock. One that raises is told to staff, and the
    data is shown generically. ``is_default``: the runtime's own, which an application may register another for."""

    name: str
    draw: Draw
    is_default: bool = False

    def __post_init__(self) -> None:
        check_callable(f"draw of the surface template {self.name!r}", self.draw, "data", "context")


class SurfaceTemplateRegistry(Registry[SurfaceTemplate]):
    """Surface templates by kind of data."""

    _NAME = re.compile(r"(?:beach:)?[A-Za-z][A-Za-z0-9_.-]{0,63}")

    def register(self, item: SurfaceTemplate) -> SurfaceTemplate:
        """Also takes the place of one of the runtime's, under its name. Raises ``RegistrationError`` for a reserved
        name that is none of those."""
        known = self.get(item.name)
        if known is not None and item.is_default and not known.is_default:
            # The application came first.
            return known
        if known is not None and known.is_default and not item.is_default and not self._is_closed:
            del self._items[item.name], self._places[item.name]
        elif is_reserved(item.name) and item.name != APPROVAL:
            raise RegistrationError(f"{item.name!r} is the runtime's.", name=item.name)
        return super().register(item)

    def for_data(self, kind: str | None) -> SurfaceTemplate | None:
        """The template for data of an agent: the runtime's own are for what the runtime says."""
        return None if not kind or is_reserved(kind) else self.get(kind)

    def has_any_for_data(self) -> bool:
        """Whether there is one at all."""
        return any(not is_reserved(item.name) for item in self)


surface_templates = SurfaceTemplateRegistry("surface template")
