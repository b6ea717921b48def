"""What forms of our own catalog show where the data has nothing, as data: for readers who do not know the catalog, and
show what stands in the data only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from a2ui.binding.values import Binding
from a2ui.catalog.beach.form import Form
from a2ui.data.pointer import Tokens, to_index
from a2ui.data.values import JSON
from a2ui.state.components import Component
from a2ui.surface.surface import Surface as LiveSurface

Defaults = Mapping[str, tuple[tuple[Tokens, JSON], ...]]
"""By the id of a form, where each of its defaults would stand in the data model."""

_NONE: Final[Defaults] = {}


def defaults_of(surface: LiveSurface, ids: Iterable[str] | None = None, before: Defaults = _NONE) -> Defaults:
    """Those of a surface. Forms in the items of a list have none: where they stand depends on the item.

    :param ids: of the components that are new; with ``before``, the defaults of all others
    """
    stored = surface.store.by_id
    found: dict[str, Any] | None = None
    for name in stored if ids is None else ids:
        made = _of(stored.get(name))
        if made != before.get(name, ()):
            found = dict(before) if found is None else found
            found[name] = made
    return before if found is None else {name: made for name, made in found.items() if made}


def _of(component: Component | None) -> tuple[tuple[Tokens, JSON], ...]:
    if component is None or not isinstance(component.type, Form):
        return ()
    value = component.props.get("value")
    if not isinstance(value, Binding) or not value.absolute:
        return ()
    fields = component.props.get("fields", ())
    return tuple(((*value.tokens, field.id), field.default) for field in fields if field.default is not None)


def with_defaults(model: JSON, defaults: Defaults) -> JSON:
    """The model with each default where it has nothing, or null. What does not change is shared."""
    for made in defaults.values():
        for tokens, value in made:
            model = _with(model, tokens, value)
    return model


def _with(model: JSON, tokens: Tokens, value: JSON) -> JSON:
    if not tokens:
        return value if model is None else model
    if isinstance(model, list):
        index = to_index(tokens[0])
        if index is None or index >= len(model):
            return model
        made = _with(model[index], tokens[1:], value)
        return model if made is model[index] else [*model[:index], made, *model[index + 1 :]]
    if model is not None and not isinstance(model, dict):
        return model
    before: Any = None if model is None else model.get(tokens[0])
    made = _with(before, tokens[1:], value)
    return model if made is before else {**(model or {}), tokens[0]: made}
