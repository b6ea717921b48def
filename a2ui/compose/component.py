"""What a component is while a surface is put together: its type, its properties, and the components inside of it.

Everything that the catalog says of its type is looked at when it is made, so an error is raised by the line that is
wrong. Ids are found when it becomes part of a surface (``compose.flattening``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self, TypedDict

from a2ui.catalog import actions, strict
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.component_type import ComponentType
from a2ui.catalog.envelope import NAMES, is_identifier
from a2ui.catalog.registry import Catalog
from a2ui.compose.errors import ComposeError
from a2ui.compose.parts import Accessibility, CheckRule, Each, Event, Option, SvgPath, Tab, members
from a2ui.compose.values import Call, JsonObject, calls_in, calls_of, lookup, owner_of, written
from a2ui.errors import Diagnostic
from a2ui.protocol.dialects import MARKED
from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.schema.shapes import Check
from a2ui.state.composition import may_stand_in

IdOf = Callable[["Component"], str]
_PARTS = (Accessibility, CheckRule, Event, Option, SvgPath, Tab)


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

    def __init_subclass__(cls) -> None:
        cls.signature = inspect.signature(cls.__init__)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Raises ComposeError for whatever the type does not take."""
        name = cls.__name__
        return cls._made(BASIC_CATALOG_1_0.components[name], None, _bound(cls, args, kwargs))

    @classmethod
    def _made(cls, kind: ComponentType, catalog: Catalog | None, given: Mapping[str, Any]) -> Self:
        self = object.__new__(cls)
        self.kind, self.catalog = kind, catalog
        properties = {key: _unpacked(kind, key, value) for key, value in given.items() if value is not None}
        self.id = properties.pop("id", "")
        self.extensions = properties.pop("extensions", None)
        self.properties = properties
        self._check()
        return self

    def inside(self) -> Iterator[tuple[str, Component]]:
        """(the end of an id, component) for each that is named by this one, in order."""
        for slot in self.kind.slots:
            value = self.properties.get(slot)
            if isinstance(value, Component):
                yield slot, value
            elif isinstance(value, Each):
                yield "item", value.item
            elif isinstance(value, list):
                yield from (
                    (str(at), item.child if isinstance(item, Tab) else item) for at, item in enumerate(value)
                )

    def row(self, own_id: str, ids: IdOf, default: Catalog | None) -> JsonObject:
        """The definition as 1.0 has it, on a surface whose catalog is ``default``."""
        name = self.kind.name
        row: JsonObject = {"id": own_id, "component": name}
        owner = owner_of(self.catalog, default, lambda catalog: catalog.components.get(name))
        if owner:
            row["@catalogId"] = owner
        for key, value in self.properties.items():
            wire = f"@{key}" if key in NAMES else key
            row[wire] = _written(value, ids, default)
            if isinstance(value, Call) and self.kind.kinds.get(key) is actions.action:
                row[wire] = {"functionCall": row[wire]}
        if self.extensions is not None:
            row["@metadata"] = {"extensions": dict(self.extensions)}
        return row

    def texts(self) -> Iterator[str]:
        """The texts of ``formatString`` in it."""
        for item in calls_of([_spread(value) for value in self.properties.values()]):
            value = item.args.get("value")
            if item.name == "formatString" and isinstance(value, str):
                yield value

    def _check(self) -> None:
        kind = self.kind
        if not isinstance(self.id, str):
            raise self._wrong("id", "The id of a component is text.")
        for key in sorted(kind.required - self.properties.keys()):
            raise self._wrong(key, f"It needs {key}.")
        for slot in kind.slots:
            self._check_slot(slot, self.properties.get(slot))
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

    def _check_slot(self, slot: str, value: Any) -> None:
        for item in value if isinstance(value, list) else [] if value is None else [value]:
            child = item.item if isinstance(item, Each) else item.child if isinstance(item, Tab) else item
            if not isinstance(child, Component):
                raise self._wrong(slot, f"{slot} takes components; got {type(child).__name__}.")
            if isinstance(child, Reference):
                continue
            if not may_stand_in(child.kind, self.kind):
                raise self._wrong(slot, f"{child.kind.name} may not stand in it.")

    def _wrong(self, key: str, message: str) -> ComposeError:
        return ComposeError(message, component=self.kind.name, property=key)


class Reference(Component):
    """A component that is there already, or comes with another message, by its id."""

    def __new__(cls, component_id: str) -> Self:
        self = object.__new__(cls)
        self.id = component_id
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


def check_texts(found: Component, catalog: Catalog) -> None:
    """Raises ComposeError for a text that calls a function which the catalog of its surface does not have."""
    for text in found.texts():
        for name, _ in calls_in(text):
            if name[:1] != "@" and name not in catalog.functions:
                raise ComposeError(
                    f"There is no function {name!r} in {catalog.id}.", component="formatString"
                )


def _bound(kind: type[Component], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> JsonObject:
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
