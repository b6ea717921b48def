"""Catalogs of applications: components and functions that surfaces may use beside those of the Basic Catalog.

A function of one may be run by the agent (``a2ui.functions.registry.agent_function``): a tool of the actor answers it
(``Tool.answers``), or the actor itself does. One whose ``callers`` say so may be called by agents.
"""

from __future__ import annotations

from a2ui.catalog.basic import BASIC_CATALOG, BASIC_CATALOG_1_0, MINIMAL_CATALOG
from a2ui.catalog.registry import Catalog

_STANDARD = (BASIC_CATALOG, MINIMAL_CATALOG, BASIC_CATALOG_1_0)
_own: list[Catalog] = []


def register(catalog: Catalog) -> Catalog:
    """Offer ``catalog`` in all sessions, from the next one that is opened on: register at start-up. Two that claim one
    id are told when the first session is opened (``A2uiError`` CATALOG_CLASH)."""
    _own.append(catalog)
    return catalog


def unregister(catalog: Catalog) -> None:
    """For tests."""
    _own.remove(catalog)


def offered() -> tuple[Catalog, ...]:
    """All catalogs, the standard's first."""
    return (*_STANDARD, *_own)
