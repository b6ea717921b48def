"""Button (rulebook 11, 13, 16)."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from a2ui.binding.direct import Unusual
from a2ui.binding.reading import Const
from a2ui.binding.values import is_dynamic
from a2ui.catalog.actions import action
from a2ui.catalog.basic.checks import failing
from a2ui.catalog.kinds import checks, child, enum
from a2ui.catalog.registry import ComponentType
from a2ui.rendering.build import Build, always, class_names
from a2ui.rendering.place import Around, Place

if TYPE_CHECKING:
    from a2ui.rendering.pen import Pen
    from a2ui.state.components import Component

_CLASSES = {"default": "a2-btn", "primary": "a2-btn a2-btn--primary", "borderless": "a2-btn a2-btn--plain"}


_INSIDE, _NAMED = Around(inline=True), Around(inline=True, named=True)


@lru_cache(maxsize=1024)
def _opened(variant: str, weight: float | None, acts: bool) -> str:
    """The opening tag from behind the id on, without its end."""
    return f'" class="{class_names((_CLASSES[variant],), weight)}" type="button"{" data-act" if acts else ""}'


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
        props = build.props
        start = f'<button id="{build.id}'
        opened = _opened(props.get("variant", "default"), build.flex, "action" in props)
        accessible = build.accessible()
        named = isinstance(accessible, Const) and not accessible.value
        inner = build.child("child", _NAMED if named else _INSIDE)
        fails = failing(build)
        if fails is None and isinstance(accessible, Const):
            shell = f"{opened}{accessible.value}>"
            build.done(partial(_ready, start, shell, inner) if inner else partial(_empty, start, shell))
            return
        aria = always(accessible)

        def render(scope: Any, context: str) -> str:
            messages = fails(scope) if fails else []
            state = f' disabled title="{"; ".join(filter(None, messages))}"' if messages else ""
            body = inner.render(scope, context) if inner else ""
            return f"{start}{context}{opened}{state}{aria(scope)}>{body}</button>"

        build.remember(render)

    def draw(self, pen: Pen, component: Component, around: Around) -> str:
        props = component.props
        given = props.get("accessibility", ())
        if props.get("checks") or around.inline or any(map(is_dynamic, given)):
            raise Unusual
        weight = props.get("weight") if around.weighted else None
        opened = _opened(props.get("variant", "default"), weight, "action" in props)
        aria = pen.accessible(component) if given else ""
        inner = pen.children(component, around, _INSIDE if aria else _NAMED)
        return f'<button id="{pen.head}{pen.numbers[component.number]}{opened}{aria}>{inner}</button>'


def _ready(start: str, shell: str, inner: Place, scope: Any, context: str) -> str:
    return f"{start}{context}{shell}{inner.render(scope, context)}</button>"


def _empty(start: str, shell: str, _: Any, context: str) -> str:
    return f"{start}{context}{shell}</button>"
