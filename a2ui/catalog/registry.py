"""Catalogs: component types and functions under an id, and how a surface finds its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from a2ui.catalog import defining
from a2ui.catalog.component_type import ComponentType
from a2ui.errors import A2uiError, DefinitionError
from a2ui.functions.registry import Function, FunctionRegistry
from a2ui.protocol.catalog_ids import loose
from a2ui.schema.dynamic import Signature


class Catalog:
    """Component types and functions under an id and its aliases.

    `protocol` is the version of the protocol that it is made for, "0.9" or "1.0"; None where it serves both.
    `document` is what an inline catalog came as (see `catalog.inline`). Raises ``DefinitionError`` for what is no
    component, and for two of one name.
    """

    def __init__(
        self,
        catalog_id: str,
        components: Iterable[ComponentType],
        functions: FunctionRegistry,
        *,
        aliases: Iterable[str] = (),
        protocol: str | None = None,
        document: Mapping[str, Any] | None = None,
    ) -> None:
        if document is None:
            # An inline one has rules of its own.
            components = defining.listed(components)
        if not isinstance(functions, FunctionRegistry):
            raise DefinitionError(
                f"The functions of a catalog are a FunctionRegistry, not {functions!r:.60}."
            )
        if protocol not in (None, "0.9", "1.0"):
            raise DefinitionError(
                f'A catalog is made for "0.9", "1.0" or both (None), not for {protocol!r:.40}.'
            )
        self.id = catalog_id
        self.components: Mapping[str, ComponentType] = {component.name: component for component in components}
        self.functions = functions
        self.aliases = tuple(aliases)
        self.protocol = protocol
        self.document = document

    def extended(
        self,
        catalog_id: str,
        *,
        components: Iterable[ComponentType] = (),
        functions: FunctionRegistry | None = None,
        aliases: Iterable[str] = (),
        protocol: str | None = None,
    ) -> Catalog:
        """A catalog with everything of this one and more. It serves the same version of the protocol unless another is
        given.

        A component replaces one of its name from which it derives. Raises ``DefinitionError`` for any other of a name
        that is taken, and for what is no component.
        """
        own = defining.listed(components)
        defining.check_shadowing(own, self.components)
        return Catalog(
            catalog_id,
            [*{**self.components, **{one.name: one for one in own}}.values()],
            functions or self.functions,
            aliases=aliases,
            protocol=protocol or self.protocol,
        )


class Catalogs:
    """The catalogs that a renderer offers, found by id, then by alias without scheme and case."""

    def __init__(self, catalogs: Iterable[Catalog]) -> None:
        self._exact: dict[str, Catalog] = {}
        self._loose: dict[str, Catalog] = {}
        listed = list(catalogs)
        for catalog in listed:
            for name in (catalog.id, *catalog.aliases):
                if self._exact.setdefault(name, catalog) is not catalog:
                    raise A2uiError(
                        f"Two catalogs claim {name!r}.", code="CATALOG_CLASH", fault="configuration"
                    )
                self._loose.setdefault(loose(name), catalog)
        self._listed = tuple(listed)
        self.restricts = any(
            kind.allowed_parents is not None or kind.allowed_children is not None
            for catalog in listed
            for kind in catalog.components.values()
        )
        """Whether a component type of any of them says what it may stand in, or hold."""
        self.ours = all(kind.ours for catalog in listed for kind in catalog.components.values())
        """Whether all components are of this package, and none of an application's code."""
        self.asks_agents = any(function.remote for catalog in listed for function in catalog.functions)
        """Whether an interface can call functions that agents run."""

    def ids(self, protocol: str, *, aliases: bool = True) -> tuple[str, ...]:
        """What to announce for "0.9" or "1.0" (14.3): each catalog's own id, those made for this version first, then
        the ``aliases``, which matter to who compares ids. What is made for 1.0 is not offered to older agents; they may
        use none of it."""
        offered = sorted(
            [
                one
                for one in self._listed
                if one.document is None and (protocol == "1.0" or one.protocol != "1.0")
            ],
            key=lambda one: one.protocol != protocol,
        )
        others = (alias for one in offered for alias in one.aliases) if aliases else ()
        return (*(one.id for one in offered), *others)

    def __iter__(self) -> Iterator[Catalog]:
        return iter(self._listed)

    def inline(self) -> list[Mapping[str, Any]]:
        """The documents of inline catalogs for 1.0, which are announced whole."""
        return [one.document for one in self._listed if one.document is not None and one.protocol == "1.0"]

    def find(self, catalog_id: str) -> Catalog | None:
        """The catalog of that id or alias."""
        return self._exact.get(catalog_id) or self._loose.get(loose(catalog_id))


NO_CATALOG = Catalog("", (), FunctionRegistry())
"""The default of a surface that has none: every component and call of it names its own."""


class Vocabulary:
    """What the components and calls of one surface may name: its default catalog, and others by their ids.

    A component or call that names no catalog has that of the surface, also inside of one that does; there is no other
    fallback. Catalogs of one surface are made for the same version of the protocol.
    """

    __slots__ = ("_catalogs", "default")

    def __init__(self, default: Catalog, catalogs: Catalogs) -> None:
        self.default = default
        self._catalogs = catalogs

    def catalog(self, catalog_id: object) -> Catalog | None:
        """The catalog of an id, the default for ""; None for what is no id of one that can be used here."""
        if catalog_id == "":
            return self.default
        found = self._catalogs.find(catalog_id) if isinstance(catalog_id, str) else None
        if found is None or None in (found.protocol, self.default.protocol):
            return found
        return found if found.protocol == self.default.protocol else None

    @property
    def restricts(self) -> bool:
        """Whether some types may stand in some places only."""
        return self._catalogs.restricts

    @property
    def ours(self) -> bool:
        """Whether no component can be of an application's code."""
        return self._catalogs.ours

    @property
    def asks_agents(self) -> bool:
        """Whether there are functions that agents run."""
        return self._catalogs.asks_agents

    def component(self, name: str, catalog_id: object) -> ComponentType | None:
        """The type of a component that names a catalog, or "" for none."""
        catalog = self.catalog(catalog_id)
        return catalog.components.get(name) if catalog is not None else None

    def function(self, name: str, catalog_id: str) -> Function | None:
        """The function of a call that names a catalog, or "" for none."""
        catalog = self.catalog(catalog_id)
        return catalog.functions.get(name) if catalog is not None else None

    def signature(self, name: str, catalog_id: str) -> Signature | None:
        """What a function takes, None where that is not known."""
        function = self.function(name, catalog_id) if catalog_id else self.default.functions.get(name)
        return function.signature if function is not None else None
