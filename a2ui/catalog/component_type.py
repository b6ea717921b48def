"""What the engine asks of a component type; `a2ui.components` has the base classes that answer most of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeGuard, runtime_checkable

from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.kinds import Kind, Template
from a2ui.schema.shapes import Shape


class ComponentType(Protocol):
    """One type of a catalog, see `components.BaseComponent` for what each member means.

    What `build` and `draw` are handed belongs to layers above this one, so it has no type here.
    """

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def told(self) -> Mapping[str, str]: ...
    @property
    def required(self) -> frozenset[str]: ...
    @property
    def shapes(self) -> Mapping[str, Shape]: ...
    @property
    def slots(self) -> tuple[str, ...]: ...
    @property
    def input_kind(self) -> str: ...
    @property
    def interactive(self) -> bool: ...
    @property
    def allowed_parents(self) -> frozenset[str] | None: ...
    @property
    def allowed_children(self) -> frozenset[str] | None: ...
    @property
    def draws(self) -> bool: ...
    @property
    def ours(self) -> bool: ...
    @property
    def kinds(self) -> Mapping[str, Kind]: ...

    def accept(self, raw: dict[str, Any], where: AcceptContext) -> dict[str, Any]:
        """The usable properties of a definition; everything else is reported."""

    def references(self, props: Mapping[str, Any]) -> Iterator[tuple[str, str, Template | None]]:
        """(slot, component id, template) for each place of another component, in page order."""

    def takes_focus(self, props: Mapping[str, Any]) -> bool:
        """Whether a definition by itself, without what is inside of it, makes something that can take focus."""

    def enclosed(self, instance: Any) -> Mapping[str, Any]:
        """What an event carries beside its context; `instance` is an `interaction.locate.Instance`."""

    def piece(self, props: Mapping[str, Any]) -> str:
        """What of the component around it this is, for who has its pieces in place of the whole; "" for none."""

    def build(self, build: Any) -> None:
        """Compiles one place of the component; `build` is a `rendering.build.Build`."""

    def draw(self, drawing: Any, component: Any, placement: Any) -> str:
        """The HTML at once; `drawing` is a `rendering.first_drawing.FirstDrawing`."""


@runtime_checkable
class InputType(ComponentType, Protocol):
    """A component type with a `value` that people change, see `components.BaseInput`."""

    def entered(self, value: Any, instance: Any) -> Any:
        """What to store; `instance` is an `interaction.locate.Instance`."""

    def is_obscured(self, props: Mapping[str, Any]) -> bool:
        """Whether the value must never be shown or stored in the clear."""


_INPUTS: dict[type, bool] = {}


def is_input(kind: ComponentType | None) -> TypeGuard[InputType]:
    """Whether it is an `InputType`. The protocol is asked once for each class: that takes longer than the rest of an
    edit."""
    found = _INPUTS.get(type(kind))
    if found is None:
        found = _INPUTS[type(kind)] = isinstance(kind, InputType)
    return found
