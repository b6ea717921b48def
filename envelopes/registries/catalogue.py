"""All registries, and how applications fill them: each has a module ``beach.py``, as it has an ``admin.py``."""

from __future__ import annotations

from typing import Any, TypeVar

from django.utils.module_loading import autodiscover_modules

from envelopes.registries.actors import actors
from envelopes.registries.base import Registry
from envelopes.registries.catalogs import catalogs
from envelopes.registries.doors import doors
from envelopes.registries.part_types import part_types
from envelopes.registries.state_machines import state_machines
from envelopes.registries.surface_templates import surface_templates
from envelopes.registries.tools import tools
from envelopes.registries.transports import transports
from envelopes.registries.turn_states import turn_states

REGISTRIES: list[Registry[Any]] = [
    part_types,
    surface_templates,
    turn_states,
    state_machines,
    transports,
    catalogs,
    tools,
    actors,
    doors,
]
"""In the order in which they are told of. Transports add their own (``with_registry``)."""

R = TypeVar("R", bound=Registry[Any])

MODULE = "beach"
"""What an application calls the module in which it registers."""


def with_registry(registry: R) -> R:
    """``registry``, which is shown and closed with those here."""
    REGISTRIES.append(registry)
    return registry


def fill() -> None:
    """Import the module ``beach`` of each installed application that has one, and close the registries.

    Raises what such a module raises: ``RegistrationError`` where two applications mean different things by one name.
    """
    autodiscover_modules(MODULE)
    for registry in REGISTRIES:
        registry.close()
