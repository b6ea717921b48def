"""A2UI on the server: takes an agent's messages, binds data, and makes HTML and the fragments that keep it up to date.

It speaks 1.0, its candidates, v0.9.1 and v0.9, and translates v0.8. Everything a host needs is named here. The engine
is pure: no Django, no input or output, no clock but the one it is given; only `apps.py`, `management/` and `gallery/`
import Django. Which folder may import which is a table in docs/architecture.md, kept by tests/a2ui/test_layers.py.
"""

from pkgutil import extend_path

# The official packages install `a2ui.core` and siblings; with this both can be imported side by side.
__path__ = extend_path(__path__, __name__)

from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.beach import BEACH_CATALOG, BEACH_CATALOG_1_0
from a2ui.catalog.beach.document import DOCUMENTS as CATALOG_DOCUMENTS
from a2ui.catalog.beach.document import document as catalog_document
from a2ui.catalog.registry import Catalog
from a2ui.data.patch import apply_patch, patch_pointer
from a2ui.engine import Engine
from a2ui.errors import (
    A2uiError,
    ActionError,
    DataError,
    DefinitionError,
    Diagnostic,
    ExpressionError,
    InputError,
    LimitError,
    PatchError,
    PointerError,
)
from a2ui.interaction.act import ClientAction, OpenUrl
from a2ui.interaction.edit import Edit
from a2ui.interaction.locate import ComponentTarget, Target
from a2ui.interaction.more import More
from a2ui.journal import Attempt
from a2ui.options import EngineOptions
from a2ui.protocol.answers import joined_data_models
from a2ui.protocol.media_types import MEDIA_TYPE, is_media_type
from a2ui.safety.limits import Limits
from a2ui.surface.change import SurfaceChange
from a2ui.surface.due import CallsDue
from a2ui.surface.faults import faults, is_lost, unfinished
from a2ui.surface.surface import Surface
from a2ui.surfaces import SurfaceSet
from a2ui.teaching.catalogs import for_prompt
from a2ui.teaching.whole import Taught, taught

__all__ = [
    "BASIC_CATALOG_1_0",
    "BEACH_CATALOG",
    "BEACH_CATALOG_1_0",
    "CATALOG_DOCUMENTS",
    "MEDIA_TYPE",
    "A2uiError",
    "ActionError",
    "Attempt",
    "CallsDue",
    "Catalog",
    "ClientAction",
    "ComponentTarget",
    "DataError",
    "DefinitionError",
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
    "Target",
    "Taught",
    "apply_patch",
    "catalog_document",
    "faults",
    "for_prompt",
    "is_lost",
    "is_media_type",
    "joined_data_models",
    "patch_pointer",
    "taught",
    "unfinished",
]
