"""From the DOM id that a browser names to the instance that is really there (R2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from a2ui.rendering.place import Place
from a2ui.rendering.repaint import context_of
from a2ui.safety.ids import number
from a2ui.state.components import Component
from a2ui.state.pointer import Tokens
from a2ui.state.surface import Surface

_MAX_CHARS = 2_000
_DIGEST_CHARS = 12
_NUMBER_CHARS = 8


class Instance(NamedTuple):
    """A component on the page: `scope` is the value its relative paths start at, `scope_path` where that is."""

    surface: Surface
    place: Place
    component: Component
    scope: Any
    scope_path: Tokens
    context: str

    def evaluate(self, value: Any) -> Any:
        """A dynamic value of the component now."""
        return self.surface.view.evaluate(value, self.scope, self.component.id)


def locate(surfaces: Mapping[str, Surface], target: object) -> Instance | None:
    """The instance with this DOM id; None if none is shown."""
    if not isinstance(target, str) or len(target) > _MAX_CHARS:
        return None
    dom_id, _, rest = target.partition("-")
    base, dash, context = rest.partition("-")
    surface = surfaces.get(dom_id)
    if surface is None:
        return None
    if not surface.view.live:
        surface.html()
    surface.view.compiled()
    surface.settle()
    for place in surface.view.places(_component_id(surface, base)):
        found = _match(surface, place, dash + context)
        if found is not None:
            return found
    return None


def _component_id(surface: Surface, base: str) -> str:
    """The component with this number, "" if there is none: no component has that id."""
    names = surface.store.names
    if not base.isascii() or not base.isalnum() or len(base) > _NUMBER_CHARS:
        return ""
    at = int(base, 36)
    return names[at] if at < len(names) and number(at) == base else ""


def _match(surface: Surface, place: Place, context: str) -> Instance | None:
    """The instance of the place that has this context."""
    component = place.component
    if component is None:
        return None
    scope: Any = surface.model.value
    path: Tokens = ()
    keys: tuple[str, ...] = ()
    at = 0
    for slot in place.levels:
        if not context.startswith(slot.place.tail, at):
            return None
        at += len(slot.place.tail)
        state = slot.states.get(context[:at])
        key = _token(context, at)
        if state is None or not key or key not in state.keys:
            return None
        index = state.keys.index(key)
        items = slot.items(scope)
        if index >= state.visible or index >= len(items):
            return None
        template = slot.template
        path = (*(() if template.absolute else path), *template.tokens, str(index))
        scope = items[index]
        keys = (*keys, key)
        at += 1 + len(key)
    if context[at:] != place.tail or _left_out(surface, place, keys):
        return None
    return Instance(surface, place, component, scope, path, context)


def _left_out(surface: Surface, place: Place, keys: tuple[str, ...]) -> bool:
    """Whether there was no room for it."""
    hidden, inside = surface.view.left_out, place
    while hidden and (inside, context_of(inside, keys)) not in hidden:
        if inside.parent is None:
            return False
        inside = inside.parent
    return bool(hidden)


def _token(context: str, at: int) -> str:
    """The key token after the dash at `at`. Only digests, which have a fixed length, may contain a dash."""
    if context[at : at + 1] != "-":
        return ""
    start = at + 1
    if context[start : start + 1] == "h":
        return context[start : start + _DIGEST_CHARS]
    end = context.find("-", start)
    return context[start:] if end < 0 else context[start:end]
