"""All registries, and how applications fill them: each has a module ``beach.py``, as it has an ``admin.py``."""

from __future__ import annotations

from typing import Any

from django.utils.module_loading import autodiscover_modules

from envelopes.registries.actors import actors
from envelopes.registries.base import Registry
from envelopes.registries.doors import doors
from envelopes.registries.part_types import part_types
from envelopes.registries.state_machines import state_machines
from envelopes.registries.surface_templates import surface_templates
from envelopes.registries.transports import transports
from envelopes.registries.turn_states import turn_states

REGISTRIES: tuple[Registry[Any], ...] = (
    part_types,
    surface_templates,
    turn_states,
    state_machines,
    transports,
    actors,
    doors,
)

MODULE = "beach"
"""What an application calls the module in which it registers."""


def fill() -> None:
    """Import the module ``beach`` of each installed application that has one, and close the registries.

    Raises what such a module raises: ``RegistrationError`` where two applications mean different things by one name.
    """
    autodiscover_modules(MODULE)
    for registry in REGISTRIES:
        registry.close()
