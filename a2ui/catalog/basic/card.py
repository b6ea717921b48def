"""Card (rulebook 16)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from a2ui.binding.reading import Const
from a2ui.catalog.kinds import child
from a2ui.components import BaseComponent
from a2ui.rendering.build import Build, always, role_of
from a2ui.rendering.place import Place, Placement

if TYPE_CHECKING:
    from a2ui.rendering.first_drawing import FirstDrawing
    from a2ui.state.components import Component


class Card(BaseComponent):
    """A frame round one child."""

    name = "Card"
    properties = {"child": child}
    required = frozenset({"child"})
    slots = ("child",)

    draws = True

    def build(self, build: Build) -> None:
        dom_id, css, role = build.id, build.classes("a2-card"), build.role()
        accessible, inner = build.accessible(group=not role), build.child("child")
        if inner is not None and isinstance(accessible, Const):
            build.done(partial(_framed, dom_id, f'{css}"{role}{accessible.value}', inner))
            return
        aria = always(accessible)

        def render(scope: Any, context: str) -> str:
            body = inner.render(scope, context) if inner else ""
            return _card(dom_id + context, f'{css}"{role}{aria(scope)}', body)

        build.done(render)

    def draw(self, drawing: FirstDrawing, component: Component, placement: Placement) -> str:
        css, role = drawing.classes(component, placement, "a2-card"), role_of(placement)
        attributes = f'{css}"{role}{drawing.accessible(component, group=not role)}'
        return _card(drawing.id(component), attributes, drawing.children(component, placement))


def _card(dom_id: str, attributes: str, body: str) -> str:
    """The element; `attributes` begin inside of the class."""
    return f'<div id="{dom_id}" class="{attributes}>{body}</div>'


def _framed(dom_id: str, attributes: str, inner: Place, scope: Any, context: str) -> str:
    return _card(dom_id + context, attributes, inner.render(scope, context))
