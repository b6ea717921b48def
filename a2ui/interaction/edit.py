"""What a person entered, checked against the input that is really there (rulebook section 12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from a2ui.binding.values import Binding
from a2ui.catalog.component_type import is_input
from a2ui.catalog.failing import COMPONENT_FAILED
from a2ui.data.data_model import write_ops
from a2ui.data.pointer import Tokens
from a2ui.data.values import JSON
from a2ui.errors import DataError, InputError, LimitError
from a2ui.interaction.locate import Instance, failing
from a2ui.safety.raised import hold
from a2ui.state.components import Component


@dataclass(frozen=True, slots=True)
class Edit:
    """A person's change of a data model as RFC 6902 operations.

    `obscured`: the value belongs to an obscured field. Unless `conceal` has put a handle in its place, it must not
    be stored (D24). `target` is the DOM id of the field.
    """

    owner: str
    surface_id: str
    ops: list[dict[str, Any]]
    component_id: str = ""
    obscured: bool = False
    target: str = ""


def edit(instance: Instance | None, value: JSON, conceal: Callable[[JSON], JSON] | None = None) -> Edit:
    """The patch for one entered value. Raises InputError; see `SurfaceSet.edit`."""
    if instance is None:
        raise InputError("This field is not there any more.", code="not_found")
    component = instance.component
    kind = component.type
    if not is_input(kind):
        raise InputError("This is not a field.", code="not_found")
    binding = component.props.get("value")
    if not isinstance(binding, Binding):
        raise InputError("This field is not stored anywhere.", code="not_writable")
    try:
        stored = kind.entered(value, instance)
    except InputError:
        raise
    except Exception as error:
        if kind.ours:
            raise
        failing(instance, error, "a value was entered")
        raise InputError("This field cannot take that just now.", code=COMPONENT_FAILED) from None
    tokens = binding.tokens if binding.absolute else (*instance.scope_path, *binding.tokens)
    obscured = _is_obscured(instance, tokens)
    if obscured and conceal is not None and stored not in ("", None):
        stored = conceal(stored)
    try:
        ops = write_ops(instance.surface.model, tokens, stored)
    except (DataError, LimitError) as error:
        raise InputError(error.message, code=error.code, path=error.path, **error.facts) from error
    owner = instance.surface.owner
    return Edit(owner, instance.surface.id, ops, component.id, obscured, instance.dom_id)


def _is_obscured(instance: Instance, tokens: Tokens) -> bool:
    """Whether the path belongs to an obscured field: this one, or any other on the page (D24)."""
    components = [instance.component]
    components += [
        part.place.component for part in instance.surface.view.index.readers(tokens) if part.place.component
    ]
    return any(_hides(component) for component in components)


def _hides(component: Component) -> bool:
    """Whether it is an obscured field. One that cannot say it may be one."""
    kind = component.type
    try:
        return is_input(kind) and kind.is_obscured(component.props)
    except Exception as error:
        if kind is None or kind.ours:
            raise
        hold(error)
        return True
