"""Catalogs of applications: components and functions that surfaces may use beside those of the standard's.

A function of one may be run by the agent (``a2ui.functions.registry.agent_function``): a tool of the actor answers it
(``Tool.answers``), or the actor itself does. One whose ``callers`` say so may be called by agents.
"""

from __future__ import annotations

from a2ui import Catalog

_own: list[Catalog] = []


def register(catalog: Catalog) -> Catalog:
    """Offer ``catalog`` in all sessions: at start-up. Two that claim one id are told of when the first session is
    opened (``A2uiError`` CATALOG_CLASH)."""
    _own.append(catalog)
    return catalog


def unregister(catalog: Catalog) -> None:
    """For tests."""
    _own.remove(catalog)


def registered() -> tuple[Catalog, ...]:
    """All of them."""
    return tuple(_own)
