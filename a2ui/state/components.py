"""Component definitions of a surface and where they use each other (rulebook section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from a2ui.catalog.kinds import Template
from a2ui.protocol.dialects import PLAIN, Notation

if TYPE_CHECKING:
    from a2ui.catalog.component_type import ComponentType

ROOT = "root"


class Reference(NamedTuple):
    """One place where a component is used: which one, by which parent, in which slot, its occurrence within that slot.

    A plain tuple, because a surface has one for each component: it is the key of the place wherever one is needed.
    """

    child: str
    parent: str
    slot: str
    nth: int

    @property
    def template(self) -> Template | None:
        """The template that the place belongs to, if it stands for the items of a list."""
        return None


class TemplateReference(Reference):
    """The place of the items of a list. Which list it is does not make it another place."""

    _template: Template

    @property
    def template(self) -> Template:
        return self._template


class Component:
    """A stored definition, with what was sent and the notation in which it was read. `type` is None for a type that
    nobody knows."""

    __slots__ = (
        "_references", "children", "id", "notation", "number", "props", "raw", "templated", "type", "type_name",
    )  # fmt: skip

    id: str
    number: int
    children: Sequence[str]
    """The ids of all components that it refers to, in page order, each as often as it does."""
    templated: bool
    """Whether it makes children of the items of a list."""

    def __init__(
        self,
        component_id: str,
        type_name: str,
        kind: ComponentType | None,
        raw: dict[str, Any],
        props: dict[str, Any],
        notation: Notation = PLAIN,
    ) -> None:
        self.id = component_id
        self.notation = notation
        self.number = 0
        self.type_name = type_name
        self.type = kind
        self.raw = raw
        self.props = props
        self._references: tuple[Reference, ...] | None = None
        self.templated = False
        self.children = () if kind is None or not kind.slots else self._children(kind)

    def _children(self, kind: ComponentType) -> Sequence[str]:
        if len(kind.slots) == 1:
            value = self.props.get(kind.slots[0])
            if type(value) is str:
                return (value,)
            if type(value) is list and value and type(value[0]) is str:
                return value
        references = self.references
        self.templated = any(type(reference) is TemplateReference for reference in references)
        return [reference[0] for reference in references]

    @property
    def references(self) -> tuple[Reference, ...]:
        """Where it uses others. Made when first asked for: drawing needs only to know whom."""
        found = self._references
        if found is None:
            kind = self.type
            found = () if kind is None or not kind.slots else _references(self.id, kind, self.props)
            self._references = found
        return found

    def rest(self) -> None:
        """Lets go of what it makes anew when it is asked for; an application's code is not asked again."""
        if self.type is None or self.type.ours:
            self._references = None

    def check(self) -> None:
        """Raises TypeError for what the code of an application made of a definition and nobody can use. Afterwards it
        is not asked again where it uses others."""
        if not isinstance(self.props, dict):
            raise TypeError
        ids = [*self.children, *[reference[0] for reference in self.references]]
        if not all(type(one) is str for one in ids):
            raise TypeError


_new = tuple.__new__
"""Makes a named tuple without the detour through its own `__new__`, which costs twice as much."""


def _references(component_id: str, kind: ComponentType, props: dict[str, Any]) -> tuple[Reference, ...]:
    if len(kind.slots) == 1:
        # One child, or a list of different ones, is what nearly all components have.
        slot = kind.slots[0]
        value = props.get(slot)
        if type(value) is str:
            return (_new(Reference, (value, component_id, slot, 0)),)
        if type(value) is list and value and type(value[0]) is str and len(set(value)) == len(value):
            return tuple([_new(Reference, (child, component_id, slot, 0)) for child in value])
    found: list[Reference] = []
    used: dict[tuple[str, str], int] = {}
    for slot, child, template in kind.references(props):
        nth = used.get((slot, child), 0)
        used[slot, child] = nth + 1
        if template is None:
            found.append(Reference(child, component_id, slot, nth))
        else:
            reference = TemplateReference(child, component_id, slot, nth)
            reference._template = template
            found.append(reference)
    return tuple(found)
