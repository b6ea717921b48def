"""A2UI v0.9 and v0.9.1 on the server: accepts an agent's messages, binds data, renders HTML.

The package is pure: no Django, no input or output, no clock but the one it is given. Only `apps.py`,
`management/`, `templatetags/` and `gallery/` may import Django.
"""

from pkgutil import extend_path

# The official packages install `a2ui.core` and siblings; with this both can be imported side by side.
__path__ = extend_path(__path__, __name__)

from a2ui.engine import Engine, EngineOptions
from a2ui.errors import (
    A2uiError,
    ActionError,
    DataError,
    Diagnostic,
    ExpressionError,
    InputError,
    LimitError,
    PatchError,
    PointerError,
)
from a2ui.interaction.act import ClientAction, OpenUrl
from a2ui.interaction.edit import Edit
from a2ui.interaction.more import More
from a2ui.safety.limits import Limits
from a2ui.state.surface import Surface
from a2ui.surfaces import SurfaceChange, SurfaceSet

__all__ = [
    "A2uiError",
    "ActionError",
    "ClientAction",
    "DataError",
    "Diagnostic",
    "Edit",
    "Engine",
    "EngineOptions",
    "ExpressionError",
    "InputError",
    "LimitError",
    "Limits",
    "More",
    "OpenUrl",
    "PatchError",
    "PointerError",
    "Surface",
    "SurfaceChange",
    "SurfaceSet",
]
