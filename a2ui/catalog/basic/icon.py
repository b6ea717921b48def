"""Icon (rulebook 16)."""

from __future__ import annotations

from typing import Any

from a2ui.binding.compiler import Const
from a2ui.binding.secrets import show
from a2ui.catalog.basic.icons import NEUTRAL, drawing, path_drawing, words
from a2ui.catalog.kinds import SvgPath, icon_name
from a2ui.catalog.registry import ComponentType
from a2ui.rendering.build import Build

_HIDDEN = ' aria-hidden="true"'


class Icon(ComponentType):
    """One of the catalog's icons, or the outline that the agent gives. Decorative unless it is labelled, or is all
    that a button holds."""

    name = "Icon"
    properties = {"name": icon_name}
    required = frozenset({"name"})

    def build(self, build: Build) -> None:
        name = build.props.get("name")
        start = f'<svg id="{build.id}'
        opened = f'" class="{build.classes("b-icon a2-icon")}" viewBox="0 0 24 24"'
        accessible = build.accessible()
        fixed = path_drawing(name.d) if isinstance(name, SvgPath) else None
        value = Const("") if fixed is not None else build.value("name")

        def content(icon: Any, label: str) -> str:
            shown = show(icon)
            body = fixed if fixed is not None else drawing(shown)
            if not label and build.place.around.named:
                label = f' aria-label="{words(shown) if body is not NEUTRAL else "Icon"}"'
            role = f' role="img"{label}' if label else _HIDDEN
            role = build.role() + label if build.place.around.opens else role
            return f"{opened}{role}>{body}</svg>"

        if isinstance(value, Const) and isinstance(accessible, Const):
            rest = content(value.value, accessible.value)
            build.done(lambda _, context: f"{start}{context}{rest}")
            return
        get = build.getter("name") if fixed is None else lambda _: ""
        aria = accessible.value if isinstance(accessible, Const) else accessible

        def render(scope: Any, context: str) -> str:
            label = aria if isinstance(aria, str) else aria(scope)
            return f"{start}{context}{content(get(scope), label)}"

        build.done(render)
