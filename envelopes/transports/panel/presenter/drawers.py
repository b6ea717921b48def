"""Who draws which part type in the thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from envelopes.errors import RegistrationError
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
from envelopes.part_types.thinking import THINKING
from envelopes.registries.part_types import part_types
from envelopes.transports.panel.presenter import (
    activity,
    artifact,
    citations,
    data,
    decisions,
    progress,
    prose,
    questions,
    surface,
    templated,
)
from envelopes.transports.panel.presenter.row import RowContext

Drawer: TypeAlias = Callable[[RowContext], None]

_DRAWERS: dict[str, Drawer] = {}


def draw_with(part_type: str, drawer: Drawer) -> None:
    """``drawer`` draws parts of this type. Raises ``RegistrationError`` where another one does already."""
    known = _DRAWERS.setdefault(part_type, drawer)
    if known is not drawer:
        raise RegistrationError(
            f"Parts of type {part_type!r} are drawn by {known.__module__}.{known.__qualname__} already, so "
            f"{drawer.__module__}.{drawer.__qualname__} cannot draw them.",
            name=part_type,
        )


def drawer_of(part_type: str) -> Drawer:
    """Who draws parts of this type: for one without a drawer its own template or module, else the readable fallback."""
    drawer = _DRAWERS.get(part_type)
    if drawer is not None:
        return drawer
    kind = part_types.get(part_type)
    return templated.show if kind is not None and (kind.template or kind.module) else data.show_unknown


def is_prose(part_type: str) -> bool:
    """Whether parts of this type are Markdown and nothing else, so that they can be drawn while they are written."""
    return drawer_of(part_type) is prose.answer


draw_with(ACK.name, activity.note)
draw_with(THINKING.name, activity.note)
draw_with(RESPONSE.name, prose.answer)
draw_with(CLARIFY.name, questions.ask)
draw_with(ERROR.name, questions.fail)
draw_with(DOMAIN_DATA.name, data.defer_data)
draw_with(A2UI_SURFACE.name, surface.show)
draw_with(ARTIFACT.name, artifact.keep)
draw_with(CITATION.name, citations.cite)
draw_with(PROGRESS.name, progress.advance)
draw_with(APPROVAL_REQUEST.name, decisions.request)
draw_with(APPROVAL_RESPONSE.name, decisions.respond)
