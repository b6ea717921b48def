"""What the engine makes of a program, as data: the resolved tree of every surface, for tests and tools.

The shape is that of the reference results: nodes depth first, each with slot path, id, scope, type, state, resolved
properties and, for buttons, the action that a click would send.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from a2ui.binding.secrets import show
from a2ui.binding.values import is_dynamic
from a2ui.catalog.actions import EventAction, action_of
from a2ui.catalog.kinds import Accessibility, Check, Option, SvgPath, Tab, Template
from a2ui.data.data_model import write_ops
from a2ui.data.pointer import ABSENT, Tokens, parse, parse_scoped, read
from a2ui.data.values import pointer_text
from a2ui.errors import VALIDATION_FAILED, A2uiError, must_be
from a2ui.functions.pending import PENDING
from a2ui.functions.results import judged, to_truth
from a2ui.protocol.answers import joined_data_models
from a2ui.state.components import ROOT, Component, Reference
from a2ui.state.composition import may_stand_in
from a2ui.surface.surface import Surface
from a2ui.surfaces import SurfaceSet

_NODES_FACTOR = 10
"""A tree has at most this many times the nodes that would be drawn: shared children can multiply without end."""


def run(surfaces: SurfaceSet, program: Iterable[Any], *, owner: str = "") -> dict[str, Any]:
    """The result of a program: `{errors, evals, surfaces, clientDataModel}`.

    A program is a list of messages. Two pseudo-messages may stand in it: `{"@write": {surfaceId, scope?, path,
    value}}` is a person's edit, `{"@eval": {surfaceId, scope?, value}}` asks for one dynamic value. `errors` are
    the positions of what was refused.
    """
    errors: list[int] = []
    evals: list[Any] = []
    for position, message in enumerate(program):
        if is_pseudo(message):
            if perform(surfaces, message, evals, owner=owner) is not None:
                errors.append(position)
        elif any(problem.refused for problem in surfaces.apply(message, owner=owner)):
            errors.append(position)
    return {
        "errors": errors,
        "evals": evals,
        "surfaces": {surface.id: tree(surface) for surface in surfaces if surface.owner == owner},
        "clientDataModel": joined_data_models(surfaces.data_models(owner)),
    }


def is_pseudo(message: Any) -> bool:
    """Whether this is one of the pseudo-messages of `run`."""
    return isinstance(message, dict) and isinstance(message.get("@eval", message.get("@write")), dict)


def perform(
    surfaces: SurfaceSet, message: Mapping[str, Any], evals: list[Any] | None = None, *, owner: str = ""
) -> A2uiError | None:
    """Does what a pseudo-message asks; answers go to `evals`. What could not be done is returned."""
    try:
        if "@eval" in message:
            answer = _evaluate(surfaces, message["@eval"], owner)
            if evals is not None:
                evals.append(answer)
        else:
            _write(surfaces, message["@write"], owner)
    except A2uiError as error:
        return error
    return None


def tree(surface: Surface) -> dict[str, Any]:
    """`{theme, sendDataModel, dataModel, components, nodes}` of one surface."""
    most = _NODES_FACTOR * surface.view.options.limits.instances
    nodes = list(islice(_Walk(surface).nodes(), most)) if ROOT in surface.store.by_id else []
    return {
        "theme": surface.theme,
        "sendDataModel": surface.send_data_model,
        "dataModel": surface.data_model,
        "components": len(surface.store.by_id),
        "nodes": nodes,
    }


@dataclass(slots=True)
class _Item:
    """The item of a template that a node is in, see `binding.reading.Counter`."""

    at: int
    watched: bool = True


class _Walk:
    """Depth first through the definitions, without places: the tree as the rulebook means it, uncut."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._model = surface.data_model
        self._depth = surface.view.options.limits.depth
        self._item: _Item | None = None
        """What the node that is looked at is in."""

    def nodes(self) -> Iterator[dict[str, Any]]:
        stack: list[tuple[str, str, Tokens, tuple[tuple[str, Tokens], ...], Component | None]]
        stack = [(ROOT, ROOT, (), (), None)]
        while stack:
            at, component_id, scope, chain, around = stack.pop()
            component = self._surface.store.by_id.get(component_id)
            node = self._node(at, component_id, scope, component)
            left_out = ""
            if (component_id, scope) in chain or len(chain) >= self._depth:
                left_out = "cycle"
            elif not self._may_stand(component, around):
                left_out = "unallowed"
            if left_out:
                node = {key: node[key] for key in ("at", "id", "scope", "type") if key in node}
                node["state"] = left_out
                component = None
            yield node
            if component is not None:
                below = (*chain, (component_id, scope))
                stack += [
                    (*child, below, component)
                    for child in reversed(list(self._children(at, scope, component)))
                ]

    def _may_stand(self, component: Component | None, around: Component | None) -> bool:
        """Whether it may stand in what is around it, None for the surface; what is unknown is not judged."""
        if not self._surface.store.restricts or component is None or component.type is None:
            return True
        if around is None:
            return may_stand_in(component.type, None)
        return around.type is None or may_stand_in(component.type, around.type)

    def _children(self, at: str, scope: Tokens, component: Component) -> Iterator[tuple[str, str, Tokens]]:
        position: dict[str, int] = {}
        for reference in component.references:
            slot = reference.slot
            if reference.template is not None:
                yield from self._items(at, scope, reference, reference.template)
                continue
            index = position.get(slot, 0)
            position[slot] = index + 1
            listed = slot == "children"
            where = f"{slot}/{index}/child" if slot == "tabs" else f"{slot}/{index}" if listed else slot
            yield f"{at}/{where}", reference.child, scope

    def _items(
        self, at: str, scope: Tokens, reference: Reference, template: Template
    ) -> Iterator[tuple[str, str, Tokens]]:
        path = template.tokens if template.absolute else (*scope, *template.tokens)
        items = read(self._model, path)
        for index in range(len(items)) if isinstance(items, list) else ():
            yield f"{at}/{reference.slot}/{index}", reference.child, (*path, str(index))

    def _node(self, at: str, component_id: str, scope: Tokens, component: Component | None) -> dict[str, Any]:
        node: dict[str, Any] = {"at": at, "id": component_id, "scope": pointer_text(scope) or "/"}
        if component is None:
            return node | {"state": "missing"}
        node["type"] = component.type_name
        if component.type is None:
            return node | {"state": "unknown-type"}
        value = read(self._model, scope)
        self._item = _Item(int(scope[-1])) if scope else None
        node |= {"state": "ok", "props": self._props(component, value)}
        if "action" in component.props:
            node["action"] = self._action(component, value)
        return node

    def _props(self, component: Component, scope: Any) -> dict[str, Any]:
        props: dict[str, Any] = {}
        known = component.type.kinds if component.type is not None else {}
        for name, value in component.props.items():
            if name == "checks":
                props |= self._checks(component, value, scope)
            elif name in known and name not in ("action", "children"):
                props[name] = self._resolved(component, value, scope)
        return props

    def _resolved(self, component: Component, value: Any, scope: Any) -> Any:
        if is_dynamic(value):
            return self._value(component, value, scope)
        if isinstance(value, SvgPath):
            return {"svgPath": self._value(component, value.d, scope)}
        if isinstance(value, Accessibility):
            found = {
                name: self._value(component, v, scope)
                for name, v in (("label", value.label), ("description", value.description))
            }
            if value.live is not None:
                found["live"] = value.live
            if value.hidden is not None:
                found["hidden"] = to_truth(self._value(component, value.hidden, scope))
            return found
        if isinstance(value, tuple):
            return [self._entry(component, entry, scope) for entry in value]
        return value

    def _entry(self, component: Component, entry: Any, scope: Any) -> dict[str, Any]:
        if isinstance(entry, Tab):
            return {"title": self._value(component, entry.title, scope), "child": entry.child}
        if isinstance(entry, Option):
            return {"label": self._value(component, entry.label, scope), "value": entry.value}
        # Of an own component: what is dynamic in one of its entries may belong to items that are no nodes.
        return {
            name: None
            if is_dynamic(value)
            else [self._entry(component, one, scope) for one in value]
            if isinstance(value, tuple)
            else value
            for name, value in entry._asdict().items()
        }

    def _checks(self, component: Component, checks: tuple[Check, ...], scope: Any) -> dict[str, Any]:
        results = [
            judged(self._value(component, c.condition, scope), c.message, results=c.results) for c in checks
        ]
        failing = [result for result in results if not result.valid]
        found: dict[str, Any] = {
            "isValid": not failing,
            "validationErrors": [result.message for result in failing],
        }
        if any(check.results for check in checks):
            found["severities"] = [result.severity for result in failing]
        return found

    def _action(self, component: Component, scope: Any) -> dict[str, Any] | None:
        action = action_of(component.props)
        if not isinstance(action, EventAction):
            return None
        sent = {
            "name": action.name,
            "surfaceId": self._surface.id,
            "sourceComponentId": component.id,
            "context": {key: self._value(component, value, scope) for key, value in action.context.items()},
        }
        if action.user_message is not None:
            sent["userMessage"] = show(self._value(component, action.user_message, scope))
        return sent

    def _value(self, component: Component, value: Any, scope: Any) -> Any:
        found = self._surface.view.evaluate(value, scope, component.id, self._item)
        return None if found is PENDING else found


def _evaluate(surfaces: SurfaceSet, request: Mapping[str, Any], owner: str) -> Any:
    surface = surfaces.get(owner, _text(request, "surfaceId"))
    if surface is None:
        return None
    scope = read(surface.data_model, parse(_text(request, "scope")))
    return surface.evaluate(request.get("value"), None if scope is ABSENT else scope)


def _write(surfaces: SurfaceSet, request: Mapping[str, Any], owner: str) -> None:
    surface = surfaces.get(owner, _text(request, "surfaceId"))
    if surface is not None:
        tokens, absolute = parse_scoped(_text(request, "path"))
        scope = parse(_text(request, "scope"))
        place = tokens if absolute else (*scope, *tokens)
        surface.patch(write_ops(surface.model, place, request.get("value")), budgeted=False)


def _text(request: Mapping[str, Any], key: str) -> str:
    value = request.get(key, "")
    if not isinstance(value, str):
        raise A2uiError(must_be(key, "text", value), code=VALIDATION_FAILED, fault="agent")
    return value
