"""System checks of what draws parts in the panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core import checks

from envelopes.registries.part_types import part_types
from envelopes.transports.panel.presenter.drawers import drawings


@checks.register()
def drawn_once(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """A part type has one drawing: its own template or module, or what was registered here."""
    return [
        checks.Error(
            f"The part type {kind.name!r} ({part_types.place(kind.name)}) brings a template or a module, and a drawer "
            f"is registered for it ({drawings.place(kind.name)}).",
            hint="Take one of them away: it would never be used.",
            id="envelopes.E010",
        )
        for kind in part_types
        if kind.name in drawings and (kind.template or kind.module)
    ]


@checks.register()
def drawn_types(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """A drawer for a type that there is not: most likely its name is written wrong."""
    return [
        checks.Warning(
            f"A drawer is registered for the part type {drawing.name!r} ({drawings.place(drawing.name)}), which nobody "
            "registers.",
            id="envelopes.W003",
        )
        for drawing in drawings
        if drawing.name not in part_types
    ]
