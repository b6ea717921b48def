"""A view: one thing on the page with an id of its own, drawn from plain data that can be stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar, Self

from envelopes.delivery.panel.context import ThreadContext
from envelopes.delivery.panel.markup import SafeString
from envelopes.types import JsonObject

Draw = Callable[[str, str], str]
"""The HTML of a live surface, by owner and surface id."""


@dataclass(frozen=True)
class Brush:
    """What drawing needs besides the view itself."""

    context: ThreadContext
    draw: Draw


@dataclass
class View:
    """Fields hold JSON values only, so that ``dump`` and ``load`` are exact.

    ``id`` is the DOM id. It comes from the number of the row that made the view, so each process and each replay gives
    the same one.
    """

    kind: ClassVar[str] = ""
    kinds: ClassVar[dict[str, type[View]]] = {}

    id: str

    def __init_subclass__(cls) -> None:
        View.kinds[cls.kind] = cls

    def html(self, brush: Brush) -> SafeString:
        raise NotImplementedError

    def dump(self) -> JsonObject:
        return {"kind": self.kind, **{field.name: getattr(self, field.name) for field in fields(self)}}

    @classmethod
    def load(cls, data: JsonObject) -> Self:
        return cls(**{name: value for name, value in data.items() if name != "kind"})


def load(data: JsonObject) -> View:
    """The view that ``View.dump`` described."""
    return View.kinds[data["kind"]].load(data)
