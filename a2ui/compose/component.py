"""What a component is while a surface is put together: its type, its properties, and the components inside of it.

Everything that the catalog says of its type is looked at when it is made, so an error is raised by the line that is
wrong. Ids are found when it becomes part of a surface (``compose.flattening``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self, TypedDict

from a2ui.catalog import actions, kinds, strict
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.component_type import ComponentType
from a2ui.catalog.envelope import NAMES, is_identifier
from a2ui.catalog.kinds import Kind
from a2ui.catalog.registry import Catalog
from a2ui.compose.errors import ComposeError
from a2ui.compose.parts import Accessibility, CheckRule, Each, Event, Option, SvgPath, Tab, members
from a2ui.compose.values import Call, JsonObject, Path, calls_of, lookup, owner_of, written
from a2ui.errors import Diagnostic
from a2ui.protocol.dialects import MARKED
from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.schema.shapes import Check
from a2ui.state.composition import may_stand_in

IdOf = Callable[["Component"], str]
_PARTS = (Accessibility, CheckRule, Each, Event, Option, SvgPath, Tab)


class Common(TypedDict, total=False):
    """What every component takes. ``id``: what messages and clicks call it; without one, one is made from its place.
    ``extensions`` are those of its metadata."""

    id: str
    weight: float
    accessibility: Accessibility
    extensions: Mapping[str, Any]


class Component:
    """One component of a surface; never changed once it is made. Subclasses are the types of the Basic Catalog, each
    with the properties of its type as arguments of ``__init__``, which is nothing but that: a signature."""

    signature: ClassVar[inspect.Signature]
    """What ``__init__`` of a type takes."""

    kind: ComponentType
    id: str
    catalog: Catalog | None
    properties: Mapping[str, Any]
    extensions: Mapping[str, Any] | None
    is_used: bool
    """Whether it, or anything inside of it, takes clicks or keys of its own."""
    takes_focus: bool
    """Whether it, or anything inside of it, takes focus: what can be used, links, what scrolls sideways."""

    def __init_subclass__(cls) -> None:
        cls.signature = inspect.signature(cls.__init__)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Raises ComposeError for whatever the type does not take."""
        name = cls.__name__
        return cls._made(BASIC_CATALOG_1_0.components[name], None, bound_arguments(cls, args, kwargs))

    @classmethod
    def _made(cls, kind: ComponentType, catalog: Catalog | None, given: Mapping[str, Any]) -> Self:
        self = object.__new__(cls)
        self.kind, self.catalog = kind, catalog
        properties = {key: _unpacked(kind, key, value) for key, value in given.items() if value is not None}
        self.id = properties.pop("id", "")
        self.extensions = properties.pop("extensions", None)
        self.properties = properties
        self._check()
        inside = [child for _, child in self.inside()]
        self.is_used = kind.interactive or any(child.is_used for child in inside)
        self.takes_focus = kind.takes_focus(properties) or any(child.takes_focus for child in inside)
        self._check_use(inside)
        return self

    def inside(self) -> Iterator[tuple[str, Component]]:
        """(the end of an id, component) for each that is named by this one, in order."""
        for slot in self.kind.slots:
            yield from self._below(slot, self.properties.get(slot))

    def row(self, own_id: str, ids: IdOf, default: Catalog | None) -> JsonObject:
        """The definition as 1.0 has it, on a surface whose catalog is ``default``."""
        name = self.kind.name
        row: JsonObject = {"id": own_id, "component": name}
        owner = owner_of(self.catalog, default, lambda catalog: catalog.components.get(name))
        if owner:
            row["@catalogId"] = owner
        for key, value in self.properties.items():
            wire = f"@{key}" if key in NAMES else key
            try:
                row[wire] = _written(value, ids, default)
            except ComposeError as error:
                raise (error if error.component else self._wrong(key, error.message)) from error
            if isinstance(value, Call) and self.kind.kinds.get(key) is actions.action:
                row[wire] = {"functionCall": row[wire]}
        if self.extensions is not None:
            row["@metadata"] = {"extensions": dict(self.extensions)}
        return row

    def calls(self) -> Iterator[Call]:
        """Every call in its properties."""
        return calls_of([_spread(value) for value in self.properties.values()])

    def _check(self) -> None:
        kind = self.kind
        if not isinstance(self.id, str):
            raise self._wrong("id", "The id of a component is text.")
        for key in sorted(kind.required - self.properties.keys()):
            raise self._wrong(key, f"It needs {key}.")
        for key, value in self.properties.items():
            self._check_objects(key, value)
        for key in self.extensions or ():
            if not is_identifier(key):
                raise self._wrong("extensions", f"{key!r} is not an identifier.")
        row = self.row(self.id or "it", lambda child: child.id or "child", None)
        check = Check(lookup([_spread(value) for value in self.properties.values()]), MARKED)
        known = strict.shapes_of(kind)
        problems: list[Diagnostic] = []
        where = AcceptContext(
            DEFAULT_LIMITS,
            "",
            problems,
            MARKED,
            lambda *call: getattr(check.function(*call), "signature", None),
        )
        for key in self.properties:
            wire = f"@{key}" if key in NAMES else key
            if key not in known:
                raise self._wrong(key, f"It has no property {key!r}.")
            known[key](row[wire], f"/{key}", check)
            for _, message in check.problems[:1]:
                raise self._wrong(key, message)
            where.key = key
            kind.kinds[key](row[wire], where)
            for problem in problems[:1]:
                raise self._wrong(key, problem.message)

    def _check_use(self, inside: list[Component]) -> None:
        if self.kind.kinds.get("action") is actions.action and any(child.is_used for child in inside):
            raise self._wrong("child", "A button cannot hold another control.")
        told = self.properties.get("accessibility")
        if self.takes_focus and isinstance(told, Accessibility) and told.hidden not in (None, False):
            raise self._wrong("accessibility", "What can take focus cannot be hidden from screen readers.")

    def _check_objects(self, key: str, value: Any) -> None:
        """Whether a property has the objects that its kind is made of: all other kinds take values only."""
        kind = self.kind.kinds.get(key)
        allowed, words = _OBJECTS.get(kind, _CHILDREN if key in self.kind.slots else _VALUES)  # type: ignore[arg-type]
        for item in value if isinstance(value, list) and kind not in _SINGLE else [value]:
            if isinstance(item, allowed) if allowed else not isinstance(item, (Component, *_PARTS)):
                continue
            raise self._wrong(key, f"{key} takes {words}; got {type(item).__name__}.")
        for child in (child for _, child in self._below(key, value)) if key in self.kind.slots else ():
            if not isinstance(child, Component):
                raise self._wrong(key, f"{key} takes {words}; got {type(child).__name__} in it.")
            if not isinstance(child, Reference) and not may_stand_in(child.kind, self.kind):
                raise self._wrong(key, f"{child.kind.name} may not stand in it.")

    @staticmethod
    def _below(slot: str, value: Any) -> Iterator[tuple[str, Component]]:
        if isinstance(value, Each):
            yield "item", value.item
        elif isinstance(value, list):
            yield from (
                (str(at), item.child if isinstance(item, Tab) else item) for at, item in enumerate(value)
            )
        elif value is not None:
            yield slot, value

    def _wrong(self, key: str, message: str) -> ComposeError:
        return ComposeError(message, component=self.kind.name, property=key)


_CHILDREN: tuple[tuple[type, ...], str] = (Component, Each, Tab), "components"
_VALUES: tuple[tuple[type, ...], str] = (), "values"
_OBJECTS: Mapping[Kind, tuple[tuple[type, ...], str]] = {
    kinds.child: ((Component,), "a component"),
    kinds.children: ((Component, Each), "components"),
    kinds.tabs: ((Tab,), "tabs"),
    kinds.options: ((Option,), "options"),
    kinds.checks: ((CheckRule,), "checks"),
    kinds.accessibility: ((Accessibility,), "Accessibility"),
    kinds.icon_name: ((str, Path, Call, SvgPath), "a name, a binding or a drawing"),
    actions.action: ((Event, Call), "an event or a call"),
}
"""What the properties of a kind are made of, where that is no value; and in words."""
_SINGLE = (kinds.child, kinds.accessibility, kinds.icon_name, actions.action)


class Reference(Component):
    """A component that is there already, or comes with another message, by its id."""

    def __new__(cls, component_id: str) -> Self:
        self = object.__new__(cls)
        self.id, self.is_used, self.takes_focus = component_id, False, False
        if not component_id:
            raise ComposeError("A reference is the id of a component.", component="ref", property="id")
        return self


def ref(component_id: str) -> Component:
    """The component of that id, which this message does not define."""
    return Reference(component_id)


def own(catalog: Catalog, name: str, /, **properties: Any) -> Component:
    """A component of an application's catalog. Raises ComposeError for a type that it does not have, and for what the
    type does not take. ``checks``, ``accessibility``, ``id`` and ``extensions`` as for any other."""
    kind = catalog.components.get(name)
    if kind is None:
        known = ", ".join(sorted(catalog.components))
        raise ComposeError(f"There is no such component in {catalog.id}; it has {known}.", component=name)
    return Component._made(kind, catalog, properties)


def bound_arguments(kind: type[Component], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> JsonObject:
    """The properties that a call of a type gives, by name."""
    name, signature = kind.__name__, kind.signature
    taken = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    allowed = {
        one.name for one in taken if one.kind is not one.VAR_POSITIONAL
    } | Common.__annotations__.keys()
    for key in kwargs:
        if key not in allowed:
            raise ComposeError(f"It has no property {key!r}.", component=name, property=key)
    try:
        found = signature.bind_partial(None, *args, **kwargs).arguments
    except TypeError as error:
        raise ComposeError(f"It takes fewer arguments: {error}.", component=name) from error
    for one in taken:
        if one.kind is one.VAR_POSITIONAL:
            found.setdefault(one.name, ())
    del found["self"]
    common = found.pop("common", {})
    return {**found, **common}


def _unpacked(kind: ComponentType, key: str, value: Any) -> Any:
    """Lists as lists; a template that is the only child stands for itself."""
    if isinstance(value, tuple):
        value = list(value)
    if key in kind.slots and isinstance(value, list) and any(isinstance(item, Each) for item in value):
        if len(value) > 1:
            raise ComposeError("A template is the only child.", component=kind.name, property=key)
        return value[0]
    return value


def _written(value: Any, ids: IdOf, default: Catalog | None) -> Any:
    if isinstance(value, Component):
        return ids(value)
    if isinstance(value, Each):
        return {"componentId": ids(value.item), "path": value.pointer}
    if isinstance(value, Event):
        return {"event": {key: written(item, default) for key, item in members(value).items()}}
    if isinstance(value, _PARTS):
        return {key: _written(item, ids, default) for key, item in members(value).items()}
    if isinstance(value, list):
        return [_written(item, ids, default) for item in value]
    return written(value, default)


def _spread(value: Any) -> Any:
    """A property as plain values, without the components in it."""
    if isinstance(value, Component | Each):
        return None
    if isinstance(value, _PARTS):
        return {key: _spread(item) for key, item in members(value).items()}
    return [_spread(item) for item in value] if isinstance(value, list | tuple) else value
