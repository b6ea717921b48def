"""Button (rulebook 11, 13, 16)."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from a2ui.binding.direct import NeedsCompilation
from a2ui.binding.reading import Const
from a2ui.binding.values import is_dynamic
from a2ui.catalog.actions import action
from a2ui.catalog.basic.checks import WAITS, failing, held
from a2ui.catalog.kinds import checks, child, enum
from a2ui.components import BaseComponent
from a2ui.rendering.build import Build, always, class_names, joined
from a2ui.rendering.place import Place, Placement

if TYPE_CHECKING:
    from a2ui.rendering.first_drawing import FirstDrawing
    from a2ui.state.components import Component

_CLASSES = {"default": "a2-btn", "primary": "a2-btn a2-btn--primary", "borderless": "a2-btn a2-btn--plain"}


_INSIDE, _NAMED = Placement(inline=True), Placement(inline=True, named=True)


@lru_cache(maxsize=1024)
def _opened(variant: str, weight: float | None, acts: bool) -> str:
    """The opening tag from behind the id on, without its end."""
    return f'" class="{class_names((_CLASSES[variant],), weight)}" type="button"{" data-act" if acts else ""}'


class Button(BaseComponent):
    """A button that sends its action; disabled, with the reasons, while a check fails or waits for an agent."""

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

    draws = True

    def build(self, build: Build) -> None:
        props = build.props
        dom_id = build.id
        opened = _opened(props.get("variant", "default"), build.flex, "action" in props)
        label = build.labelled()
        accessible = joined(label, build.heard())
        named = isinstance(label, Const) and not label.value
        inner = build.child("child", _NAMED if named else _INSIDE)
        fails = failing(build, waiting=True)
        waits = build.waits
        if fails is None and waits is None and isinstance(accessible, Const):
            build.done(partial(_ready, dom_id, opened + accessible.value, inner))
            return
        aria = always(accessible)

        def render(scope: Any, context: str) -> str:
            failures = fails(scope) if fails else []
            if waits is not None and waits(scope) and WAITS not in failures:
                failures = [*failures, WAITS]
            attributes, why = aria(scope), ""
            if failures:
                attributes, why = held(failures, dom_id + context, attributes)
            body = inner.render(scope, context) if inner else ""
            return _button(dom_id + context, opened + attributes, body + why)

        build.remember(render)

    def draw(self, drawing: FirstDrawing, component: Component, placement: Placement) -> str:
        props = component.props
        given = props.get("accessibility", ())
        if props.get("checks") or placement.inline or any(map(is_dynamic, given)):
            raise NeedsCompilation
        if drawing.compiler.calls is not None and type(props.get("action")) is not dict:
            # An unusual action may need answers of the agent, which are asked for by a place.
            raise NeedsCompilation
        weight = props.get("weight") if placement.weighted else None
        opened = _opened(props.get("variant", "default"), weight, "action" in props)
        label = drawing.labelled(component) if given else ""
        aria = label + drawing.heard(component) if given else ""
        inner = drawing.children(component, placement, _INSIDE if label else _NAMED)
        return _button(drawing.head + drawing.numbers[component.number], opened + aria, inner)


def _button(dom_id: str, opened: str, body: str) -> str:
    """The element; `opened` is its tag from behind the id on."""
    return f'<button id="{dom_id}{opened}>{body}</button>'


def _ready(dom_id: str, opened: str, inner: Place | None, scope: Any, context: str) -> str:
    # As `_button` has it, without the call: lists have one in every item.
    return f'<button id="{dom_id}{context}{opened}>{inner.render(scope, context) if inner else ""}</button>'
