"""The components of our own catalog: a class for each, as for those of the Basic Catalog.

A surface that names no catalog may use them too: each of them then names ours. ``lowered_to_basic`` gives the same for
readers who do not know it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias, Unpack

from a2ui.catalog.beach import BEACH_CATALOG_1_0
from a2ui.compose.basic import Checks
from a2ui.compose.component import Common, Component, bound_arguments
from a2ui.compose.fallback import lowered_to_basic
from a2ui.compose.parts import Event
from a2ui.compose.values import Data, Path, String

__all__ = ["Chart", "Form", "Markdown", "Table", "column", "field", "lowered_to_basic", "series"]

Items: TypeAlias = "Path | Sequence[Data] | Any"
"""A list in the data model, from a call, or as it is."""


class _Own(Component):
    """What they have in common."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Raises ComposeError for whatever the type does not take."""
        kind = BEACH_CATALOG_1_0.components[cls.__name__]
        return cls._made(kind, BEACH_CATALOG_1_0, bound_arguments(cls, args, kwargs))


class Markdown(_Own):
    """A long text."""

    def __init__(self, text: String, **common: Unpack[Common]) -> None: ...


class Table(_Own):
    """A row for each item of ``rows``; see ``column``."""

    def __init__(
        self,
        rows: Items,
        columns: Sequence[Mapping[str, Any]],
        *,
        caption: String | None = None,
        empty: String | None = None,
        **common: Unpack[Common],
    ) -> None: ...


class Form(_Own):
    """Fields (see ``field``) whose values are in the object at ``value``, and sent with ``action`` as ``values``."""

    def __init__(
        self,
        fields: Sequence[Mapping[str, Any]],
        value: Path,
        action: Event,
        *,
        title: String | None = None,
        submitLabel: String | None = None,
        checks: Checks | None = None,
        **common: Unpack[Common],
    ) -> None: ...


class Chart(_Own):
    """A point for each item of ``data``, called ``label``, with a value for each of ``series`` (see ``series``)."""

    def __init__(
        self,
        type: Literal["bar", "line", "area", "sparkline"],
        data: Items,
        label: Data,
        series: Sequence[Mapping[str, Any]],
        *,
        title: String | None = None,
        currency: str | None = None,
        decimals: int | None = None,
        **common: Unpack[Common],
    ) -> None: ...


def column(label: String, value: Data, type: str = "text", **more: Any) -> dict[str, Any]:
    """A column of a table: ``column("Price", path("price"), "currency", currency="EUR", sortable=True)``."""
    return {"label": label, "value": value, "type": type, **more}


def field(id: str, label: String, type: str = "text", **more: Any) -> dict[str, Any]:
    """A field of a form: ``field("mail", "E-mail", "email", required=True)``."""
    return {"id": id, "label": label, "type": type, **more}


def series(label: String, value: Data) -> dict[str, Any]:
    """A series of a chart."""
    return {"label": label, "value": value}
