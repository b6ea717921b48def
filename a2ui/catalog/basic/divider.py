"""Divider (rulebook 16)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from a2ui.binding.reading import Const
from a2ui.catalog.kinds import enum
from a2ui.components import BaseComponent
from a2ui.rendering.build import Build, class_names, flex

if TYPE_CHECKING:
    from a2ui.rendering.first_drawing import FirstDrawing
    from a2ui.rendering.place import Placement
    from a2ui.state.components import Component


class Divider(BaseComponent):
    """A hairline, across or from top to bottom."""

    name = "Divider"
    properties = {"axis": enum("horizontal", "vertical")}

    draws = True

    def build(self, build: Build) -> None:
        tag, opened, end = _line(build.props.get("axis"), build.flex)
        accessible = build.accessible()
        if isinstance(accessible, Const):
            build.done(partial(_fixed, f'<{tag} id="{build.id}', f"{opened}{accessible.value}{end}"))
            return
        aria = accessible
        build.done(lambda scope, context: f'<{tag} id="{build.id}{context}{opened}{aria(scope)}{end}')

    def draw(self, drawing: FirstDrawing, component: Component, placement: Placement) -> str:
        tag, opened, end = _line(component.props.get("axis"), flex(component.props, placement))
        return f'<{tag} id="{drawing.id(component)}{opened}{drawing.accessible(component)}{end}'


def _line(axis: str | None, weight: float | None) -> tuple[str, str, str]:
    """The name of the element, what follows its id, and its end."""
    if axis == "vertical":
        css = class_names(("a2-vr",), weight)
        return "div", f'" class="{css}" role="separator" aria-orientation="vertical"', "></div>"
    return "hr", f'" class="{class_names(("a2-divider",), weight)}"', ">"


def _fixed(start: str, end: str, _: Any, context: str) -> str:
    return f"{start}{context}{end}"
