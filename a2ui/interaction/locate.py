"""From what somebody names, a DOM id or a component of an agent, to the instance that is really there (R2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, TypeAlias

from a2ui.catalog.failing import noted
from a2ui.data.pointer import Tokens, parse, to_index
from a2ui.errors import PointerError
from a2ui.protocol.pieces import taken_apart
from a2ui.rendering.patterns import context_of
from a2ui.rendering.place import Place
from a2ui.safety.ids import base36
from a2ui.safety.limits import Limits
from a2ui.safety.raised import hold
from a2ui.state.components import Component
from a2ui.surface.surface import Surface

_MAX_CHARS = 2_000
_DIGEST_CHARS = 12
_NUMBER_CHARS = 8


class ComponentTarget(NamedTuple):
    """A component by the ids that its agent gave, for whoever has no page: programs, peers, replies by mail.

    `item_path` is where the data of its template item is now, a JSON Pointer (`/flights/2`, `/days/0/flights/1`); ""
    outside of templates. Where its parents use a component more than once, the first of these places is meant. Pieces
    of a component are named by `protocol.pieces`.
    """

    owner: str
    surface_id: str
    component_id: str
    item_path: str = ""


Target: TypeAlias = str | ComponentTarget
"""A DOM id, as pages name what is on them, or a component by name."""


class Instance(NamedTuple):
    """A component on the page: `scope` is the value its relative paths start at, `scope_path` where that is."""

    surface: Surface
    place: Place
    component: Component
    scope: Any
    scope_path: Tokens
    context: str

    @property
    def dom_id(self) -> str:
        return self.place.prefix + self.context

    @property
    def limits(self) -> Limits:
        return self.surface.view.options.limits

    def evaluate(self, value: Any) -> Any:
        """A dynamic value of the component now."""
        levels = self.place.levels
        return self.surface.view.evaluate(
            value, self.scope, self.component.id, levels[-1] if levels else None
        )


def failing(instance: Instance, error: Exception, doing: str) -> None:
    """Takes note that code of an application failed when somebody used its component; see `catalog.failing`."""
    component = instance.component
    if component.type is not None:
        noted(component.type, instance.surface.store.catalog_id(component), component.id, error, doing)


def locate(
    by_dom_id: Mapping[str, Surface], by_name: Mapping[tuple[str, str], Surface], target: object
) -> Instance | None:
    """The instance that `target` names, a `Target`; None if none is shown. `by_name`: by owner and id."""
    if isinstance(target, ComponentTarget):
        return _by_name(by_name, target)
    return _by_dom_id(by_dom_id, target) if isinstance(target, str) and len(target) <= _MAX_CHARS else None


def _places(surface: Surface, component_id: str) -> Collection[Place]:
    """The places of a component, as pages have it."""
    surface.note()
    if not surface.view.live:
        surface.html()
    surface.compile()
    surface.settle()
    return surface.view.places(component_id)


def _by_name(surfaces: Mapping[tuple[str, str], Surface], target: ComponentTarget) -> Instance | None:
    surface = surfaces.get((target.owner, target.surface_id))
    try:
        wanted = parse(target.item_path)
    except PointerError:
        return None
    if surface is None:
        return None
    name, piece = target.component_id, ""
    if name not in surface.store.by_id:
        name, piece = taken_apart(name) or (name, "")
    for place in _places(surface, name):
        if piece and not _is_piece(place, piece):
            continue
        context = _context_at(place, wanted)
        found = _match(surface, place, context) if context is not None else None
        if found is not None and found.scope_path == wanted:
            return found
    return None


def _is_piece(place: Place, name: str) -> bool:
    component = place.component
    kind = component.type if component is not None else None
    if component is None or kind is None:
        return False
    try:
        return kind.piece(component.props) == name
    except Exception as error:
        if kind.ours:
            raise
        hold(error)
        return False


def _context_at(place: Place, wanted: Tokens) -> str | None:
    """The context of the place's instance whose item is at this path; None where its lists have no such item."""
    context = ""
    path: Tokens = ()
    for at, slot in enumerate(place.levels):
        context += slot.place.tail
        path = (*(() if slot.template.absolute else path), *slot.template.tokens)
        # A list with an absolute path is the same in every item around it, and so is what is in it.
        free = any(inner.template.absolute for inner in place.levels[at + 1 :])
        index = 0 if free else to_index(wanted[len(path)]) if len(path) < len(wanted) else None
        state = slot.states.get(context)
        if state is None or index is None or index >= len(state.keys):
            return None
        context += f"-{state.keys[index]}"
        path = (*path, str(index))
    return context + place.tail


def _by_dom_id(surfaces: Mapping[str, Surface], target: str) -> Instance | None:
    dom_id, _, rest = target.partition("-")
    base, dash, context = rest.partition("-")
    surface = surfaces.get(dom_id)
    if surface is None:
        return None
    for place in _places(surface, _component_id(surface, base)):
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
    return names[at] if at < len(names) and base36(at) == base else ""


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
        if slot.watched:
            slot.at = index
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
