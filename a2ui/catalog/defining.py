"""What may stand in a catalog that an application writes: mistakes are told where they are made, not on a page.

Inline catalogs come from documents and have rules of their own (``catalog.inline``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from a2ui.catalog import envelope
from a2ui.catalog.component_type import ComponentType
from a2ui.errors import DefinitionError

_OURS = frozenset({"id", "component"})


def listed(components: Iterable[Any]) -> list[ComponentType]:
    """``components`` as a list. Raises ``DefinitionError`` for two of one name and for what is none."""
    found: dict[str, ComponentType] = {}
    for component in components:
        check_component(component)
        if component.name in found:
            raise DefinitionError(f"Two components of one catalog are called {component.name!r}.")
        found[component.name] = component
    return [*found.values()]


def check_component(component: Any) -> None:
    """Raises ``DefinitionError`` for what no surface could use."""
    if isinstance(component, type):
        raise DefinitionError(
            f"{component.__name__} is a class: a catalog has components, {component.__name__}()."
        )
    kind, name = type(component).__name__, getattr(component, "name", None)
    if not isinstance(name, str) or not envelope.is_identifier(name) or name == envelope.SURFACE:
        raise DefinitionError(f"The component {kind} is called {name!r}, which no message can name.")
    kinds: Mapping[str, Any] = component.kinds
    if reserved := sorted(_OURS & kinds.keys()):
        raise DefinitionError(
            f"{name} has the property {reserved[0]!r}, which every component has of its own."
        )
    if wrong := sorted(key for key, read in kinds.items() if not callable(read)):
        raise DefinitionError(
            f"The property {wrong[0]!r} of {name} is no kind, such as a2ui.catalog.kinds.text."
        )
    for member in ("required", "allowed_parents", "allowed_children"):
        if isinstance(getattr(component, member), str):
            raise DefinitionError(
                f"`{member}` of {name} is one text, not a set of names: a comma is missing."
            )
    if isinstance(component.slots, str):
        raise DefinitionError(f"`slots` of {name} is one text, not a tuple of names: a comma is missing.")
    if unknown := sorted(component.required - kinds.keys()):
        raise DefinitionError(f"{name} needs {unknown[0]!r}, which is no property of it.")
    if unknown := sorted(set(component.slots) - kinds.keys()):
        raise DefinitionError(f"{name} has components in {unknown[0]!r}, which is no property of it.")


def check_shadowing(components: Iterable[ComponentType], base: Mapping[str, ComponentType]) -> None:
    """Raises ``DefinitionError`` where one takes the place of another that it does not derive from: what agents mean
    by that name would be something else."""
    for component in components:
        known = base.get(component.name)
        if known is not None and not isinstance(component, _family(type(known))):
            raise DefinitionError(
                f"{component.name!r} is a component of the catalog that is extended; one that takes its place derives "
                f"from {type(known).__name__}."
            )


def _family(kind: type) -> type:
    """The class that a component was first written as: later versions of the standard derive from it."""
    return next(
        one for one in reversed(kind.__mro__) if getattr(one, "name", None) == getattr(kind, "name", None)
    )
