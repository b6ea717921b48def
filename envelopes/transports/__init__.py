"""Transports: a folder for each way by which a conversation reaches somebody. What one has for
applications its ``__init__`` names; nobody imports from inside of it, and nothing below imports it at all."""

from __future__ import annotations

import pkgutil
from importlib import import_module


def discover(package: str = __name__) -> None:
    """Import ``<package>.<folder>.transport`` for each folder of ``package``; that module registers the transport.

    Raises ``ModuleNotFoundError`` for a folder without one: it would be served by nobody, and nobody would know.
    """
    for found in pkgutil.iter_modules(import_module(package).__path__):
        if found.ispkg:
            import_module(f"{package}.{found.name}.transport")
