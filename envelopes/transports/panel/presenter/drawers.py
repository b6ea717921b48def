"""Who draws which part type in the thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.part_types.ack import ACK
from envelopes.part_types.approval_request import APPROVAL_REQUEST
from envelopes.part_types.approval_response import APPROVAL_RESPONSE
from envelopes.part_types.artifact import ARTIFACT
from envelopes.part_types.citation import CITATION
from envelopes.part_types.clarify import CLARIFY
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.part_types.error import ERROR
from envelopes.part_types.progress import PROGRESS
from envelopes.part_types.response import RESPONSE
from envelopes.part_types.staff_message import STAFF_MESSAGE
from envelopes.part_types.thinking import THINKING
from envelopes.registries.base import Registry
from envelopes.registries.catalogue import with_registry
from envelopes.registries.part_types import part_types
from envelopes.transports.panel.presenter import (
    activity,
    artifact,
    citations,
    data,
    decisions,
    gathered,
    progress,
    prose,
    questions,
    staff,
    templated,
)
from envelopes.transports.panel.presenter.row import RowContext

Drawer: TypeAlias = Callable[[RowContext], None]


@dataclass(frozen=True)
class Drawing:
    """``drawer`` draws parts of the type ``name``."""

    name: str
    drawer: Drawer

    @property
    def summary(self) -> str:
        return f"{self.drawer.__module__}.{self.drawer.__qualname__}"


class DrawingRegistry(Registry[Drawing]):
    """Drawings by part type."""

    def register_drawer(self, part_type: str, drawer: Drawer) -> Drawing:
        """``drawer`` draws parts of this type. Raises ``RegistrationError`` where another one does already."""
        return self.register(Drawing(part_type, drawer))


drawings = with_registry(DrawingRegistry("panel drawing"))
draw_with = drawings.register_drawer


def drawer_of(part_type: str) -> Drawer:
    """Who draws parts of this type: for one without a drawer its own template or module, else the readable fallback."""
    drawing = drawings.get(part_type)
    if drawing is not None:
        return drawing.drawer
    kind = part_types.get(part_type)
    return templated.show if kind is not None and (kind.template or kind.module) else data.show_unknown


def is_prose(part_type: str) -> bool:
    """Whether parts of this type are Markdown and nothing else, so that they can be drawn while they are written."""
    return drawer_of(part_type) is prose.answer


def is_note(part_type: str) -> bool:
    """Whether what is written in them is the line that moves while a turn runs, and not a text of its own."""
    return drawer_of(part_type) is activity.note


draw_with(ACK.name, activity.note)
draw_with(THINKING.name, activity.note)
draw_with(RESPONSE.name, prose.answer)
draw_with(CLARIFY.name, questions.ask)
draw_with(ERROR.name, questions.fail)
draw_with(DOMAIN_DATA.name, gathered.gather)
draw_with(A2UI_SURFACE.name, gathered.show_surface)
draw_with(ARTIFACT.name, artifact.keep)
draw_with(CITATION.name, citations.cite)
draw_with(PROGRESS.name, progress.advance)
draw_with(APPROVAL_REQUEST.name, decisions.request)
draw_with(APPROVAL_RESPONSE.name, decisions.respond)
draw_with(STAFF_MESSAGE.name, staff.said)
