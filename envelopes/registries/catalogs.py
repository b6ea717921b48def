"""Catalogs of applications: components and functions that surfaces may use beside those of the standard's.

A function of one may be run by the agent (``a2ui.functions.registry.agent_function``): a tool of the actor answers it
(``Tool.answers``), or the actor itself does. One whose ``callers`` say so may be called by agents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from a2ui import Catalog
from envelopes.registries.base import Registry


@dataclass(frozen=True)
class Own:
    """A catalog by its id."""

    name: str
    catalog: Catalog


class CatalogRegistry(Registry[Own]):
    """Catalogs by id, which is an address or any other name without blanks."""

    _NAME = re.compile(r"[!-~]{1,512}")

    def register_catalog(self, catalog: Catalog) -> Catalog:
        """Offer ``catalog`` in all sessions."""
        self.register(Own(catalog.id, catalog))
        return catalog


catalogs = CatalogRegistry("catalog")
register = catalogs.register_catalog


def registered() -> tuple[Catalog, ...]:
    """All of them."""
    return tuple(own.catalog for own in catalogs)
