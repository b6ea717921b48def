"""Row, Column and List: children side by side, or one per item of a list (rulebook 7.5, 16, 17.1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

from a2ui.binding.reading import Const, Getter
from a2ui.catalog.kinds import children, enum
from a2ui.components import BaseComponent
from a2ui.rendering.build import Build, class_names, role_of
from a2ui.rendering.place import Enclosure, Place, Placement, Render

if TYPE_CHECKING:
    from a2ui.rendering.first_drawing import FirstDrawing
    from a2ui.state.components import Component

_JUSTIFY = enum("start", "center", "end", "spaceBetween", "spaceAround", "spaceEvenly", "stretch")
_ALIGN = enum("start", "center", "end", "stretch")

_JUSTIFY_CLASSES = {
    "center": "a2-j-center",
    "end": "a2-j-end",
    "spaceBetween": "a2-j-between",
    "spaceAround": "a2-j-around",
    "spaceEvenly": "a2-j-evenly",
    "stretch": "a2-j-stretch",
}
_ALIGN_CLASSES = {"start": "a2-a-start", "center": "a2-a-center", "end": "a2-a-end"}


class _Container(BaseComponent):
    base: ClassVar[str]
    slots = ("children",)
    required = frozenset({"children"})
    placement: ClassVar[Placement] = Placement(weighted=True)

    def layout(self, along: str | None) -> str:
        """The class name for how the children are laid out along the container, by `justify` or `direction`."""
        return _JUSTIFY_CLASSES.get(along or "", "")

    draws = True

    def build(self, build: Build) -> None:
        place, props = build.place, build.props
        accessible = build.accessible(group=not self.role(place.placement))
        start = f'<div id="{build.id}'
        opened = self.opened(props, place.placement)
        template = build.items("children", self.placement)
        kids = [] if template else build.children_in("children", self.placement)
        if not isinstance(accessible, Const):
            build.done(
                partial(_labelled, start, opened, accessible, template[1] if template else _joined(kids))
            )
            return
        shell = f"{opened}{accessible.value}>"
        if template is None:
            place.enclosure = Enclosure(shell, kids)
        build.done(partial(_listing, start, shell, template[1]) if template else _filled(start, shell, kids))

    def draw(self, drawing: FirstDrawing, component: Component, placement: Placement) -> str:
        props = component.props
        opened = self.opened(props, placement)
        aria = (
            drawing.accessible(component, group=not self.role(placement)) if "accessibility" in props else ""
        )
        inner = drawing.children(component, placement, self.placement)
        return f'<div id="{drawing.head}{drawing.numbers[component.number]}{opened}{aria}>{inner}</div>'

    def opened(self, props: Mapping[str, Any], placement: Placement) -> str:
        """The opening tag from behind the id on, without its end."""
        along = props.get("justify") or props.get("direction")
        return _opened(
            self, along, props.get("align"), props.get("weight") if placement.weighted else None, placement
        )

    def role(self, placement: Placement) -> str:
        """The attributes for the part of the element."""
        return role_of(placement)


@lru_cache(maxsize=1024)
def _opened(
    kind: _Container, along: str | None, align: str | None, weight: float | None, placement: Placement
) -> str:
    names = (kind.base, kind.layout(along), _ALIGN_CLASSES.get(align or "", ""))
    # What scrolls sideways is within reach of the keyboard.
    reach = ' tabindex="0"' if along == "horizontal" and not placement.opens else ""
    return f'" class="{class_names(names, weight)}"{kind.role(placement)}{reach}'


def _labelled(start: str, opened: str, aria: Getter, inner: Render, scope: Any, context: str) -> str:
    return f"{start}{context}{opened}{aria(scope)}>{inner(scope, context)}</div>"


def _listing(start: str, shell: str, items: Render, scope: Any, context: str) -> str:
    return f"{start}{context}{shell}{items(scope, context)}</div>"


def _joined(kids: list[Place]) -> Render:
    # The places stay the same objects while their `render` is replaced by redefinitions, so it is looked up anew.
    return lambda scope, context: "".join([kid.render(scope, context) for kid in kids])


def _filled(start: str, shell: str, kids: list[Place]) -> Render:
    """The element with its children, in one step: this runs once for each row of a list."""
    return partial(_of_three if len(kids) == 3 else _of_any, start, shell, kids)


def _of_three(start: str, shell: str, kids: list[Place], scope: Any, context: str) -> str:
    one, two, three = kids
    return (
        f"{start}{context}{shell}{one.render(scope, context)}{two.render(scope, context)}"
        f"{three.render(scope, context)}</div>"
    )


def _of_any(start: str, shell: str, kids: list[Place], scope: Any, context: str) -> str:
    return f"{start}{context}{shell}{''.join([kid.render(scope, context) for kid in kids])}</div>"


class Row(_Container):
    """Children in a line; it wraps where it is too narrow unless children have weights."""

    name = "Row"
    base = "a2-hbox"
    properties = {"children": children, "justify": _JUSTIFY, "align": _ALIGN}


class Column(_Container):
    """Children below each other."""

    name = "Column"
    base = "a2-vbox"
    properties = {"children": children, "justify": _JUSTIFY, "align": _ALIGN}


class List(_Container):
    """Children below or beside each other that scroll along their direction, as a list for screen readers."""

    name = "List"
    base = "a2-list"
    properties = {"children": children, "direction": enum("vertical", "horizontal"), "align": _ALIGN}
    placement = Placement(listed=True)

    def layout(self, along: str | None) -> str:
        return "a2-list--across" if along == "horizontal" else ""

    def role(self, placement: Placement) -> str:
        return role_of(placement) if placement.opens else ' role="list"'

    def takes_focus(self, props: Mapping[str, Any]) -> bool:
        """What scrolls sideways does."""
        return props.get("direction") == "horizontal"
