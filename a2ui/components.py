"""Base classes of component types: what one is, how its definitions are accepted, how it becomes HTML.

A catalog of one's own derives from these (`tests/a2ui/test_own_catalog.py`); the engine itself only knows the protocols
in `a2ui.catalog.component_type`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from a2ui.binding.direct import NeedsCompilation
from a2ui.catalog import envelope
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.kinds import (
    ANY_TEXT,
    USUAL,
    Kind,
    Tab,
    Template,
    accessibility,
    literal_number,
)
from a2ui.data.pointer import ABSENT
from a2ui.safety.raised import is_ours
from a2ui.schema.shapes import Shape

if TYPE_CHECKING:
    from a2ui.interaction.locate import Instance
    from a2ui.rendering.build import Build
    from a2ui.rendering.first_drawing import FirstDrawing
    from a2ui.rendering.place import Placement
    from a2ui.state.components import Component

_IDENTITY = frozenset({"id", "component"})

Plans: TypeAlias = "dict[tuple[str, ...], tuple[tuple[str, str, Kind, Collection[str]], ...]]"
"""Members of a definition -> (member, property, how it is read, texts that are taken as they are) of each."""

_PYTHON = frozenset({"builtins", "abc"})

_PLANS = 256
"""Orders of members that are remembered for each type; agents decide how many there are."""

COMMON: Mapping[str, Kind] = {"accessibility": accessibility, "weight": literal_number}


class BaseComponent(ABC):
    """What one component is: its properties and how an instance of it becomes HTML.

    Subclasses set `name`, `properties` (name to kind), `required` and, where they hold others, `slots`: the
    properties with ids of components, in page order. `input_kind` is the `data-in` of an input, else "".
    """

    name: ClassVar[str]
    properties: ClassVar[Mapping[str, Kind]]
    required: ClassVar[frozenset[str]] = frozenset()
    description: ClassVar[str] = ""
    """What models read of it, in a few words that end with a full stop; optional."""
    told: ClassVar[Mapping[str, str]] = {}
    """What they read of a property whose kind does not say it: what goes into it."""
    shapes: ClassVar[Mapping[str, Shape]] = {}
    """What strict mode asks of properties whose kind does not say it all; see `a2ui.schema`."""
    slots: ClassVar[tuple[str, ...]] = ()
    input_kind: ClassVar[str] = ""
    interactive: ClassVar[bool] = False
    """Whether it takes clicks or keys of its own, so that it cannot stand inside a button."""

    allowed_parents: ClassVar[frozenset[str] | None] = None
    """Names of the types that it may stand in, "Surface" for the surface itself; None for any."""
    allowed_children: ClassVar[frozenset[str] | None] = None
    """Names of the types that it may hold; None for any."""

    draws: ClassVar[bool] = False
    """Whether `draw` gives the same as `build`. Said by the class that has both: one that builds in its own way and
    does not say so is compiled, whatever it inherits."""

    ours: ClassVar[bool] = True
    """Whether all of its code is part of this package. What any other raises is held up, see `rendering.guarding`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.ours = all(is_ours(one.__module__) or one.__module__ in _PYTHON for one in cls.__mro__)
        if "build" in vars(cls) and "draws" not in vars(cls):
            cls.draws = False

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {**COMMON, **self.properties}
        self._plans: tuple[Plans, Plans] = ({}, {})
        """For definitions of 0.9 and of 1.0: what to accept, by their members, where all of them are known and none is
        missing."""

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """All properties, those that every component has included."""
        return self._kinds

    def accept(self, raw: dict[str, Any], where: AcceptContext) -> dict[str, Any]:
        """The usable properties of a definition; everything else is reported (rulebook 5.1).

        `id` and `component` may be among them: a definition that is usable as it is is not copied.
        """
        plan = self._plans[where.notation.marked].get(tuple(raw))
        if plan is None:
            return self.accept_full(raw, where)
        # The quick way, for a definition whose members are known and complete: the plan says how to read them. A large
        # message takes a fifth longer without; `accept_full` gives the same.
        props = raw
        for key, name, kind, usual in plan:
            value = raw[key]
            if type(value) is str and (usual is ANY_TEXT or value in usual):
                continue
            where.key = key
            accepted = kind(value, where) if value is not None else ABSENT
            if accepted is value:
                continue
            if props is raw:
                props = raw.copy()
            if accepted is ABSENT or name != key:
                del props[key]
            if accepted is not ABSENT:
                props[name] = accepted
        return props

    def accept_full(self, raw: Mapping[str, Any], where: AcceptContext) -> dict[str, Any]:
        """Also says what is not known and what is missing; caches the plan when neither occurs."""
        marked = where.notation.marked
        props: dict[str, Any] = {}
        plan: list[tuple[str, str, Kind, Collection[str]]] = []
        for key, value in raw.items():
            if key in _IDENTITY:
                continue
            where.key = key
            name = envelope.property_of(key, raw, self) if marked else key
            kind = self._kind(name)
            if name is None or kind is None:
                self._unknown(key, raw, where)
                continue
            name = name.removeprefix("@")
            plan.append((key, name, kind, USUAL.get(kind, ())))
            if value is not None:
                accepted = kind(value, where)
                if accepted is not ABSENT and name in self._kinds:
                    props[name] = accepted
        missing = self.required - raw.keys()
        for key in sorted(missing):
            where.key = key
            where.add(f"{self.name} needs {key}.", unusable=True)
        known = len(plan) + len(raw.keys() & _IDENTITY) == len(raw)
        plans = self._plans[marked]
        if known and not missing and len(plans) < _PLANS:
            plans[tuple(raw)] = tuple(plan)
        return props

    def _kind(self, name: str | None) -> Kind | None:
        """How a property or an envelope key is read."""
        if name is None:
            return None
        if name[:1] == "@":
            return envelope.KINDS.get(name) or self._kinds.get(name[1:])
        return self._kinds.get(name)

    def _unknown(self, key: str, raw: Mapping[str, Any], where: AcceptContext) -> None:
        """Reports a member that is neither a property nor part of the envelope."""
        if where.notation.marked and key[:1] == "@" and key[1:2] != "@" and key[1:] not in envelope.NAMES:
            where.refuse(f"No component has {key[:40]!r}: keys that start with @ are reserved.")
        elif where.notation.marked and f"@{key}" in raw and key in envelope.NAMES:
            where.add(f"@{key} stands beside it, so {key} is ignored.")
        else:
            where.add(f"{self.name} has no property {key[:40]!r}.")

    def references(self, props: Mapping[str, Any]) -> Iterator[tuple[str, str, Template | None]]:
        """(slot, component id, template) for each place of another component, in page order."""
        for slot in self.slots:
            value = props.get(slot)
            if isinstance(value, str):
                yield slot, value, None
            elif isinstance(value, Template):
                yield slot, value.component_id, value
            elif value is not None:
                for item in value:
                    yield slot, (item.child if isinstance(item, Tab) else item), None

    def takes_focus(self, props: Mapping[str, Any]) -> bool:
        """Whether it makes something that can take focus, beside what is inside of it: that cannot be hidden from
        screen readers."""
        return self.interactive

    def piece(self, props: Mapping[str, Any]) -> str:
        """What of the component around it this is (`protocol.pieces`), "" for what is no piece."""
        return ""

    def enclosed(self, instance: Instance) -> Mapping[str, Any]:
        """What an event carries beside the context that its action names. Raises ActionError where it may not be
        sent."""
        return {}

    @abstractmethod
    def build(self, build: Build) -> None:
        """Compiles one place of the component: sets how it renders, registers what it reads."""

    def draw(self, drawing: FirstDrawing, component: Component, placement: Placement) -> str:
        """The same HTML as the compiled place, made at once; raises NeedsCompilation where only a place can show it, an
        interactive type also wherever `placement.inline`: inside of a button it is not shown. Optional: worth it for
        what is shown often and seldom changes."""
        raise NeedsCompilation


class BaseInput(BaseComponent):
    """A component with a `value` that a person changes (rulebook section 12).

    `input_kind` is its `data-in`: how the page reads the value.
    """

    interactive = True

    @abstractmethod
    def entered(self, value: Any, instance: Instance) -> Any:
        """What to store for what the browser sent. Raises InputError for what is no value of this input."""

    def is_obscured(self, props: Mapping[str, Any]) -> bool:
        """Whether the value must never be shown or stored in the clear (R9)."""
        return False
