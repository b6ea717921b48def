"""What components are made of beside values: events, checks, tabs, options, names for screen readers, templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from a2ui.compose.errors import ComposeError
from a2ui.compose.values import Boolean, Data, Dynamic, Path, String

if TYPE_CHECKING:
    from a2ui.compose.component import Component


@dataclass(frozen=True, slots=True)
class Event:
    """What a click sends to the agent: a name, and a context that is read when somebody clicks (9, "Actions").
    ``userMessage``: what the person is said to have said."""

    name: str
    context: Mapping[str, Data] | None = None
    userMessage: String | None = None


@dataclass(frozen=True, slots=True)
class CheckRule:
    """``condition`` is true, or ``message`` is shown and a button is held back (6)."""

    condition: Dynamic
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Tab:
    """One panel and what it is called."""

    title: String
    child: Component


@dataclass(frozen=True, slots=True)
class Option:
    """One choice; ``value`` is what goes into the data model."""

    label: String
    value: str


@dataclass(frozen=True, slots=True)
class Accessibility:
    """What screen readers are told (7): a name, more words, how a change is announced, and whether to leave it out."""

    label: String | None = None
    description: String | None = None
    live: Literal["off", "polite", "assertive"] | None = None
    hidden: Boolean | None = None


@dataclass(frozen=True, slots=True)
class Each:
    """One ``item`` for every element of the list at a path: the only child of a Row, Column or List."""

    pointer: str
    item: Component

    def __post_init__(self) -> None:
        Path(self.pointer)


@dataclass(frozen=True, slots=True)
class SvgPath:
    """The ``d`` of a drawing in a view box of 24 by 24."""

    svgPath: String


def svg(d: String) -> SvgPath:
    """The ``name`` of an icon that the catalog does not have."""
    return SvgPath(d)


def event(name: str, /, *, userMessage: String | None = None, **context: Data) -> Event:
    """The ``action`` of a button: ``event("choose", row=path("row"))``. A context whose keys are no names of Python's
    goes into ``Event``."""
    return Event(name, context or None, userMessage)


def check(condition: Dynamic, message: str | None = None) -> CheckRule:
    """A check of an input or a button."""
    return CheckRule(condition, message)


def tab(title: String, child: Component) -> Tab:
    """One of ``Tabs``."""
    return Tab(title, child)


def option(label: String, value: str) -> Option:
    """One of a ``ChoicePicker``."""
    return Option(label, value)


def labelled(label: String) -> Accessibility:
    """``accessibility`` that is a name and nothing else."""
    return Accessibility(label)


def each(pointer: str, item: Component) -> Each:
    """A template: ``Column(each("/flights", Text(path("title"))))``. Paths without a slash begin at the item."""
    return Each(pointer, item)


def members(part: object) -> dict[str, object]:
    """The members of a part that are given, by their names on the wire."""
    fields = getattr(part, "__dataclass_fields__", None)
    if fields is None:
        raise ComposeError(f"{part!r} is no part of a component.")
    return {name: value for name in fields if (value := getattr(part, name)) is not None}
