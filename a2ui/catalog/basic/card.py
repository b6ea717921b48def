"""Card (rulebook 16)."""

from __future__ import annotations

from typing import Any

from a2ui.catalog.kinds import child
from a2ui.catalog.registry import ComponentType
from a2ui.rendering.build import Build, always


class Card(ComponentType):
    """A frame round one child."""

    name = "Card"
    properties = {"child": child}
    required = frozenset({"child"})
    slots = ("child",)

    def build(self, build: Build) -> None:
        start = f'<div id="{build.id}'
        opened = f'" class="{build.classes("a2-card")}"{build.role()}'
        aria = always(build.accessible())
        inner = build.child("child")

        def render(scope: Any, context: str) -> str:
            body = inner.render(scope, context) if inner else ""
            return f"{start}{context}{opened}{aria(scope)}>{body}</div>"

        build.done(render)
