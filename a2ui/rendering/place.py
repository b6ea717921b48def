"""Places: the components of a surface laid out as a tree, once per template instead of once per item.

An *instance* is a place together with the items around it. Instances have no objects of their own; they are named
by a *context*, the text that also ends their DOM id: `-<key>` for each template item and `-e<n>_<component>` at
the second and further places of one component.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from a2ui import ops
from a2ui.ops import Op
from a2ui.rendering.hearing import USUAL, Hearing

if TYPE_CHECKING:
    from a2ui.journal import Journal
    from a2ui.rendering.lists import ListSlot
    from a2ui.rendering.patterns import Pattern
    from a2ui.state.components import Component, Reference

Render: TypeAlias = Callable[[Any, str], str]
"""(value of the scope, context) -> HTML."""


class Several(NamedTuple):
    """More than one fragment of a part, each for an element of its own."""

    ops: list[Op]


Emit: TypeAlias = "Callable[[Any, str], Op | Several | None]"
"""(value of the scope, context of the instance) -> what to send, None for nothing new."""


class Placement(NamedTuple):
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
    tag: str = "div"
    """The element that stands for a piece which is left out: where browsers take no other (`tr`, `tbody`)."""
    cells: int = 0
    """How many columns the table has that a piece belongs to."""


ANYWHERE = Placement()


@cache
def inlined(placement: Placement) -> Placement:
    """The same, inside a button."""
    return placement._replace(inline=True)


class Part:
    """Something of a place that is repainted on its own: the whole element, unless a subclass knows better."""

    __slots__ = ("patterns", "place")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.patterns: list[Pattern] = []

    def emit(self, scope: Any, context: str) -> Op | Several | None:
        """What to send when something has changed that the part reads."""
        place = self.place
        return replace_op(place, place.prefix + context, place.raw(scope, context))


class OwnPart(Part):
    """A part with a fragment of its own."""

    __slots__ = ("_emit",)

    def __init__(self, place: Place, emit: Emit) -> None:
        super().__init__(place)
        self._emit = emit

    def emit(self, scope: Any, context: str) -> Op | Several | None:
        return self._emit(scope, context)


class Memo(Part):
    """An element that reads far more often than it looks different: remembers what each instance shows, and sends
    nothing when that is the same."""

    __slots__ = ("_journal", "_render", "shown")

    def __init__(self, place: Place, render: Render, journal: Journal) -> None:
        # Without super(): every input has one.
        self._journal = journal
        self.place = place
        self.patterns = []
        self._render = render
        self.shown: dict[str, str] = {}

    def render(self, scope: Any, context: str) -> str:
        """Renders and remembers."""
        html = self._render(scope, context)
        if self._journal.on:
            self._journal.item(self.shown, context)
        self.shown[context] = html
        return html

    def emit(self, scope: Any, context: str) -> Op | Several | None:
        before = self.shown.get(context)
        html = self.render(scope, context)
        return None if html == before else replace_op(self.place, self.place.prefix + context, html)


class Enclosure(NamedTuple):
    """An element that holds its children directly and one after the other, and of which everything else is fixed:
    while that stays the same, single children can come and go."""

    shell: str
    """The opening tag from behind the id to its end: whatever a definition can change of it shows here."""
    children_in_order: list[Place]
    """The children in page order."""


NO_CHILDREN: Final[dict[Any, Any]] = {}
"""What places without children share; nothing is ever put in."""


class Place:
    """One place of one component."""

    __slots__ = (
        "born", "children", "component", "component_id", "depth", "enclosure", "hearing", "inherited", "inner",
        "levels", "morphs", "own", "parent", "parts", "placement", "prefix", "raw", "render", "scope", "size", "slot",
        "tail", "weight",
    )  # fmt: skip

    def __init__(
        self,
        component_id: str,
        parent: Place | None,
        placement: Placement,
        prefix: str,
        own: str,
        levels: tuple[ListSlot, ...],
        scope: Pattern,
        tail: str,
        born: int,
    ) -> None:
        self.component_id = component_id
        self.component: Component | None = None
        self.parent = parent
        self.placement = placement
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
        self.inner = False
        """Whether it is a piece of the component around it, and no component of the agent's."""
        self.children: dict[Reference, Place] = NO_CHILDREN
        self.enclosure: Enclosure | None = None
        """None where a change of the definition or of a child's place has to send the whole element."""
        self.slot: ListSlot | None = None
        self.parts: tuple[Part, ...] = ()
        self.inherited: Hearing = parent.hearing if parent is not None else USUAL
        self.hearing: Hearing = self.inherited
        """What is handed down to those inside, by itself and by those around it."""
        self.morphs = False
        """Whether its elements stay when it is sent anew: somebody may be typing in one, or listening to one."""
        self.size = 1
        """Instances that one instance of this place makes, without those of templates; see `weight`."""
        self.weight = 0
        """What its own long texts and many options count for, in instances."""
        self.born = born
        """The repaint that put it on the page."""
        self.raw: Render = _nothing
        """Renders with the full context of the instance."""
        self.render: Render = _nothing
        """Renders with the context of the parent's instance."""

    def saved(self) -> tuple[Any, ...]:
        """See `journal.Saved`; its children are noted one by one."""
        return (
            self.component, self.children, self.enclosure, self.slot, self.parts, self.morphs, self.size,
            self.weight, self.raw, self.render, self.hearing,
        )  # fmt: skip

    def load(self, saved: Any) -> None:
        """See `journal.Saved`."""
        (
            self.component, self.children, self.enclosure, self.slot, self.parts, self.morphs, self.size,
            self.weight, self.raw, self.render, self.hearing,
        ) = saved  # fmt: skip

    def let_go(self) -> None:
        """Of all that refers to it."""
        if self.slot is not None:
            self.slot.item = None
        self.parent = self.slot = self.enclosure = None
        self.children, self.parts, self.raw, self.render = NO_CHILDREN, (), _nothing, _nothing

    def set_render(self, raw: Render) -> None:
        self.raw = raw
        own = self.own
        self.render = (lambda scope, context: raw(scope, context + own)) if own else raw


def _nothing(_: Any, __: str) -> str:
    return ""


def replace_op(place: Place, dom_id: str, html: str) -> Op:
    """The fragment that replaces an element; htmx morphs where it must stay the same element."""
    if place.morphs:
        return ops.morph(dom_id, html)
    return ops.replace(dom_id, html)
