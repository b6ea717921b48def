"""Who draws which part type in the thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from envelopes.errors import RegistrationError
from envelopes.registries.part_types import part_types
from envelopes.transports.panel.presenter import (
    activity,
    artifact,
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


draw_with("ack", activity.note)
draw_with("thinking", activity.note)
draw_with("response", prose.answer)
draw_with("clarify", questions.ask)
draw_with("error", questions.fail)
draw_with("domain-data", data.defer_data)
draw_with("a2ui-surface", surface.show)
draw_with("artifact", artifact.keep)
draw_with("citation", prose.cite)
draw_with("progress", progress.advance)
draw_with("approval-request", decisions.request)
draw_with("approval-response", decisions.respond)
