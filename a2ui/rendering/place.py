"""Places: the components of a surface laid out as a tree, once per template instead of once per item.

An *instance* is a place together with the items around it. Instances have no objects of their own; they are named
by a *context*, the text that also ends their DOM id: `-<key>` for each template item and `-e<n>_<component>` at
the second and further places of one component.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from a2ui.rendering.lists import ListSlot
    from a2ui.rendering.patterns import Pattern
    from a2ui.state.components import Component, Edge

Op: TypeAlias = list[str]
"""One fragment of D41."""

Render: TypeAlias = Callable[[Any, str], str]
"""(value of the scope, context) -> HTML."""

Emit: TypeAlias = Callable[[Any, str], Op | None]
"""(value of the scope, context of the instance) -> what to send, None for nothing new."""


class Around(NamedTuple):
    """What a component may know about where it stands."""

    weighted: bool = False
    """Directly in a Row or Column: `weight` counts."""
    listed: bool = False
    """Directly in a List: a list item."""
    inline: bool = False
    """Inside a button: phrasing content, nothing interactive."""
    opens: bool = False
    """The trigger of a dialog: what is no button has to become something that the keyboard can reach."""
    named: bool = False
    """The only content of a button: an icon has to say what it is."""


ANYWHERE = Around()


class Part:
    """Something of a place that is repainted on its own; `memo` is what each instance showed last, if kept."""

    __slots__ = ("emit", "memo", "patterns", "place")

    def __init__(self, place: Place, emit: Emit) -> None:
        self.place = place
        self.emit = emit
        self.memo: dict[str, str] | None = None
        self.patterns: list[Pattern] = []


NO_CHILDREN: Final[dict[Any, Any]] = {}
"""What places without children share; nothing is ever put in."""


class Place:
    """One place of one component."""

    __slots__ = (
        "around", "born", "children", "component", "component_id", "depth", "has_input", "kids", "levels",
        "own", "parent", "parts", "prefix", "raw", "render", "scope", "shell", "size", "slot", "tail", "weight",
    )  # fmt: skip

    def __init__(
        self,
        component_id: str,
        *,
        parent: Place | None,
        around: Around,
        prefix: str,
        own: str,
        levels: tuple[ListSlot, ...],
        scope: Pattern,
        tail: str,
    ) -> None:
        self.component_id = component_id
        self.component: Component | None = None
        self.parent = parent
        self.around = around
        self.prefix = prefix
        """The DOM id without the context."""
        self.own = own
        """The token of this place of the component, "" for its first."""
        self.tail = tail
        """The end of the context: the tokens since the innermost template item, own one included."""
        self.levels = levels
        """The templates around, outermost first."""
        self.scope = scope
        """The pattern of the scope path."""
        self.depth: int = parent.depth + 1 if parent else 0
        self.children: dict[tuple[str, Edge], Place] = NO_CHILDREN
        """By child id and edge."""
        self.kids: list[Place] | None = None
        """The children in page order, of a container that can add and remove single ones; else None."""
        self.shell = ""
        """The opening tag of such a container, without its id."""
        self.slot: ListSlot | None = None
        self.parts: tuple[Part, ...] = ()
        self.has_input = False
        self.size = 1
        """Instances that one instance of this place makes, without those of templates; see `weight`."""
        self.weight = 0
        """What its own long texts and many options count for, in instances."""
        self.born = 0
        """The repaint that put it on the page."""
        self.raw: Render = _nothing
        """Renders with the full context of the instance."""
        self.render: Render = _nothing
        """Renders with the context of the parent's instance."""

    def set_render(self, raw: Render) -> None:
        self.raw = raw
        own = self.own
        self.render = (lambda scope, context: raw(scope, context + own)) if own else raw


def _nothing(_: Any, __: str) -> str:
    return ""
