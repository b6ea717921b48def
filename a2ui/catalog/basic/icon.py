"""Icon (rulebook 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from a2ui.binding.reading import Const
from a2ui.binding.secrets import show
from a2ui.catalog.icons import NEUTRAL, drawing, path_drawing, words
from a2ui.catalog.kinds import SvgPath, icon_name
from a2ui.components import BaseComponent
from a2ui.rendering.build import Build, always, class_names, flex, role_of
from a2ui.rendering.place import Placement

if TYPE_CHECKING:
    from a2ui.rendering.first_drawing import FirstDrawing
    from a2ui.state.components import Component

_HIDDEN = ' aria-hidden="true"'


class Icon(BaseComponent):
    """One of the catalog's icons, or the outline that the agent gives. Decorative unless it is labelled, or is all
    that a button holds."""

    name = "Icon"
    properties = {"name": icon_name}
    required = frozenset({"name"})

    draws = True

    def build(self, build: Build) -> None:
        name, placement, weight = build.props.get("name"), build.place.placement, build.flex
        start = f'<svg id="{build.id}'
        accessible = build.accessible()
        value = Const(name) if isinstance(name, SvgPath) else build.value("name")
        if isinstance(value, Const) and isinstance(accessible, Const):
            rest = _content(value.value, accessible.value, placement, weight)
            build.done(lambda _, context: f"{start}{context}{rest}")
            return
        icon, aria = always(value), always(accessible)

        def render(scope: Any, context: str) -> str:
            return f"{start}{context}{_content(icon(scope), aria(scope), placement, weight)}"

        build.done(render)

    def draw(self, drawing: FirstDrawing, component: Component, placement: Placement) -> str:
        name = component.props.get("name")
        icon = name if isinstance(name, SvgPath) else drawing.value(component, name)
        content = _content(icon, drawing.accessible(component), placement, flex(component.props, placement))
        return f'<svg id="{drawing.id(component)}{content}'


def _content(icon: Any, label: str, placement: Placement, weight: float | None) -> str:
    """Everything behind the id; `label` are the attributes for what it is called."""
    if isinstance(icon, SvgPath):
        shown, body = "", path_drawing(icon.d)
    else:
        shown = show(icon)
        body = drawing(shown)
    if not label and placement.named:
        label = f' aria-label="{words(shown) if body is not NEUTRAL else "Icon"}"'
    role = f' role="img"{label}' if label else _HIDDEN
    role = role_of(placement) + label if placement.opens else role
    return f'" class="{class_names(("b-icon a2-icon",), weight)}" viewBox="0 0 24 24"{role}>{body}</svg>'
