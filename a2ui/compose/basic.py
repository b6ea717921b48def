"""The components of the Basic Catalog 1.0: a class for each, whose signature has its properties by their own names.

``tests/a2ui/compose/test_parity.py`` holds each against what the catalog says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, Unpack

from a2ui.compose.component import Common, Component
from a2ui.compose.parts import CheckRule, Each, Event, Option, SvgPath, Tab
from a2ui.compose.values import Boolean, Call, Number, Path, String, Strings

Checks: TypeAlias = Sequence[CheckRule]
Justify: TypeAlias = Literal[
    "start", "center", "end", "spaceBetween", "spaceAround", "spaceEvenly", "stretch"
]
Align: TypeAlias = Literal["start", "center", "end", "stretch"]
IconName: TypeAlias = Literal[
    "accountCircle", "add", "arrowBack", "arrowForward", "attachFile", "calendarToday", "call", "camera", "check",
    "close", "delete", "download", "edit", "event", "error", "fastForward", "favorite", "favoriteOff", "folder", "help",
    "home", "info", "locationOn", "lock", "lockOpen", "mail", "menu", "moreVert", "moreHoriz", "notificationsOff",
    "notifications", "pause", "payment", "person", "phone", "photo", "play", "print", "refresh", "rewind", "search",
    "send", "settings", "share", "shoppingCart", "skipNext", "skipPrevious", "star", "starHalf", "starOff", "stop",
    "upload", "visibility", "visibilityOff", "volumeDown", "volumeMute", "volumeOff", "volumeUp", "warning",
]  # fmt: skip


# ---- to read


class Text(Component):
    """Markdown; headings are Markdown too: ``#### Flights``. See ``plain`` for text that is not."""

    def __init__(
        self, text: String, *, variant: Literal["caption", "body"] | None = None, **common: Unpack[Common]
    ) -> None: ...


class Image(Component):
    """A picture, from the hosts that the settings name."""

    def __init__(
        self,
        url: String,
        *,
        description: String | None = None,
        fit: Literal["contain", "cover", "fill", "none", "scaleDown"] | None = None,
        variant: Literal["icon", "avatar", "smallFeature", "mediumFeature", "largeFeature", "header"]
        | None = None,
        **common: Unpack[Common],
    ) -> None: ...


class Icon(Component):
    """A drawing by name, or by the ``d`` of its path in a view box of 24 by 24: ``Icon(svg(...))``."""

    def __init__(self, name: IconName | Path | SvgPath, **common: Unpack[Common]) -> None: ...


class Video(Component):
    """A film; ``posterUrl`` is a picture before it is played."""

    def __init__(self, url: String, *, posterUrl: String | None = None, **common: Unpack[Common]) -> None: ...


class AudioPlayer(Component):
    """Something to hear."""

    def __init__(
        self, url: String, *, description: String | None = None, **common: Unpack[Common]
    ) -> None: ...


class Divider(Component):
    """A line."""

    def __init__(
        self, *, axis: Literal["horizontal", "vertical"] | None = None, **common: Unpack[Common]
    ) -> None: ...


# ---- what holds others


class Row(Component):
    """Children beside each other, or one of them for each item of a list (``each``)."""

    def __init__(
        self,
        *children: Component | Each,
        justify: Justify | None = None,
        align: Align | None = None,
        **common: Unpack[Common],
    ) -> None: ...


class Column(Component):
    """Children below each other, or one of them for each item of a list (``each``)."""

    def __init__(
        self,
        *children: Component | Each,
        justify: Justify | None = None,
        align: Align | None = None,
        **common: Unpack[Common],
    ) -> None: ...


class List(Component):
    """As a Column, and it scrolls."""

    def __init__(
        self,
        *children: Component | Each,
        direction: Literal["vertical", "horizontal"] | None = None,
        align: Align | None = None,
        **common: Unpack[Common],
    ) -> None: ...


class Card(Component):
    """A frame round one component."""

    def __init__(self, child: Component, **common: Unpack[Common]) -> None: ...


class Tabs(Component):
    """Panels of which one is shown."""

    def __init__(self, *tabs: Tab, **common: Unpack[Common]) -> None: ...


class Modal(Component):
    """A dialog, and what opens it."""

    def __init__(self, trigger: Component, content: Component, **common: Unpack[Common]) -> None: ...


# ---- what people use


class Button(Component):
    """``action`` is an event, or a function such as ``openUrl``; held back while a check fails."""

    def __init__(
        self,
        child: Component,
        action: Event | Call,
        *,
        variant: Literal["default", "primary", "borderless"] | None = None,
        checks: Checks | None = None,
        **common: Unpack[Common],
    ) -> None: ...


class TextField(Component):
    """A line or a text to write."""

    def __init__(
        self,
        label: String,
        *,
        value: String | None = None,
        placeholder: String | None = None,
        variant: Literal["shortText", "longText", "number", "obscured"] | None = None,
        checks: Checks | None = None,
        **common: Unpack[Common],
    ) -> None: ...


class CheckBox(Component):
    """A box to tick."""

    def __init__(
        self, label: String, value: Boolean, *, checks: Checks | None = None, **common: Unpack[Common]
    ) -> None: ...


class ChoicePicker(Component):
    """One or several of ``options``; ``value`` is a list of their values, also of one."""

    def __init__(
        self,
        options: Sequence[Option],
        value: Strings,
        *,
        label: String | None = None,
        variant: Literal["multipleSelection", "mutuallyExclusive"] | None = None,
        displayStyle: Literal["checkbox", "chips"] | None = None,
        filterable: bool | None = None,
        checks: Checks | None = None,
        **common: Unpack[Common],
    ) -> None: ...


class Slider(Component):
    """A number between two ends; ``steps`` is into how many parts they are divided."""

    def __init__(
        self,
        value: Number,
        *,
        max: float,
        min: float | None = None,
        label: String | None = None,
        steps: int | None = None,
        checks: Checks | None = None,
        **common: Unpack[Common],
    ) -> None: ...


class DateTimeInput(Component):
    """A date, a time or both (ISO 8601)."""

    def __init__(
        self,
        value: String,
        *,
        enableDate: bool | None = None,
        enableTime: bool | None = None,
        min: String | None = None,
        max: String | None = None,
        label: String | None = None,
        checks: Checks | None = None,
        **common: Unpack[Common],
    ) -> None: ...
