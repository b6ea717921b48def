"""Surfaces in Python: components inside of components, checked where they are written (docs/surfaces.md).

``Surface(id, root, data).create()`` gives messages of A2UI 1.0. What is wrong with a component raises ``ComposeError``
from the line that makes it. The functions of the Basic Catalog are those of ``fn``.
"""

from a2ui.compose import functions as fn
from a2ui.compose.basic import (
    AudioPlayer,
    Button,
    Card,
    CheckBox,
    ChoicePicker,
    Column,
    DateTimeInput,
    Divider,
    Icon,
    Image,
    List,
    Modal,
    Row,
    Slider,
    Tabs,
    Text,
    TextField,
    Video,
)
from a2ui.compose.changing import changes
from a2ui.compose.component import Common, Component, own, ref
from a2ui.compose.defaults import Defaults, defaults_of, with_defaults
from a2ui.compose.errors import ComposeError
from a2ui.compose.fallback import is_ours
from a2ui.compose.parts import (
    Accessibility,
    Event,
    check,
    each,
    event,
    labelled,
    option,
    svg,
    tab,
)
from a2ui.compose.restating import Restated, Restating, restated
from a2ui.compose.surface import (
    Surface,
    delete_surface,
    lowered,
    update_components,
    update_data,
)
from a2ui.compose.values import Call, Dynamic, Path, String, call, index, path, plain

__all__ = [
    "Accessibility",
    "AudioPlayer",
    "Button",
    "Call",
    "Card",
    "CheckBox",
    "ChoicePicker",
    "Column",
    "Common",
    "Component",
    "ComposeError",
    "DateTimeInput",
    "Defaults",
    "Divider",
    "Dynamic",
    "Event",
    "Icon",
    "Image",
    "List",
    "Modal",
    "Path",
    "Restated",
    "Restating",
    "Row",
    "Slider",
    "String",
    "Surface",
    "Tabs",
    "Text",
    "TextField",
    "Video",
    "call",
    "changes",
    "check",
    "defaults_of",
    "delete_surface",
    "each",
    "event",
    "fn",
    "index",
    "is_ours",
    "labelled",
    "lowered",
    "option",
    "own",
    "path",
    "plain",
    "ref",
    "restated",
    "svg",
    "tab",
    "update_components",
    "update_data",
    "with_defaults",
]
