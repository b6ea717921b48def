"""Button (rulebook 11, 13, 16)."""

from __future__ import annotations

from typing import Any

from a2ui.binding.compiler import Const
from a2ui.catalog.basic.checks import failing
from a2ui.catalog.kinds import action, checks, child, enum
from a2ui.catalog.registry import ComponentType
from a2ui.rendering.build import Build, always
from a2ui.rendering.place import Around

_CLASSES = {"default": "a2-btn", "primary": "a2-btn a2-btn--primary", "borderless": "a2-btn a2-btn--plain"}


class Button(ComponentType):
    """A button that sends its action; disabled, with the reasons as title, while a check fails."""

    name = "Button"
    properties = {
        "child": child,
        "variant": enum("default", "primary", "borderless"),
        "action": action,
        "checks": checks,
    }
    required = frozenset({"child", "action"})
    slots = ("child",)
    interactive = True

    def build(self, build: Build) -> None:
        css = build.classes(_CLASSES[build.props.get("variant", "default")])
        acts = " data-act" if "action" in build.props else ""
        start = f'<button id="{build.id}'
        opened = f'" class="{css}" type="button"{acts}'
        accessible = build.accessible()
        named = isinstance(accessible, Const) and not accessible.value
        inner = build.child("child", Around(inline=True, named=named))
        fails = failing(build)
        if fails is None and isinstance(accessible, Const):
            shell = f"{opened}{accessible.value}>"
            build.done(
                lambda scope, context: (
                    f"{start}{context}{shell}{inner.render(scope, context) if inner else ''}</button>"
                )
            )
            return
        aria = always(accessible)

        def render(scope: Any, context: str) -> str:
            messages = fails(scope) if fails else []
            state = f' disabled title="{"; ".join(filter(None, messages))}"' if messages else ""
            body = inner.render(scope, context) if inner else ""
            return f"{start}{context}{opened}{state}{aria(scope)}>{body}</button>"

        build.done(render, memo=True)
