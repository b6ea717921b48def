"""Icon (rulebook 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from a2ui.binding.reading import Const, Getter
from a2ui.binding.secrets import show
from a2ui.catalog.icons import NEUTRAL, drawing, path_drawing, words
from a2ui.catalog.kinds import SvgPath, icon_name
from a2ui.components import BaseComponent
from a2ui.rendering.build import Build, always, class_names, flex, role_of
from a2ui.rendering.hearing import HIDDEN
from a2ui.rendering.place import Placement

if TYPE_CHECKING:
    from a2ui.rendering.first_drawing import FirstDrawing
    from a2ui.state.components import Component


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
        label, heard = build.labelled(), build.heard()
        value = _outline(build, name) if isinstance(name, SvgPath) else build.value("name")
        if isinstance(value, Const) and isinstance(label, Const) and isinstance(heard, Const):
            rest = _content(value.value, label.value, heard.value, placement, weight)
            build.done(lambda _, context: f"{start}{context}{rest}")
            return
        icon, label_of, heard_of = always(value), always(label), always(heard)

        def render(scope: Any, context: str) -> str:
            content = _content(icon(scope), label_of(scope), heard_of(scope), placement, weight)
            return f"{start}{context}{content}"

        build.done(render)

    def draw(self, drawing: FirstDrawing, component: Component, placement: Placement) -> str:
        name = component.props.get("name")
        icon = (
            SvgPath(show(drawing.value(component, name.d), drawing.work))
            if isinstance(name, SvgPath)
            else drawing.value(component, name)
        )
        label, heard = drawing.labelled(component), drawing.heard(component)
        content = _content(icon, label, heard, placement, flex(component.props, placement))
        return f'<svg id="{drawing.id(component)}{content}'


def _outline(build: Build, name: SvgPath) -> Getter | Const:
    """The outline, which may come from the data."""
    if isinstance(name.d, str):
        return Const(name)
    get, work = build.compiler.getter(name.d, build), build.compiler.work
    return lambda scope: SvgPath(show(get(scope), work))


def _content(icon: Any, label: str, heard: str, placement: Placement, weight: float | None) -> str:
    """Everything behind the id; `label` are the attributes for what it is called, `heard` those for changes and for
    being left out."""
    if isinstance(icon, SvgPath):
        shown, body = "", path_drawing(str(icon.d))
    else:
        shown = show(icon)
        body = drawing(shown)
    if not label and placement.named:
        label = f' aria-label="{words(shown) if body is not NEUTRAL else "Icon"}"'
    if heard.endswith(HIDDEN):
        label, heard = "", heard.removesuffix(HIDDEN)
    role = f' role="img"{label}' if label else HIDDEN
    role = (role_of(placement) + label if placement.opens else role) + heard
    return f'" class="{class_names(("b-icon a2-icon",), weight)}" viewBox="0 0 24 24"{role}>{body}</svg>'
