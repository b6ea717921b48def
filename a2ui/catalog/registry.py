"""Component types and catalogs: registering one is all it takes to add one (design section 4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from a2ui.binding.direct import Unusual
from a2ui.catalog.kinds import ANY_TEXT, USUAL, Kind, Tab, Template, Where, accessibility, literal_number
from a2ui.errors import A2uiError
from a2ui.functions.registry import FunctionRegistry
from a2ui.protocol.catalog_ids import is_mixed, loose, qualified, unmixed
from a2ui.state.pointer import ABSENT

if TYPE_CHECKING:
    from a2ui.catalog.schema.shapes import Shape
    from a2ui.rendering.build import Build
    from a2ui.rendering.pen import Pen
    from a2ui.rendering.place import Around
    from a2ui.state.components import Component

BUILT_IN = ("formatString", "openUrl")
"""Functions that the engine itself carries out; they have no other name in mixed catalogs."""

_ENVELOPE = frozenset({"id", "component"})

_PLANS = 256
"""Orders of members that are remembered for each type; agents decide how many there are."""

COMMON: Mapping[str, Kind] = {"accessibility": accessibility, "weight": literal_number}


class ComponentType(ABC):
    """What one component is: its properties and how an instance of it becomes HTML.

    Subclasses set `name`, `properties` (name to kind), `required` and, where they hold others, `slots`: the
    properties with ids of components, in page order. `input_kind` is the `data-in` of an input, else "".
    """

    name: ClassVar[str]
    properties: ClassVar[Mapping[str, Kind]]
    required: ClassVar[frozenset[str]] = frozenset()
    shapes: ClassVar[Mapping[str, Shape]] = {}
    """What strict mode asks of properties whose kind does not say it all; see `catalog.schema`."""
    slots: ClassVar[tuple[str, ...]] = ()
    input_kind: ClassVar[str] = ""
    interactive: ClassVar[bool] = False
    """Whether it takes clicks or keys of its own, so that it cannot stand inside a button."""

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {**COMMON, **self.properties}
        definers = [
            next(n for n, c in enumerate(type(self).__mro__) if name in vars(c)) for name in ("draw", "build")
        ]
        self._plans: dict[tuple[str, ...], tuple[tuple[str, Kind, Collection[str]], ...]] = {}
        """By the members of a definition, where all of them are known and none is missing: what to accept."""
        self.draws = definers[0] <= definers[1]
        """Whether `draw` fits: a subclass that builds in its own way has to draw in its own way too."""

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """All properties, those that every component has included."""
        return self._kinds

    def accept(self, raw: dict[str, Any], where: Where) -> dict[str, Any]:
        """The usable properties of a definition; everything else is reported (rulebook 5.1).

        `id` and `component` may be among them: a definition that is usable as it is is not copied.
        """
        plan = self._plans.get(tuple(raw))
        if plan is None:
            return self._accept_checked(raw, where)
        props = raw
        for key, kind, usual in plan:
            value = raw[key]
            if type(value) is str and (usual is ANY_TEXT or value in usual):
                continue
            where.key = key
            accepted = kind(value, where) if value is not None else ABSENT
            if accepted is value:
                continue
            if props is raw:
                props = raw.copy()
            if accepted is ABSENT:
                del props[key]
            else:
                props[key] = accepted
        return props

    def _accept_checked(self, raw: Mapping[str, Any], where: Where) -> dict[str, Any]:
        """Also says what is not known and what is missing; remembers that both is nothing."""
        kinds = self._kinds
        props: dict[str, Any] = {}
        plan: list[tuple[str, Kind, Collection[str]]] = []
        for key, value in raw.items():
            kind = kinds.get(key)
            where.key = key
            if kind is None:
                if key not in _ENVELOPE:
                    where.add(f"{self.name} has no property {key[:40]!r}.")
                continue
            plan.append((key, kind, USUAL.get(kind, ())))
            if value is not None:
                accepted = kind(value, where)
                if accepted is not ABSENT:
                    props[key] = accepted
        missing = self.required - raw.keys()
        for key in sorted(missing):
            where.key = key
            where.add(f"{self.name} needs {key}.")
        known = len(plan) + len(raw.keys() & _ENVELOPE) == len(raw)
        if known and not missing and len(self._plans) < _PLANS:
            self._plans[tuple(raw)] = tuple(plan)
        return props

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

    @abstractmethod
    def build(self, build: Build) -> None:
        """Compiles one place of the component: sets how it renders, registers what it reads."""

    def draw(self, pen: Pen, component: Component, around: Around) -> str:
        """The same HTML as the compiled place, made at once; raises Unusual where only a place can show it, an
        interactive type also wherever `around.inline`: inside of a button it is not shown. Optional: worth it for what
        is shown often and seldom changes."""
        raise Unusual


class Catalog:
    """Component types and functions under an id and its aliases."""

    def __init__(
        self,
        catalog_id: str,
        components: Iterable[ComponentType],
        functions: FunctionRegistry,
        *,
        aliases: Iterable[str] = (),
    ) -> None:
        self.id = catalog_id
        self.components: Mapping[str, ComponentType] = {component.name: component for component in components}
        self.functions = functions
        self.aliases = tuple(aliases)

    def extended(
        self,
        catalog_id: str,
        *,
        components: Iterable[ComponentType] = (),
        functions: FunctionRegistry | None = None,
        aliases: Iterable[str] = (),
    ) -> Catalog:
        """A catalog with everything of this one and more; what has the same name replaces."""
        return Catalog(
            catalog_id,
            [*{**self.components, **{c.name: c for c in components}}.values()],
            functions or self.functions,
            aliases=aliases,
        )


class Catalogs:
    """The catalogs that a renderer offers, found by id, then by alias without scheme and case."""

    def __init__(self, catalogs: Iterable[Catalog]) -> None:
        self._exact: dict[str, Catalog] = {}
        self._with_others: dict[str, Catalog] = {}
        self._loose: dict[str, Catalog] = {}
        self.ids: tuple[str, ...] = ()
        """What to announce (14.3): each catalog's own id, then the aliases."""
        listed = list(catalogs)
        for catalog in listed:
            for name in (catalog.id, *catalog.aliases):
                if self._exact.setdefault(name, catalog) is not catalog:
                    raise A2uiError(
                        f"Two catalogs claim {name!r}.", code="CATALOG_CLASH", fault="configuration"
                    )
                self._loose.setdefault(loose(name), catalog)
        self.ids = (*(c.id for c in listed), *(alias for c in listed for alias in c.aliases))

    def find(self, catalog_id: str) -> Catalog | None:
        """The catalog of that id or alias; see `catalog_ids.mixed` for what mixed ones are."""
        if is_mixed(catalog_id):
            return self._mixed(unmixed(catalog_id))
        return self._exact.get(catalog_id) or self._loose.get(loose(catalog_id))

    def _mixed(self, default_id: str) -> Catalog | None:
        """Made when it is first asked for: few surfaces mix catalogs."""
        default = self.find(default_id) if default_id else None
        if default is None and default_id:
            return None
        name = default.id if default else ""
        known = self._with_others.get(name)
        if known is None:
            known = self._with_others[name] = self._mix(default)
        return known

    def _mix(self, default: Catalog | None) -> Catalog:
        everything = dict.fromkeys(self._exact.values())
        components = dict(default.components) if default else {}
        functions = {function.name: function for function in default.functions} if default else {}
        for catalog in everything:
            components |= {qualified(catalog.id, name): kind for name, kind in catalog.components.items()}
            functions |= {qualified(catalog.id, function.name): function for function in catalog.functions}
        for name in BUILT_IN:
            found = next((c.functions.get(name) for c in everything if name in c.functions), None)
            if found is not None:
                functions.setdefault(name, found)
        mixed = Catalog(default.id if default else "", (), FunctionRegistry.named(functions))
        mixed.components = components
        return mixed
