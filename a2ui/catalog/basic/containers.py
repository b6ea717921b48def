"""Row, Column and List: children side by side, or one per item of a list (rulebook 7.5, 16, 17.1)."""

from __future__ import annotations

from typing import Any, ClassVar

from a2ui.binding.compiler import Const
from a2ui.catalog.kinds import children, enum
from a2ui.catalog.registry import ComponentType
from a2ui.rendering.build import Build, always
from a2ui.rendering.place import Around, Render

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


class _Container(ComponentType):
    base: ClassVar[str]
    slots = ("children",)
    required = frozenset({"children"})
    around: ClassVar[Around] = Around(weighted=True)

    def css(self, build: Build) -> str:
        """The class names of the element."""
        props = build.props
        return build.classes(
            self.base,
            _JUSTIFY_CLASSES.get(props.get("justify", ""), ""),
            _ALIGN_CLASSES.get(props.get("align", ""), ""),
        )

    def build(self, build: Build) -> None:
        place = build.place
        accessible = build.accessible()
        start = f'<div id="{build.id}'
        opened = f'" class="{self.css(build)}"{self.role(build)}'
        template = build.items("children", self.around)
        if template is not None:
            inner: Render = template[1]
        else:
            kids = place.kids = build.children_in("children", self.around)
            inner = _joined(kids)
        if isinstance(accessible, Const):
            place.shell = shell = f"{opened}{accessible.value}>"
            build.done(lambda scope, context: f"{start}{context}{shell}{inner(scope, context)}</div>")
            return
        aria = always(accessible)
        build.done(
            lambda scope, context: f"{start}{context}{opened}{aria(scope)}>{inner(scope, context)}</div>"
        )

    def role(self, build: Build) -> str:
        return build.role()


def _joined(kids: list[Any]) -> Render:
    # The places stay the same objects while their `render` is replaced by redefinitions, so it is looked up anew.
    if len(kids) == 2:
        first, second = kids
        return lambda scope, context: first.render(scope, context) + second.render(scope, context)
    if len(kids) == 3:
        one, two, three = kids
        return lambda scope, context: (
            f"{one.render(scope, context)}{two.render(scope, context)}{three.render(scope, context)}"
        )
    return lambda scope, context: "".join([kid.render(scope, context) for kid in kids])


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
    around = Around(listed=True)

    def css(self, build: Build) -> str:
        props = build.props
        direction = "a2-list--across" if props.get("direction") == "horizontal" else ""
        return build.classes(self.base, direction, _ALIGN_CLASSES.get(props.get("align", ""), ""))

    def role(self, build: Build) -> str:
        return build.role() if build.place.around.opens else ' role="list"'
