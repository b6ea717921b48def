"""Card (rulebook 16)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from a2ui.binding.reading import Const
from a2ui.catalog.kinds import child
from a2ui.catalog.registry import ComponentType
from a2ui.rendering.build import Build, always, role_of
from a2ui.rendering.place import Around, Place

if TYPE_CHECKING:
    from a2ui.rendering.pen import Pen
    from a2ui.state.components import Component


class Card(ComponentType):
    """A frame round one child."""

    name = "Card"
    properties = {"child": child}
    required = frozenset({"child"})
    slots = ("child",)

    def build(self, build: Build) -> None:
        start = f'<div id="{build.id}'
        opened = f'" class="{build.classes("a2-card")}"{build.role()}'
        accessible = build.accessible()
        inner = build.child("child")
        if inner is not None and isinstance(accessible, Const):
            build.done(partial(_framed, start, f"{opened}{accessible.value}>", inner))
            return
        aria = always(accessible)

        def render(scope: Any, context: str) -> str:
            body = inner.render(scope, context) if inner else ""
            return f"{start}{context}{opened}{aria(scope)}>{body}</div>"

        build.done(render)

    def draw(self, pen: Pen, component: Component, around: Around) -> str:
        opened = f'" class="{pen.classes(component, around, "a2-card")}"{role_of(around)}{pen.accessible(component)}>'
        return f'<div id="{pen.id(component)}{opened}{pen.children(component, around)}</div>'


def _framed(start: str, shell: str, inner: Place, scope: Any, context: str) -> str:
    return f"{start}{context}{shell}{inner.render(scope, context)}</div>"
